"""One file for each exercise: `EXERCISE`, with its reference in steps, its slips and how its arguments are drawn."""

from shared.exercises.catalogue import (
    advantages,
    first_word,
    gae,
    grpo_step,
    hand_type,
    irl,
    kl,
    logps,
    loss,
    reward,
    value_loss,
)

__all__ = [
    "advantages",
    "first_word",
    "gae",
    "grpo_step",
    "hand_type",
    "irl",
    "kl",
    "logps",
    "loss",
    "reward",
    "value_loss",
]
