"""Right functions for the exercises of analogies."""
