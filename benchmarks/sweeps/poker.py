"""The sweep of `notebooks/poker.ipynb`: weights, an entropy bonus, KL penalties up to one that blocks, group sizes.

All conditions spend 256 completions a step on the same balanced hands. What is measured is exact on held-out hands: the expected
share of right labels, the KL divergence to the base model and the entropy are sums over the eight completions.
"""

from dataclasses import dataclass, replace

from benchmarks.sweeps.gradients import logps_of, measure, setting
from benchmarks.sweeps.measuring import rounded
from shared import grpo
from shared.grpo import GRPOConfig
from shared.models import frozen_copy
from shared.recipes import RECIPES
from shared.rewards import RewardFunction
from shared.tasks import poker

STEPS = 20
EARLY = 5  # steps over which idle groups are counted
COMPLETIONS = 256
COMMON = GRPOConfig(
    steps=STEPS,
    prompts_per_step=32,
    num_generations=8,
    max_new_tokens=poker.MAX_NEW_TOKENS,
    learning_rate=RECIPES["poker"].settings["learning_rate"],
    log_every=0,
)


@dataclass(frozen=True)
class Condition:
    """Settings, and what is rewarded."""

    config: GRPOConfig = COMMON
    reward: RewardFunction = poker.weighted_reward


def in_groups_of(num_generations: int) -> Condition:
    """As many completions a step in groups of another size."""
    prompts = COMPLETIONS // num_generations
    return Condition(replace(COMMON, num_generations=num_generations, prompts_per_step=prompts))


CONDITIONS = {
    "weighted": Condition(),
    "unweighted": Condition(reward=poker.reward),
    "weighted, entropy bonus 0.05": Condition(replace(COMMON, entropy_coef=0.05)),
    "weighted, beta 0.2": Condition(replace(COMMON, beta=0.2)),
    "weighted, beta 5": Condition(replace(COMMON, beta=5.0)),
    "weighted, G = 2": in_groups_of(2),
    "weighted, G = 4": in_groups_of(4),
    "weighted, G = 16": in_groups_of(16),
}


def run(name: str, seed: int, steps: int = STEPS) -> dict[str, float]:
    """Train one condition with one seed; held-out `right` and `KL`, `entropy` in nats per completion, and the
    share of `idle` groups in the first steps."""
    condition = CONDITIONS[name]
    shared = setting()
    model = frozen_copy(shared["base"]).requires_grad_(True)
    config = replace(condition.config, seed=seed, steps=steps)
    history = grpo.train(
        model,
        shared["tokenizer"],
        poker.dataset("train", 2000, seed=0),
        condition.reward,
        config,
        reference=shared["base"],
        constraint=shared["trie"],
        progress=False,
    )
    found = measure(model, config.steps, shared)
    logps = logps_of(model, shared["held_out"], shared)
    idle = [record["frac_reward_zero_std"] for record in history[:EARLY]]
    return {
        "right": found[f"reward at {config.steps}"],
        "KL": found[f"KL at {config.steps}"],
        "entropy": rounded(-(logps.exp() * logps).sum(dim=1).mean()),
        "idle": rounded(sum(idle) / len(idle)),
    }
