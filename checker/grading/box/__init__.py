"""A box: its walls, its limits, and the job that runs in it."""
