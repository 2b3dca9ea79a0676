"""The sweep of `notebooks/ppo.ipynb`: what each part of PPO's objective does to the number of full stops, and GRPO.

All conditions get the same number of completions and of updates. Measured is what the notebook measures: full stops
in one completion of each held-out opening, sampled, and the exact KL to the base model. The settings were fixed
beforehand, with one update pass over each rollout: with two passes a run's end depends on the number of threads.
"""

from dataclasses import replace
from functools import cache

import torch
from torch import Tensor

from benchmarks.sweeps.measuring import rounded, sampled_with_kl
from shared import grpo, ppo
from shared.critic import ActorCritic
from shared.grpo import GRPOConfig
from shared.models import frozen_copy, load_policy
from shared.ppo import PPOConfig
from shared.recipes import RECIPES
from shared.rewards import RewardFunction
from shared.tasks import sentences

PPO = PPOConfig(
    steps=10,
    prompts_per_step=48,
    max_new_tokens=sentences.MAX_NEW_TOKENS,
    num_iterations=1,
    learning_rate=RECIPES["sentences"].settings["learning_rate"],
    beta=0.1,
    log_every=0,
)
# As many completions as PPO, in groups of 8.
GRPO = GRPOConfig(
    steps=PPO.steps,
    prompts_per_step=6,
    num_generations=8,
    max_new_tokens=PPO.max_new_tokens,
    minibatches=PPO.minibatches,
    learning_rate=PPO.learning_rate,
    warmup_steps=PPO.warmup_steps,
    beta=PPO.beta,
    log_every=0,
)
REWARD = "full stops"
CONDITIONS = {
    "PPO, beta 0": replace(PPO, beta=0.0),
    "PPO, beta 0.1": PPO,
    "PPO, beta 0.3": replace(PPO, beta=0.3),
    "PPO, beta 1": replace(PPO, beta=1.0),
    "no policy-gradient term": replace(PPO, policy_coef=0.0),
    "PPO, 6 openings x 8": replace(PPO, prompts_per_step=6, num_generations=8),
    "GRPO, 6 openings x 8": GRPO,
}


@cache
def setting() -> dict:
    """The parts that all runs share: model, tokenizer, openings."""
    base, tokenizer = load_policy()
    return {
        "base": frozen_copy(base),
        "tokenizer": tokenizer,
        "train_rows": sentences.dataset("train", 400, seed=0),
        "held_out": [row["prompt"] for row in sentences.dataset("eval", 100, seed=0)],
    }


def run(name: str, seed: int, steps: int | None = None) -> dict[str, float]:
    """Train one condition with one seed; full stops, and KL per token, on held-out openings."""
    config = CONDITIONS[name]
    config = replace(config, seed=seed, steps=steps or config.steps)
    return measure(trained(config))


def trained(config: PPOConfig | GRPOConfig, reward: RewardFunction = sentences.reward):
    """A copy of the base model after a run with these settings and this reward."""
    shared = setting()
    model = frozen_copy(shared["base"]).requires_grad_(True)
    data = (shared["tokenizer"], shared["train_rows"], reward, config)
    if isinstance(config, GRPOConfig):
        grpo.train(model, *data, reference=shared["base"], progress=False)
    else:
        torch.manual_seed(config.seed)  # of the value head's first layer
        ppo.train(ActorCritic(model), shared["base"], *data, progress=False)
    return model


def measure(model) -> dict[str, float]:
    """Full stops in one sampled completion of each held-out opening, and the exact KL per token."""
    completions, kl = completed(model)
    stops = sentences.count_reward(setting()["held_out"], completions)
    return {"full stops": sum(stops) / len(stops), "KL": rounded(kl, 4)}


def completed(model) -> tuple[list[str], Tensor]:
    """One sampled completion of each held-out opening, and their exact KL per token."""
    shared = setting()
    rollout, kl = sampled_with_kl(
        model, shared["base"], shared["tokenizer"], shared["held_out"], sentences.MAX_NEW_TOKENS
    )
    return rollout.completions, kl.sum() / rollout.lengths.sum()
