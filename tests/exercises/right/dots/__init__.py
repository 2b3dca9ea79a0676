"""Right functions for the exercises of dots."""
