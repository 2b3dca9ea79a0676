"""A sampler that is behind: the trained weights of earlier steps, and a model that has them for a block of code.

Where sampling and learning run at the same time, a rollout was drawn by the weights of some steps ago. Here that lag is
made in the one loop: `GRPO` keeps the weights of its last steps and samples with old ones. So the lag is exact, a run
can be resumed, and several processes make one update.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn

Weights = dict[str, Tensor]


def copy_of_weights(model: nn.Module) -> Weights:
    """The trained parameters by name, copied."""
    return {name: p.detach().clone() for name, p in model.named_parameters() if p.requires_grad}


@contextmanager
def past_weights(model: nn.Module, weights: Mapping[str, Tensor] | None) -> Iterator[None]:
    """Inside the block the model has these weights; None leaves its own. For what computes no gradient."""
    own = copy_of_weights(model) if weights else {}
    try:
        put_weights(model, weights or {})
        yield
    finally:
        put_weights(model, own)


@torch.no_grad()
def put_weights(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Copy these weights into the parameters of their names."""
    for name, parameter in model.named_parameters():
        if name in weights:
            parameter.copy_(weights[name])


def keep_weights(past: dict[int, Weights], model: nn.Module, step: int, lag: int) -> Weights:
    """Add this step's weights to those of past steps, by step, and return the weights of `lag` steps ago.

    Weights that are older still are dropped: no later step samples with them. With a lag of 2 the steps 0 to 4 are
    sampled by the weights of 0, 0, 0, 1 and 2.
    """
    past[step] = copy_of_weights(model)
    wanted = max(min(past), step - lag)
    for older in [kept for kept in past if kept < wanted]:
        del past[older]
    return past[wanted]
