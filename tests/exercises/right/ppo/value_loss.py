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


def in_double(values, *arguments):
    return selected(values.double(), *arguments)


RIGHT = [in_double]
EQUIVALENT = {
    "free_error: return (returns - values) ** 2": "a square has no sign",
    "clipped_error: return (returns - clipped) ** 2": "a square has no sign",
    "worse: return torch.maximum(clipped_error, free_error)": "the larger of two is the same in any order",
}
