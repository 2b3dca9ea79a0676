"""A sweep of `notebooks/reasoning_format.ipynb`: the rank of the adapters, and all weights, each at five learning rates.

The step is the chapter's without its penalty, so that nothing differs between adapters and all weights but what is
trained. Both rewards are paid from the start: the format and the right number. What is measured is the share of right
numbers in the format among the completions that are drawn for held-out sums.

Written before the sweep ran: at the best of its five rates, by the mean over seeds, a rank is worse than another if each
of its seeds is below each seed of the other, and else no difference is shown. The best rate of all weights is called
lower than that of rank 16 if it is a lower one of the five and both are better there than at the rate of the other, seed
by seed.
"""

from dataclasses import dataclass

import torch

from benchmarks.sweeps.measuring import rounded
from benchmarks.sweeps.reasoning_format import PROMPTS, SAMPLING, G, of_means
from shared.advantages import group_advantages
from shared.engine.chance import EVALUATION
from shared.logps import completion_logps
from shared.models import load_policy
from shared.prompts import rows_for
from shared.rollout import Rollout, sample
from shared.tasks import addition
from shared.training import rows_of_step
from shared.updates import apply_gradient

RANKS = {"rank 1": 1, "rank 4": 4, "rank 16": 16, "all weights": None}
RATES = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
STEPS = 10
MEASURED = 40  # held-out prompts, each sampled G times


@dataclass(frozen=True)
class Trained:
    """rank: of the adapters, whose factor alpha is always 32; None for all weights and no adapters."""

    rank: int | None
    learning_rate: float


CONDITIONS = {f"{name}, {rate:g}": Trained(rank, rate) for name, rank in RANKS.items() for rate in RATES}


def run(name: str, seed: int, steps: int = STEPS) -> dict:
    """Train one condition with one seed: the shares of format and of right numbers in it, drawn on held-out sums."""
    condition = CONDITIONS[name]
    torch.manual_seed(seed)  # adapters begin at random
    policy, tokenizer = load_policy(lora={"r": condition.rank} if condition.rank else False)
    trained = [parameter for parameter in policy.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=condition.learning_rate, weight_decay=0.0)
    train_rows = rows_for(tokenizer, addition.dataset("train", 512), addition)
    held_out = rows_for(tokenizer, addition.dataset("eval", MEASURED), addition)
    for step in range(steps):
        rollout, rewards = sampled(policy, tokenizer, rows_of_step(train_rows, PROMPTS, step, seed), seed, step)
        logps = completion_logps(policy, rollout)[0]  # (B, C)
        advantages = group_advantages(rewards.sum(dim=1), G)[0]  # (B,)
        loss = of_means(logps, rollout.old_logps, logps.detach(), rollout.completion_mask, advantages, beta=0.0)
        apply_gradient(loss, policy, optimizer, max_grad_norm=1.0)
    formatted, right = sampled(policy, tokenizer, held_out, 0, EVALUATION)[1].mean(dim=0)
    weights = sum(parameter.numel() for parameter in trained)
    return {"format": rounded(formatted, 3), "right": rounded(right, 3), "weights": weights}


def sampled(policy, tokenizer, rows: list[dict], seed: int, step: int) -> tuple[Rollout, torch.Tensor]:
    """G completions of each row's prompt, and their rewards (B, 2): the format, and the right number in it."""
    rollout = sample(policy, tokenizer, [row["prompt"] for row in rows], G, SAMPLING, seed=seed, step=step)
    asked, said = rollout.repeated(rollout.prompts), rollout.completions
    formatted = addition.format_reward(asked, said)
    right = addition.correctness_reward(asked, said, answer=rollout.repeated([row["answer"] for row in rows]))
    return rollout, torch.tensor([formatted, right]).T
