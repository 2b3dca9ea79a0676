"""Right ways to write the clipped value loss."""

import torch

from shared import losses


def ORACLE(values, old_values, returns, completion_mask, epsilon):
    return losses.clipped_value_loss(values, old_values, returns, completion_mask, epsilon)[0]


def selected(values, old_values, returns, mask, epsilon):
    real = mask.bool()
    values, old_values, returns = values[real], old_values[real], returns[real]
    clipped = torch.clip(values, old_values - epsilon, old_values + epsilon)
    return 0.5 * torch.max((values - returns).square(), (clipped - returns).square()).mean()


def token_by_token(values, old_values, returns, mask, epsilon):
    total = 0.0
    for v, o, r, m in zip(values.flatten(), old_values.flatten(), returns.flatten(), mask.flatten()):
        if m:
            clipped = o + torch.clamp(v - o, -epsilon, epsilon)
            total = total + torch.maximum((v - r) ** 2, (clipped - r) ** 2) / 2
    return total / mask.sum()


def with_where(values, old_values, returns, mask, epsilon):
    clipped = torch.minimum(torch.maximum(values, old_values - epsilon), old_values + epsilon)
    free, limited = (values - returns).pow(2), (clipped - returns).pow(2)
    worse = torch.where(free >= limited, free, limited)
    return (worse.masked_fill(mask == 0, 0.0).sum() / mask.sum()) * 0.5


def in_double(values, *arguments):
    return selected(values.double(), *arguments)


RIGHT = [selected, token_by_token, with_where, in_double]
EQUIVALENT = {
    "free_error: return (returns - values) ** 2": "a square has no sign",
    "clipped_error: return (returns - clipped) ** 2": "a square has no sign",
    "worse: return torch.maximum(clipped_error, free_error)": "the larger of two is the same in any order",
}
