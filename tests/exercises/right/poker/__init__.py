"""Right functions for the exercises of poker."""
