"""Gradient checkpointing while a rollout is scored: memory for time, and no dropout.

Optional reading. `model.gradient_checkpointing_enable()` asks transformers' blocks to keep no activations for the way
back, and to compute them again there. They do so only while they are in training mode; but scoring runs in evaluation
mode, because sampling does. That loss and gradients stay what they were is tested in `tests/test_logps.py`,
`test_gradient_checkpointing_keeps_less_and_changes_no_gradient`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import torch
from transformers.modeling_layers import GradientCheckpointingLayer

from shared.engine.modes import eval_mode


def recomputes(model: torch.nn.Module) -> bool:
    """True if gradient checkpointing is on: blocks keep no activations and compute them again on the way back."""
    return any(getattr(module, "gradient_checkpointing", False) for module in model.modules())


@contextmanager
def scoring_mode(model: torch.nn.Module) -> Iterator[None]:
    """`eval_mode` in which gradient checkpointing still acts, for a pass with gradients.

    The blocks, and they alone, are told that they are training, and what they compute runs in `eval_mode`. That is so
    on the way back too, when this context has long ended: a block computed again with dropout would give the gradient
    of another function.
    """
    blocks = [module for module in model.modules() if isinstance(module, GradientCheckpointingLayer)]
    blocks = [block for block in blocks if block.gradient_checkpointing]
    checkpoints = [block._gradient_checkpointing_func for block in blocks]
    with eval_mode(model):
        try:
            for block, checkpoint in zip(blocks, checkpoints):
                block._gradient_checkpointing_func = partial(_checkpoint_in_eval_mode, block, checkpoint)
                block.training = True
            yield
        finally:
            for block, checkpoint in zip(blocks, checkpoints):
                block._gradient_checkpointing_func = checkpoint
                block.training = False


def _checkpoint_in_eval_mode(block: torch.nn.Module, checkpoint: Callable, forward: Callable, *args):
    def forward_in_eval_mode(*args):
        with eval_mode(block):
            return forward(*args)

    return checkpoint(forward_in_eval_mode, *args)
