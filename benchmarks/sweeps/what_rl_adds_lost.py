"""Controls for what training loses, for `notebooks/what_rl_adds.ipynb`: from GRPO to rejection sampling, a change each.

    nothing pushed down     "GRPO, 3e-4" of `what_rl_adds` with advantages below 0 set to 0
    correctness alone       "GRPO, 3e-4" paid as rejection sampling is, nothing for the format
    right ones alone        the same with its loss: each right completion weighs 1, every other 0
    one epoch               "rejection sampling" of `what_rl_adds` with half of the updates, about as many as GRPO makes

What is measured is what is solved, and what is left of what the base model knew.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from benchmarks.sweeps import what_rl_adds
from benchmarks.sweeps.measuring import rounded
from benchmarks.sweeps.what_rl_adds import AT_3E_4, REJECTION, by_grpo, by_rejection
from shared.engine.processes import ALL_ROWS, Share
from shared.experience import Experience
from shared.models import frozen_copy


class PushingUpAlone(what_rl_adds.InOrder):
    """GRPO that learns from the completions above their group's mean and from no others."""

    def collect(self, rows: Sequence[dict], step: int, share: Share = ALL_ROWS) -> Experience:
        experience = super().collect(rows, step, share)
        return replace(experience, advantages=experience.advantages.clamp(min=0))


class RightOnesAlone(what_rl_adds.InOrder):
    """GRPO without a baseline: rewards of 0 and 1 in place of advantages, so that only right completions are learnt."""

    def collect(self, rows: Sequence[dict], step: int, share: Share = ALL_ROWS) -> Experience:
        experience = super().collect(rows, step, share)
        return replace(experience, advantages=experience.rewards)


PAID_ALONE = replace(AT_3E_4, reward_weights=(0.0, 1.0, 0.0, 0.0))  # correctness
CONDITIONS: dict[str, Callable] = {
    "nothing pushed down": partial(by_grpo, algorithm=PushingUpAlone),
    "correctness alone": partial(by_grpo, config=PAID_ALONE),
    "right ones alone": partial(by_grpo, config=PAID_ALONE, algorithm=RightOnesAlone),
    "one epoch": partial(by_rejection, config=replace(REJECTION, epochs=1)),
}


def run(name: str, seed: int) -> dict[str, float]:
    """Train with one seed; what is solved on held-out problems, and what is left of what was known."""
    model = frozen_copy(what_rl_adds.setting().base).requires_grad_(True)
    CONDITIONS[name](model, seed)
    left = what_rl_adds.what_is_left(model, *what_rl_adds.without_and_with_key(model))
    return {measure: rounded(value) for measure, value in left.items()}
