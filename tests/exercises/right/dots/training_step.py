"""Right ways to make one update."""

import torch

from shared.training import apply_gradient

ORACLE = None


def plain(model, optimizer, loss, max_grad_norm):
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def cleared_first(model, optimizer, loss, max_grad_norm):
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(list(model.parameters()), max_norm=max_grad_norm)
    optimizer.step()
    return loss.item()


def by_the_helper(model, optimizer, loss, max_grad_norm):
    return apply_gradient(loss, model, optimizer, max_grad_norm)


def by_hand(model, optimizer, loss, max_grad_norm):
    parameters = list(model.parameters())
    gradients = torch.autograd.grad(loss, parameters)
    norm = torch.sqrt(sum((gradient**2).sum() for gradient in gradients))
    for parameter, gradient in zip(parameters, gradients):
        parameter.grad = gradient * min(1.0, (max_grad_norm / norm).item())
    optimizer.step()
    for parameter in parameters:
        parameter.grad = None


RIGHT = [plain, cleared_first, by_the_helper, by_hand]
EQUIVALENT = {
    "rewards is always 0": "the setting is the call's; a training step does not get it",
    "scale is always 1.0": "the setting is the call's; a training step does not get it",
    "learning_rate is always 0.1": "the setting is the call's; a training step does not get it",
}
