"""Ctrl-C, or the stop button of a notebook, ends a training and keeps what was learned; the model remembers it.

A model that stopped half-way looks like any other, and training it again from step 1 gives a run that starts ahead:
its curve and its comparison are of something else. So the model is marked, and refused until it is a fresh copy. Where
adapters are trained, a copy of them does (`trained_weights`, `put_back`): the model below them may fill a GPU.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from tqdm.auto import tqdm

MARK = "_interrupted_after"


@contextmanager
def until_interrupted(
    model: nn.Module, history: Sequence, steps: int, say: Callable[[str], None] = tqdm.write
) -> Iterator[None]:
    """Run a training loop; an interrupt leaves the block without a traceback, says so, and marks the model.

    Args:
        history: the list that the loop fills, one record for each step done.
        steps: how many were meant to be done.
        say: where the sentence goes.

    Raises ValueError when the model was left half-trained by an earlier run.
    """
    refuse_half_trained(model)
    try:
        yield
    except KeyboardInterrupt:
        mark_half_trained(model, len(history), steps, say)


def mark_half_trained(model: nn.Module, done: int, steps: int, say: Callable[[str], None] = tqdm.write) -> None:
    """Mark the model as one whose training ended after `done` of `steps` steps, and say so. No weight changes."""
    mark(model, done)
    say(f"Interrupted after {done} of {steps} steps; what was learned so far is kept.")


def refuse_half_trained(model: nn.Module) -> None:
    """ValueError for a model that an interrupted run touched."""
    steps = interrupted_after(model)
    if steps is not None:
        raise ValueError(
            f"This model was trained before, by a run that was interrupted after {steps} "
            f"step{'' if steps == 1 else 's'}, so training would not start at the beginning. Make a fresh copy of the "
            "model, run the cell that makes it again, or load it anew; to go on where a run stopped, give `train` a "
            "checkpoint_path."
        )


def interrupted_after(model: nn.Module) -> int | None:
    """The number of steps after which a run on this model was interrupted; None when none was."""
    return max((getattr(module, MARK) for module in model.modules() if hasattr(module, MARK)), default=None)


def mark(model: nn.Module, steps: int) -> None:
    """Remember in what is trained that a run was interrupted after so many steps.

    The modules that hold trained parameters are marked, so that a critic, an adapter or a copy made of them is too.
    """
    for module in trained_modules(model):
        setattr(module, MARK, steps)


def clear_half_trained_mark(model: nn.Module) -> None:
    """Take the mark away, after other weights took the place of those that an interrupted run left. No weight changes."""
    for module in model.modules():
        if hasattr(module, MARK):
            delattr(module, MARK)


def trained_modules(model: nn.Module) -> list[nn.Module]:
    """The modules with a parameter of their own that requires a gradient."""
    return [m for m in model.modules() if any(p.requires_grad for p in m.parameters(recurse=False))]


@dataclass(frozen=True)
class TrainedWeights:
    """A copy of a model's trained weights (with adapters, of these alone), and the steps done when an interrupt left them."""

    tensors: dict[str, Tensor]
    interrupted_after: int | None


def trained_weights(model: nn.Module) -> TrainedWeights:
    """A copy of the trained weights as they are now, to begin again from."""
    tensors = {name: p.detach().clone() for name, p in model.named_parameters() if p.requires_grad}
    return TrainedWeights(tensors, interrupted_after(model))


@torch.no_grad()
def put_back(model: nn.Module, weights: TrainedWeights) -> None:
    """Make what is trained what it was; so a cell that trains begins where it began before, however often it is run.

    An interrupt since then is forgotten with what it left. One before it is not: the model is refused as it was.

    Raises KeyError when the model has a trained parameter that is not among the weights.
    """
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            parameter.copy_(weights.tensors[name])
            parameter.grad = None  # of a step that the interrupt cut off
    clear_half_trained_mark(model)
    if weights.interrupted_after is not None:
        mark(model, weights.interrupted_after)
