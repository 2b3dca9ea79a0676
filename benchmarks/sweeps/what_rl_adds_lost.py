"""A control for what training loses, for `notebooks/what_rl_adds.ipynb`.

    nothing pushed down     "GRPO, 3e-4" of `what_rl_adds` with advantages below 0 set to 0

What is measured is what is solved, and what is left of what the base model knew.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from benchmarks.sweeps import what_rl_adds
from benchmarks.sweeps.measuring import rounded
from benchmarks.sweeps.what_rl_adds import by_grpo
from shared.engine.processes import ALL_ROWS, Share
from shared.experience import Experience
from shared.grpo import GRPO
from shared.models import frozen_copy


class PushingUpAlone(GRPO):
    """GRPO that learns from the completions above their group's mean and from no others."""

    def collect(self, rows: Sequence[dict], step: int, share: Share = ALL_ROWS) -> Experience:
        experience = super().collect(rows, step, share)
        return replace(experience, advantages=experience.advantages.clamp(min=0))


CONDITIONS: dict[str, Callable] = {"nothing pushed down": partial(by_grpo, algorithm=PushingUpAlone)}


def run(name: str, seed: int) -> dict[str, float]:
    """Train with one seed; what is solved on held-out problems, and what is left of what was known."""
    model = frozen_copy(what_rl_adds.setting().base).requires_grad_(True)
    CONDITIONS[name](model, seed)
    left = what_rl_adds.what_is_left(model, *what_rl_adds.without_and_with_key(model))
    return {measure: rounded(value) for measure, value in left.items()}
