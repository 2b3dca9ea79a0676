"""Right tables of rewards."""

import numpy as np
import torch

from shared.tasks import poker

ORACLE = None


def all_at_once(rows, completions):
    prompts = [row["prompt"] for row in rows for _ in completions]
    answers = [row["answer"] for row in rows for _ in completions]
    flat = poker.reward(prompts, list(completions) * len(rows), answers)
    return torch.tensor(flat, dtype=torch.double).view(len(rows), len(completions))


def one_by_one(rows, completions):
    table = torch.zeros(len(rows), len(completions), dtype=torch.float64)
    for n, row in enumerate(rows):
        for k, completion in enumerate(completions):
            table[n, k] = poker.reward([row["prompt"]], [completion], [row["answer"]])[0]
    return table


def through_numpy(rows, completions):
    return torch.from_numpy(np.array([[poker.reward([""], [c], [r["answer"]])[0] for c in completions] for r in rows]))


RIGHT = [all_at_once, one_by_one, through_numpy]
