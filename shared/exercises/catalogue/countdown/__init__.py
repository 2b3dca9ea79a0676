"""The exercises of the countdown task: its two rewards, and the episodes that are scored with them."""

from shared.exercises.catalogue.countdown import correctness, episodes, in_format

__all__ = ["correctness", "episodes", "in_format"]
