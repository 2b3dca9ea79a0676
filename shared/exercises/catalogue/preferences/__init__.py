"""The exercises about preferences: a reward to hide, choices, a reward model's loss, DPO's, and the KL of a completion."""

from shared.exercises.catalogue.preferences import (
    bradley_terry,
    choices,
    completion_kl,
    dpo,
    sentence_length,
)

__all__ = [
    "bradley_terry",
    "choices",
    "completion_kl",
    "dpo",
    "sentence_length",
]
