"""One file for each exercise: `EXERCISE`, with its reference in steps, its slips and how its arguments are drawn."""

import importlib
import pkgutil

from shared.exercises.catalogue import (
    accumulation,
    advantages,
    blocks,
    countdown,
    evaluation,
    first_word,
    flat,
    full_stops,
    gae,
    gradients,
    greedy_evaluation,
    grpo_step,
    hand_type,
    idle,
    irl,
    kl,
    leakage,
    logps,
    loss,
    reward,
    silent,
    soft_score,
    training_step,
    value_loss,
    weighted,
)
from shared.exercises.exercise import Exercise

__all__ = [
    "accumulation",
    "advantages",
    "blocks",
    "countdown",
    "evaluation",
    "first_word",
    "flat",
    "full_stops",
    "gae",
    "gradients",
    "greedy_evaluation",
    "grpo_step",
    "hand_type",
    "idle",
    "irl",
    "kl",
    "leakage",
    "logps",
    "loss",
    "reward",
    "silent",
    "soft_score",
    "training_step",
    "value_loss",
    "weighted",
]


def _exercises() -> dict[str, Exercise]:
    """Every exercise by the name of its file, those of packages as "irl.policy"."""
    found = {}
    for file in pkgutil.walk_packages(__path__, f"{__name__}."):
        module = importlib.import_module(file.name)
        if hasattr(module, "EXERCISE"):
            found[file.name.removeprefix(f"{__name__}.")] = module.EXERCISE
    return found


EXERCISES = _exercises()
