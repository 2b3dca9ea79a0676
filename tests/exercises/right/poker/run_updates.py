"""Right ways to make the updates of a run."""

import torch

from shared.training import apply_gradient

ORACLE = None


def cleared_first(model, loss_of, steps, learning_rate, max_grad_norm):
    """Adam without a decay of weights is AdamW without one."""
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    step = 0
    while step < steps:
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(step)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(list(model.parameters()), max_norm=max_grad_norm)
        optimizer.step()
        step += 1
    return model


def fused(model, loss_of, steps, learning_rate, max_grad_norm):
    """Another order of sums, whose last digits differ."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=0.0, fused=True)
    for step in range(steps):
        apply_gradient(loss_of(step), model, optimizer, max_grad_norm)


RIGHT = [cleared_first, fused]
EQUIVALENT = {"rewards is always 0": "what the losses are made of is the call's; the function does not get it"}
