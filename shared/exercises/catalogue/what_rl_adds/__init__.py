"""The exercises about what a run adds: pass@k, which samples are kept, and a reward for near misses."""

from shared.exercises.catalogue.what_rl_adds import kept, near_miss, pass_at_k

__all__ = ["kept", "near_miss", "pass_at_k"]
