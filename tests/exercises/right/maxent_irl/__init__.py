"""Right functions of inverse reinforcement learning, a file for each exercise."""
