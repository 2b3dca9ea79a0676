"""The exercises of inverse reinforcement learning, on small worlds that `worlds.py` draws."""

from shared.exercises.catalogue.irl import causal, features, policy, shaping, starts, visits, walk_reward, weights

__all__ = ["causal", "features", "policy", "shaping", "starts", "visits", "walk_reward", "weights"]
