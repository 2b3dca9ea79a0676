"""Right functions for the exercises of reasoning_format."""
