"""Right answers to the exercises about what carries over."""
