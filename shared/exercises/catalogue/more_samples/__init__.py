"""The exercises about what sampling again buys: a vote, the best of n, how far that moves, and what it costs."""
