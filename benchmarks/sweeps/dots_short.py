"""The short runs of `notebooks/dots.ipynb`: steps of 64 completions or 128, in other groups, and twice as many steps.

"32 prompts, G = 2" and "8 prompts x 4, G = 2" differ in the number of prompts alone. The last two ask twice as many
prompts as "8 prompts, G = 8", in twice as many steps and in steps twice as large.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from benchmarks.sweeps.measuring import rounded
from shared import training
from shared.algorithm import Metrics
from shared.engine.processes import ALL_ROWS, Share
from shared.evaluate import evaluate
from shared.experience import Experience
from shared.grpo import GRPO, GRPOConfig
from shared.models import frozen_copy, load_policy
from shared.tasks import dots
from shared.training import mean_metrics


@dataclass(frozen=True)
class Condition:
    """The prompts of a step, how often it asks each, the size of a group, the learning rate, and the number of steps."""

    prompts: int
    group: int
    rate: float
    times: int = 1
    steps: int = 6


CONDITIONS = {
    "8 prompts, G = 8": Condition(8, 8, 1e-4),
    "32 prompts, G = 2": Condition(32, 2, 1e-4),
    "8 prompts x 4, G = 2": Condition(8, 2, 1e-4, times=4),
    "8 prompts, 12 steps": Condition(8, 8, 1e-4, steps=12),
    "16 prompts, 6 steps": Condition(16, 8, 1e-4),
}


@cache
def base_model():
    """The untrained model, frozen, and its tokenizer."""
    model, tokenizer = load_policy()
    return frozen_copy(model), tokenizer


class AskedAgain(GRPO):
    """GRPO that asks each prompt of a step several times; each time is a group of its own."""

    times = 1

    def collect(self, rows: Sequence[dict], step: int, share: Share = ALL_ROWS) -> Experience:
        return super().collect([row for row in rows for _ in range(self.times)], step, share)


def run(name: str, seed: int) -> Metrics:
    """Train a condition; greedy and sampled reward on the validation rows, groups with equal rewards, KL."""
    condition = CONDITIONS[name]
    base, tokenizer = base_model()
    model = frozen_copy(base).requires_grad_(True)
    rows = dots.dataset("train", 712, seed=0)
    config = GRPOConfig(
        steps=condition.steps,
        prompts_per_step=condition.prompts,
        num_generations=condition.group,
        max_new_tokens=dots.MAX_NEW_TOKENS,
        learning_rate=condition.rate,
        beta=0.02,
        warmup_steps=0,
        log_every=0,
        seed=seed,
    )
    algorithm = AskedAgain(model, tokenizer, dots.reward, config, reference=base)
    algorithm.times = condition.times
    history = training.train(algorithm, rows[:512], config, progress=False)
    asked = model, tokenizer, rows[512:], dots.reward
    room = dots.MAX_NEW_TOKENS
    drawn = evaluate(*asked, max_new_tokens=room, temperature=1.0, num_generations=8, step=0)
    return {
        "greedy": rounded(evaluate(*asked, max_new_tokens=room).mean),
        "sampled": rounded(drawn.mean),
        "equal groups": rounded(mean_metrics(history)["frac_reward_zero_std"]),
        "KL": rounded(history[-1]["kl"]),
    }
