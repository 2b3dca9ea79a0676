"""The exercises about choices between completions: who wins, what is fitted to them, and how far a policy moved."""

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
