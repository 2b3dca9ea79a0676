"""Right ways to make one update."""

import torch

from shared.training import apply_gradient

ORACLE = None


def cleared_first(model, optimizer, loss, max_grad_norm):
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(list(model.parameters()), max_norm=max_grad_norm)
    optimizer.step()
    return loss.item()


def by_the_helper(model, optimizer, loss, max_grad_norm):
    return apply_gradient(loss, model, optimizer, max_grad_norm)


RIGHT = [cleared_first, by_the_helper]
EQUIVALENT = {
    "rewards is always 0": "the setting is the call's; a training step does not get it",
    "scale is always 1.0": "the setting is the call's; a training step does not get it",
    "learning_rate is always 0.1": "the setting is the call's; a training step does not get it",
}
