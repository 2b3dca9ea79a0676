"""The sweep of `notebooks/async_rl.ipynb`: dots learnt from rollouts that are some steps old, in many ways.

Every run has 48 rollouts of 16 prompts with eight completions each, one update for each, and begins at the same policy.
Conditions differ in the lag of the weights that sample, in what is made of the ratio to them, and in the learning rate.
The cap and the range are the library's and PPO's own, 3 and 0.2. The lag of the comparison, 4, was chosen on one seed
of training rewards.
"""

from dataclasses import dataclass, field, replace

import torch

from benchmarks.sweeps.measuring import rounded
from benchmarks.sweeps.off_policy import measure, setting
from shared import training
from shared.engine.processes import ALL_ROWS, Share
from shared.experience import Experience
from shared.grpo import GRPO, GRPOConfig
from shared.models import frozen_copy
from shared.recipes import RECIPES

ROLLOUTS = 48
MEASURED_AT = (8, ROLLOUTS)
RATES = (1e-4, 3e-4)
LAGS = (0, 1, 2, 4, 8)
LAG, RATE = 4, RATES[-1]  # of the comparisons

WAYS = {
    "no correction": {"vllm_importance_sampling_correction": False},
    "two ratios, cut": {"vllm_importance_sampling_mode": "token_truncate"},
    "two ratios, masked": {"vllm_importance_sampling_mode": "sequence_mask"},
    "one ratio": {"decoupled": False},
}


class OneSign(GRPO):
    """GRPO that learns from the completions above their group's mean alone, or from those below it alone."""

    sign = 1.0

    def collect(self, rows, step: int, share: Share = ALL_ROWS) -> Experience:
        experience = super().collect(rows, step, share)
        kept = experience.advantages * self.sign > 0
        return replace(experience, advantages=torch.where(kept, experience.advantages, 0.0))


class Raised(OneSign):
    """From those above alone."""


class Lowered(OneSign):
    """From those below alone."""

    sign = -1.0


class Queue(GRPO):
    """A queue without a bound, filled twice as fast as it is emptied: rollout t, learnt from in step t, was drawn by the
    weights of step t // 2."""

    def lag(self, step: int) -> int:
        return step - step // 2


@dataclass(frozen=True)
class Condition:
    """The lag of the sampler, the learning rate, what is made of the ratio, and the algorithm."""

    staleness: int
    learning_rate: float = RATE
    way: dict = field(default_factory=lambda: WAYS["no correction"])
    algorithm: type[GRPO] = GRPO


CONDITIONS = {f"lag {lag}": Condition(lag) for lag in LAGS}
CONDITIONS |= {f"fresh, {rate:.0e}": Condition(0, rate) for rate in RATES}
CONDITIONS |= {f"{name}, {rate:.0e}": Condition(LAG, rate, way) for name, way in WAYS.items() for rate in RATES}
CONDITIONS |= {
    "fresh, raised alone": Condition(0, algorithm=Raised),
    "fresh, lowered alone": Condition(0, algorithm=Lowered),
    "lag 4, raised alone": Condition(LAG, algorithm=Raised),
    "lag 4, lowered alone": Condition(LAG, algorithm=Lowered),
    "queue without a bound": Condition(ROLLOUTS, algorithm=Queue),
    "queue without a bound, one ratio": Condition(ROLLOUTS, way=WAYS["one ratio"], algorithm=Queue),
}


def run(name: str, seed: int, rollouts: int = ROLLOUTS) -> dict:
    """Train one condition with one seed; what is sampled on held-out rows on the way, and the mean over the run."""
    condition = CONDITIONS[name]
    shared = setting("dots")
    model = frozen_copy(shared["base"]).requires_grad_(True)
    config = GRPOConfig(
        steps=rollouts,
        prompts_per_step=16,
        max_new_tokens=RECIPES["dots"].task.MAX_NEW_TOKENS,
        learning_rate=condition.learning_rate,
        warmup_steps=0,
        log_every=0,
        seed=seed,
        staleness=condition.staleness,
        **condition.way,
    )
    algorithm = condition.algorithm(model, shared["tokenizer"], shared["reward"], config)
    measured = {}

    def after_step(record: dict) -> None:
        if record["step"] in MEASURED_AT:
            measured[f"reward at {record['step']}"] = measure(model, shared)["reward"]

    rows = shared["materials"].train_rows
    history = training.train(algorithm, rows, config, on_step=after_step, progress=False)
    measured["over the run"] = rounded(sum(record["reward"] for record in history) / len(history))
    return measured
