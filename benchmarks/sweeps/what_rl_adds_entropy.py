"""The cost of a collapse of entropy on countdown, and a bonus against it, for `notebooks/what_rl_adds.ipynb`.

    no bonus          "GRPO, 3e-4" of `what_rl_adds`
    bonus 0.1         the same with an entropy bonus in its loss
    adaptive bonus    the same with a coefficient that rises and falls, to hold the entropy of the samples at a target

A problem has several right answers, so a policy that always gives the same one wastes tries. Coefficient, target and change
were chosen with seed 100 by the entropy of the training samples alone, before any pass@k was seen: 0.03 hardly moved it. What
the runs can show was written down before them: the thresholds in `tests/claims/causes/what_rl_adds.yml`; and a bonus keeps
tries if pass@8 is higher than without one in each of the five seeds.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from benchmarks.sweeps import what_rl_adds
from benchmarks.sweeps.measuring import rounded
from benchmarks.sweeps.what_rl_adds import AT_3E_4, by_grpo
from shared.engine.processes import ALL_ROWS, Share
from shared.experience import Experience
from shared.grpo import GRPO
from shared.models import frozen_copy

TARGET = 0.3  # nats per token; untrained the samples have 0.41
CHANGE = 0.01  # of the coefficient, in each step


class HeldEntropy(GRPO):
    """GRPO with an entropy bonus whose coefficient rises while its samples have less entropy than TARGET, else falls.

    The coefficient begins at 0 and never goes below. A controller like those of He et al. 2025, arXiv:2505.22312.
    """

    def collect(self, rows: Sequence[dict], step: int, share: Share = ALL_ROWS) -> Experience:
        experience = super().collect(rows, step, share)
        change = CHANGE if experience.metrics["entropy"] < TARGET else -CHANGE
        self.config = replace(self.config, entropy_coef=max(0.0, self.config.entropy_coef + change))
        return experience


CONDITIONS: dict[str, Callable] = {
    "no bonus": by_grpo,
    "bonus 0.1": partial(by_grpo, config=replace(AT_3E_4, entropy_coef=0.1)),
    "adaptive bonus": partial(by_grpo, algorithm=HeldEntropy),
}


def run(name: str, seed: int) -> dict[str, float]:
    """Train with one seed; pass@k on held-out problems and the entropy there, in nats per token."""
    model = frozen_copy(what_rl_adds.setting().base).requires_grad_(True)
    CONDITIONS[name](model, seed)
    found = what_rl_adds.tries(model, what_rl_adds.setting().held_out[: what_rl_adds.PASS_ROWS], seed)
    return {measure: rounded(value) for measure, value in found.items()}
