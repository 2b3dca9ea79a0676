"""Right ways to ask what a policy earns that says the same to every row."""

import torch

from shared.rewards import columns_of, score


def ORACLE(reward, rows, labels):
    prompts = [row["prompt"] for row in rows]
    found = {}
    for label in labels:
        found[label] = score([reward], prompts, [f" {label}"] * len(rows), columns_of(rows)).mean().item()
    return found


def in_one_batch(reward, rows, labels):
    """All labels for all rows in one call; the prompt is handed over among the columns."""
    columns = {name + "s" * (name == "prompt"): [row[name] for _ in labels for row in rows] for name in rows[0]}
    completions = [f" {label}" for label in labels for _ in rows]
    table = torch.tensor(reward(completions=completions, **columns)).view(len(labels), len(rows))
    return dict(zip(labels, table.mean(dim=1)))


RIGHT = [in_one_batch]
EQUIVALENT = {
    "columns: return {name: [row[name] for row in rows] for name in rows[-1] if name != 'prompt'}": "all rows have the same columns",
}
