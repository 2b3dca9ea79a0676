"""One file for each exercise: `EXERCISE`, with its reference in steps, its slips and how its arguments are drawn.

Exercises that share how they draw stand in a folder of their own, a package with an `__all__` like this one's. So does an
exercise with so many slips that those of each idea have a file: its package has an `EXERCISE` like any other module.
"""

from types import ModuleType

from shared.exercises.catalogue import (
    accumulation,
    advantages,
    blocks,
    clustered,
    constant,
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
    off_policy,
    preferences,
    reward,
    silent,
    soft_score,
    training_step,
    transfer,
    value_loss,
    weighted,
    what_rl_adds,
)

__all__ = [
    "accumulation",
    "advantages",
    "blocks",
    "clustered",
    "constant",
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
    "off_policy",
    "preferences",
    "reward",
    "silent",
    "soft_score",
    "training_step",
    "transfer",
    "value_loss",
    "weighted",
    "what_rl_adds",
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
