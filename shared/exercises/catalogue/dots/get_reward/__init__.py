"""The exact-match reward: the slips of each of its ideas in a file of their own, and how it is tried."""

from shared.exercises.catalogue.dots.get_reward.exercise import EXERCISE

__all__ = ["EXERCISE"]
