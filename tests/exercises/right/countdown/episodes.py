"""Right ways to score episodes; `sample`, `REWARDS` and `G` are a notebook's."""

import torch

from shared.advantages import group_advantages
from shared.engine.sampling import Sampling
from shared.rewards import columns_of, score, score_rollout
from shared.rollout import sample

ORACLE = None
tokenizer = None
G = 2
REWARDS = []


def by_columns(model, rows, seed, step=0):
    rollout = sample(model, tokenizer, [row["prompt"] for row in rows], G, Sampling(8), seed=seed, step=step)
    columns = {name: rollout.repeated(column) for name, column in columns_of(rows).items()}
    rewards = score(REWARDS, rollout.repeated(rollout.prompts), rollout.completions, columns)
    return rollout, rewards, group_advantages(rewards.sum(dim=1), G)[0]


def one_reward_after_the_other(model, rows, seed, step=0):
    rollout = sample(model, tokenizer, [row["prompt"] for row in rows], G, Sampling(8), seed=seed, step=step)
    targets = rollout.repeated([row["target"] for row in rows])
    columns = [torch.tensor(f(rollout.completions, rollout.completions, target=targets)) for f in REWARDS]
    groups = sum(columns).view(-1, G)
    std = groups.std(dim=1, correction=0, keepdim=True)
    advantages = (groups - groups.mean(dim=1, keepdim=True)) / (std + 1e-4)
    return rollout, torch.stack(columns, dim=1), advantages.flatten()


def by_the_helper(model, rows, seed, step=0):
    rollout = sample(model, tokenizer, [row["prompt"] for row in rows], G, Sampling(8), seed=seed, step=step)
    rewards = score_rollout(REWARDS, rollout, rows)
    return rollout, rewards, group_advantages(rewards @ torch.ones(2), G)[0]


RIGHT = [by_columns, one_reward_after_the_other, by_the_helper]
EQUIVALENT = {
    "completions: return [text for row in rows for text in model.says(row['prompt'], 2.0, G)]": "the speaker says the same at every temperature but 0",
}
