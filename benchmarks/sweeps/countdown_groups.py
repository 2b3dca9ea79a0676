"""The groups of `notebooks/countdown.ipynb`: forty steps of 80 completions each, split into few large groups or many small ones.

The number of prompts changes with the size of a group, since the completions of a step are to stay as many. All else is
the notebook's. What is measured: how many groups of the last ten steps are equal, and what is solved of the held-out
problems, sampled and greedy.
"""

from dataclasses import dataclass

from benchmarks.sweeps.measuring import rounded
from shared import grpo
from shared.algorithm import Metrics
from shared.evaluate import evaluate
from shared.grpo import GRPOConfig
from shared.models import frozen_copy, load_policy
from shared.tasks import countdown
from shared.training import mean_metrics

REWARDS = [countdown.format_reward, countdown.correctness_reward]
SOLVED = 1  # the place of correctness among them
LAST = 10  # steps


@dataclass(frozen=True)
class Condition:
    """A step: how large a group is. There are as many groups as give 80 completions."""

    group: int
    completions: int = 80


CONDITIONS = {f"G = {size}": Condition(size) for size in (2, 4, 8, 16)}


def run(name: str, seed: int, steps: int = 40) -> Metrics:
    """Train one policy; equal groups at the end of the training, and the shares of held-out problems solved."""
    condition = CONDITIONS[name]
    base, tokenizer = load_policy()
    model = frozen_copy(base).requires_grad_(True)
    config = GRPOConfig(
        steps=steps,
        prompts_per_step=condition.completions // condition.group,
        num_generations=condition.group,
        max_new_tokens=countdown.MAX_NEW_TOKENS,
        learning_rate=3e-4,
        warmup_steps=0,
        log_every=0,
        seed=seed,
    )
    history = grpo.train(model, tokenizer, countdown.dataset("train", 1000, seed=0), REWARDS, config, progress=False)
    asked = model, tokenizer, countdown.dataset("eval", 200, seed=0), REWARDS
    room = countdown.MAX_NEW_TOKENS
    drawn = evaluate(*asked, max_new_tokens=room, temperature=1.0, num_generations=4, seed=seed)
    greedy = evaluate(*asked, max_new_tokens=room)
    return {
        "equal groups": rounded(mean_metrics(history[-LAST:])["frac_reward_zero_std"]),
        "format": rounded(drawn.rewards_per_func[:, 0].mean().item()),
        "solved, greedy": rounded(greedy.rewards_per_func[:, SOLVED].mean().item()),
        "solved": rounded(drawn.rewards_per_func[:, SOLVED].mean().item()),
    }
