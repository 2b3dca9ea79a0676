"""The exercises about several updates on one rollout."""

from shared.exercises.catalogue.off_policy import sequence_ratio, surrogate, token_entropy, token_weights

__all__ = ["sequence_ratio", "surrogate", "token_entropy", "token_weights"]
