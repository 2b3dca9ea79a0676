"""A control of `notebooks/ppo.ipynb`: does lambda = 0 teach less because its critic knows nothing yet?

Five steps of 16 completions, as in the chapter's short runs. A warmed critic has learnt its values for eight steps
before, with the policy held still; the policy then begins as the base model in every condition.
"""

from dataclasses import dataclass, replace

import torch

from benchmarks.sweeps.measuring import rounded
from benchmarks.sweeps.ppo import PPO, setting
from shared import ppo
from shared.critic import ActorCritic
from shared.models import frozen_copy
from shared.ppo import PPOConfig
from shared.tasks import sentences

SHORT = replace(PPO, steps=5, prompts_per_step=16)


@dataclass(frozen=True)
class Condition:
    """Settings, and the steps for which the critic alone has learnt before."""

    config: PPOConfig
    warmed: int = 0


CONDITIONS = {
    "lambda 0.95": Condition(SHORT),
    "lambda 0": Condition(replace(SHORT, lam=0.0)),
    "lambda 0, warmed critic": Condition(replace(SHORT, lam=0.0), 8),
}


def run(name: str, seed: int) -> dict[str, float]:
    """The average reward of the last two steps."""
    condition = CONDITIONS[name]
    shared = setting()
    torch.manual_seed(seed)  # of the value head's first layer
    policy = ActorCritic(frozen_copy(shared["base"]).requires_grad_(True))
    data = (shared["base"], shared["tokenizer"], shared["train_rows"], sentences.reward)
    config = replace(condition.config, seed=seed)
    if condition.warmed:
        # A rate at which the transformer stays where it is; the head has its own.
        alone = replace(PPO, steps=condition.warmed, prompts_per_step=16, seed=seed + 100, policy_coef=0.0, beta=0.0)
        ppo.train(policy, *data, replace(alone, learning_rate=1e-12), progress=False)
    records = ppo.train(policy, *data, config, progress=False)
    return {"reward": rounded(sum(record["reward"] for record in records[-2:]) / 2)}
