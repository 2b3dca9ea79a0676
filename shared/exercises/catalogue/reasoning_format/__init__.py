"""The exercises about a format to think in: its reward and the loss with one ratio for a completion."""
