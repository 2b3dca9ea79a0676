"""The exercises of poker: the oracle, and what a reward pays for."""
