"""The exercises about choices between completions: who wins, what is fitted to them, and how far a policy moved."""
