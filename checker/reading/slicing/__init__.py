"""A student's function as a program of its own: what of a notebook it needs. No cell is run."""
