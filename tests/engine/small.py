"""A model with every kind of parameter and buffer, smaller than any language model."""

import torch
from torch import nn


class Small(nn.Module):
    """Trained and frozen parameters, a buffer that is saved and one that is not."""

    def __init__(self, seed: int = 0):
        super().__init__()
        torch.manual_seed(seed)
        self.body = nn.Linear(3, 4)
        self.head = nn.Linear(4, 2)
        self.base = nn.Linear(40, 50).requires_grad_(False)
        self.register_buffer("scale", torch.ones(3))
        self.register_buffer("angles", torch.ones(3), persistent=False)
