"""Right ways to ask what a policy earns that says the same to every row."""

from collections import defaultdict

import torch

from shared.rewards import columns_of, score


def ORACLE(reward, rows, labels):
    prompts = [row["prompt"] for row in rows]
    found = {}
    for label in labels:
        found[label] = score([reward], prompts, [f" {label}"] * len(rows), columns_of(rows)).mean().item()
    return found


def row_by_row(reward, rows, labels):
    """Each row is a batch of its own."""
    totals = defaultdict(float)
    for row in rows:
        for label in labels:
            others = {name: [value] for name, value in row.items() if name != "prompt"}
            totals[label] += reward([row["prompt"]], [f" {label}"], **others)[0]
    return {label: totals[label] / len(rows) for label in labels}


def in_one_batch(reward, rows, labels):
    """All labels for all rows in one call; the prompt is handed over among the columns."""
    columns = {name + "s" * (name == "prompt"): [row[name] for _ in labels for row in rows] for name in rows[0]}
    completions = [f" {label}" for label in labels for _ in rows]
    table = torch.tensor(reward(completions=completions, **columns)).view(len(labels), len(rows))
    return dict(zip(labels, table.mean(dim=1)))


def with_a_tensor(reward, rows, labels):
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    prompts = columns.pop("prompt")
    return {
        label: torch.tensor(reward(prompts, [f" {label}"] * len(rows), **columns)).mean().item() for label in labels
    }


RIGHT = [row_by_row, in_one_batch, with_a_tensor]
EQUIVALENT = {
    "columns: return {name: [row[name] for row in rows] for name in rows[-1] if name != 'prompt'}": "all rows have the same columns",
}
