"""The sweep of `notebooks/reasoning_format.ipynb`: what the penalty is taken of, and whether advantages are divided.

The penalty is k3 of mean log-probabilities, as in the notebook, or the KL divergence of whole completions, whose
gradient is estimated without bias. The advantages are divided by the group's standard deviation or not. A formula
promises a share of the format for the KL without the division. One condition goes on for longer, to see whether the
share that it has after 30 steps is a balance, and one has twice the beta.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from benchmarks.sweeps.measuring import rounded
from shared.advantages import group_advantages, leave_one_out_advantages
from shared.engine.chance import EVALUATION
from shared.engine.sampling import Sampling
from shared.interrupt import put_back, trained_weights
from shared.logps import completion_logps
from shared.losses import plain_grpo_loss
from shared.models import load_policy
from shared.prompts import rows_for
from shared.recipes import RECIPES
from shared.rollout import Rollout, sample
from shared.tasks import addition
from shared.training import rows_of_step

STEPS, PROMPTS, G = 30, 16, 8
EPSILON, LEARNING_RATE = 0.2, RECIPES["addition"].settings["learning_rate"]
SAMPLING = Sampling(addition.MAX_NEW_TOKENS, temperature=1.0)
MEASURED = 40  # held-out prompts, each sampled G times


def of_means(
    logps: Tensor, old_logps: Tensor, ref_logps: Tensor, mask: Tensor, advantages: Tensor, beta: float
) -> Tensor:
    """The loss of the notebook: GSPO's, with k3 of mean log-probabilities."""
    lengths = mask.sum(dim=1)
    means = [(values * mask).sum(dim=1) / lengths for values in (logps, old_logps, ref_logps)]
    logps, old_logps, ref_logps = (mean[:, None] for mean in means)  # a sequence is a completion of one token
    return plain_grpo_loss(logps, old_logps, advantages, torch.ones_like(logps), ref_logps, beta, EPSILON)


def of_completions(
    logps: Tensor, old_logps: Tensor, ref_logps: Tensor, mask: Tensor, advantages: Tensor, beta: float
) -> Tensor:
    """A loss whose gradient is that of beta KL(pi || ref) of whole completions, less that of the advantages.

    The gradient of the KL is E[log(pi / ref) grad log pi]. All is divided by a constant, which moves no balance.
    """
    whole, whole_ref = [(values * mask).sum(dim=1) for values in (logps, ref_logps)]
    pull = advantages - beta * leave_one_out_advantages((whole - whole_ref).detach(), G)[0]
    return -(pull * whole).mean() / SAMPLING.max_new_tokens


@dataclass(frozen=True)
class Condition:
    """A penalty, its price, the advantages of (B,) rewards in groups, and for how long is trained."""

    loss: Callable[..., Tensor]
    advantages: Callable[[Tensor, int], tuple[Tensor, dict]]
    beta: float = 0.6
    steps: int = STEPS


CONDITIONS: dict[str, Condition] = {
    "k3 of means, divided": Condition(of_means, group_advantages),
    "k3 of means, not divided": Condition(of_means, leave_one_out_advantages),
    "KL, divided": Condition(of_completions, group_advantages, steps=80),
    "KL, not divided": Condition(of_completions, leave_one_out_advantages),
    "KL, not divided, beta 1.2": Condition(of_completions, leave_one_out_advantages, beta=1.2),
}


@cache
def setting() -> dict:
    """The common start of all runs: the policy with its adapters, these as they were, and the rows."""
    torch.manual_seed(0)
    policy, tokenizer = load_policy(lora=True)
    return {
        "policy": policy,
        "tokenizer": tokenizer,
        "untrained": trained_weights(policy),
        "train_rows": rows_for(tokenizer, addition.dataset("train", 512), addition),
        "held_out": rows_for(tokenizer, addition.dataset("eval", MEASURED), addition),
    }


def logps_of(policy, rollout: Rollout) -> tuple[Tensor, Tensor]:
    """Those of the policy, with gradient, and of the model without its adapters, (B, C) each."""
    logps = completion_logps(policy, rollout)[0]
    with torch.no_grad(), policy.disable_adapter():
        return logps, completion_logps(policy, rollout)[0]


def run(name: str, seed: int, steps: int | None = None) -> dict:
    """Train one condition with one seed: the share of the format at each step, and on held-out prompts."""
    condition = CONDITIONS[name]
    shared = setting()
    policy, tokenizer = shared["policy"], shared["tokenizer"]
    put_back(policy, shared["untrained"])
    trained = [parameter for parameter in policy.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=LEARNING_RATE, weight_decay=0.0)
    steps = steps or condition.steps
    shares, found = [], {}
    for step in range(steps):
        rows = rows_of_step(shared["train_rows"], PROMPTS, step, seed)
        rollout, rewards = sampled(policy, tokenizer, rows, seed, step)
        logps, ref_logps = logps_of(policy, rollout)
        mask, advantages = rollout.completion_mask, condition.advantages(rewards, G)[0]
        condition.loss(logps, rollout.old_logps, ref_logps, mask, advantages, condition.beta).backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        shares.append(rounded(rewards.mean(), 3))
        if step + 1 in (STEPS, steps):
            found |= held_out(step + 1)
    return found | {"shares": shares}


@torch.no_grad()
def held_out(step: int) -> dict[str, float]:
    """The share of the format on held-out prompts after a step, and the KL of a completion there, in nats."""
    shared = setting()
    rollout, rewards = sampled(shared["policy"], shared["tokenizer"], shared["held_out"], 0, EVALUATION)
    logps, ref_logps = logps_of(shared["policy"], rollout)
    kl = ((logps - ref_logps) * rollout.completion_mask).sum(dim=1).mean()
    return {f"format at {step}": rounded(rewards.mean(), 3), f"KL at {step}": rounded(kl, 3)}


def sampled(policy, tokenizer, rows: list[dict], seed: int, step: int) -> tuple[Rollout, Tensor]:
    """G completions of each row's prompt, and their format rewards (B,)."""
    rollout = sample(policy, tokenizer, [row["prompt"] for row in rows], G, SAMPLING, seed=seed, step=step)
    return rollout, torch.tensor(addition.format_reward(rollout.repeated(rollout.prompts), rollout.completions))
