"""Right functions for the exercises of ppo."""
