"""Right answers to the exercises about a game of several turns."""
