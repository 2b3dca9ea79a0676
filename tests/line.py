"""An algorithm without a language model, for tests of the loop: it fits a line, one row at a time."""

import math
from dataclasses import dataclass

import torch
from torch import nn

from shared.algorithm import Algorithm, TrainingConfig

ROWS = [{"x": float(i), "y": 3.0 * i - 1.0, "weight": 1 + i % 3} for i in range(12)]
CONFIG = TrainingConfig(steps=4, prompts_per_step=6, learning_rate=0.05, log_every=0, warmup_steps=0)


@dataclass(frozen=True)
class Points:
    """Rows as tensors; a row counts as many "tokens" as it weighs."""

    rows: list[dict]
    metrics: dict

    def __len__(self):
        return len(self.rows)

    @property
    def row_tokens(self):
        return torch.tensor([row["weight"] for row in self.rows])

    @property
    def num_tokens(self):
        return int(self.row_tokens.sum())

    num_places = num_tokens

    def take(self, rows):
        return Points([self.rows[i] for i in rows], self.metrics)


class Line(Algorithm):
    """Weighted least squares; it remembers what it was shown."""

    name = "line"
    numbers_per_place = 1

    def __init__(self, spoil=lambda step: False):
        torch.manual_seed(0)
        self.model = nn.Linear(1, 1)
        self.spoil = spoil
        self.step = -1
        self.seen = []
        self.stop_at = math.inf

    def experience(self, rows, step, *share):
        self.step = step
        return Points(list(rows), {"reward": float(step)})

    def loss(self, points):
        self.seen.append([row["x"] for row in points.rows])
        x = torch.tensor([[row["x"]] for row in points.rows])
        y = torch.tensor([[row["y"]] for row in points.rows])
        error = (self.model(x) - y).square()[:, 0] * points.row_tokens
        loss = error.sum() / points.num_tokens
        if self.spoil(self.step):
            loss = loss * math.nan
        return loss, {"error": error.detach().sum() / points.num_tokens}

    def enough(self, metrics):
        return len(self.seen) >= self.stop_at


def parameters(model):
    return [p.detach().clone() for p in model.parameters()]
