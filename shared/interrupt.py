"""Ctrl-C, or the stop button of a notebook, ends a training and keeps what was learned; the model remembers it.

A model that stopped half-way looks like any other, and training it again from step 1 gives a run that starts ahead:
its curve and its comparison are of something else. So the model is marked, and refused until it is a fresh copy.
"""

from collections.abc import Callable, Iterator, Sequence, Sized
from contextlib import contextmanager

from torch import nn
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
        mark(model, history)
        say(f"Interrupted after {len(history)} of {steps} steps; what was learned so far is kept.")


def refuse_half_trained(model: nn.Module) -> None:
    """ValueError for a model that an interrupted run touched."""
    steps = max((getattr(module, MARK, -1) for module in model.modules()), default=-1)
    if steps >= 0:
        raise ValueError(
            f"This model was trained before, by a run that was interrupted after {steps} "
            f"step{'' if steps == 1 else 's'}, so training would not start at the beginning. Make a fresh copy of the "
            "model, run the cell that makes it again, or load it anew; to go on where a run stopped, give `train` a "
            "checkpoint_path."
        )


def mark(model: nn.Module, history: Sized) -> None:
    """Remember in what is trained that a run was interrupted after these steps.

    The modules that hold trained parameters are marked, so that a critic, an adapter or a copy made of them is too.
    """
    for module in trained_modules(model):
        setattr(module, MARK, len(history))


def forget(model: nn.Module) -> None:
    """The weights that the interrupted run left are not there any more."""
    for module in model.modules():
        if hasattr(module, MARK):
            delattr(module, MARK)


def trained_modules(model: nn.Module) -> list[nn.Module]:
    """The modules with a parameter of their own that requires a gradient."""
    return [m for m in model.modules() if any(p.requires_grad for p in m.parameters(recurse=False))]
