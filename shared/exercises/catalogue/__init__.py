"""One file for each exercise: `EXERCISE`, with its reference in steps, its slips and how its arguments are drawn.

Exercises that share how they draw stand in a folder of their own, a package with an `__all__` like this one's.
"""

from types import ModuleType

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


def exercise_modules() -> dict[str, ModuleType]:
    """The module of each exercise by its place here: `kl`, `irl.policy`."""
    found = {}
    for name in __all__:
        module = globals()[name]
        if hasattr(module, "EXERCISE"):
            found[name] = module
        else:
            found |= {f"{name}.{inner}": getattr(module, inner) for inner in module.__all__}
    return found
