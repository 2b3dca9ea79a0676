"""The clipped GRPO loss: its steps, the slips of each of its ideas in a file of their own, and how it is tried."""

from shared.exercises.catalogue.dots.grpo_loss.exercise import EXERCISE

__all__ = ["EXERCISE"]
