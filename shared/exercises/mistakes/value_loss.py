"""Wrong clipped value losses: `f(values, old_values, returns, completion_mask, epsilon) -> loss`."""

import torch

from shared.exercises.mistakes import Mistakes

MISTAKES = Mistakes()


def _mean(per_token, mask):
    return (per_token * mask).sum() / mask.sum()


def _errors(values, old_values, returns, epsilon):
    clipped = old_values + (values - old_values).clamp(-epsilon, epsilon)
    return (values - returns) ** 2, (clipped - returns) ** 2


@MISTAKES.known("The smaller of the two errors is taken: clipping must not make the loss look better. Take the larger.")
def minimum_of_the_two(values, old_values, returns, completion_mask, epsilon):
    return _mean(torch.minimum(*_errors(values, old_values, returns, epsilon)), completion_mask) / 2


@MISTAKES.known("There is no clipping: compare with the error of the value clipped to old value plus or minus epsilon.")
def not_clipped(values, old_values, returns, completion_mask, epsilon):
    return _mean(_errors(values, old_values, returns, epsilon)[0], completion_mask) / 2


@MISTAKES.known("Only the clipped error is used: a value that has moved too far then gets no gradient to come back.")
def clipped_only(values, old_values, returns, completion_mask, epsilon):
    return _mean(_errors(values, old_values, returns, epsilon)[1], completion_mask) / 2


@MISTAKES.known("The half is missing: the loss is the mean of the larger squared error, divided by 2.")
def half_forgotten(values, old_values, returns, completion_mask, epsilon):
    return _mean(torch.maximum(*_errors(values, old_values, returns, epsilon)), completion_mask)


@MISTAKES.known(
    "The value is clipped around the return, not around the old value: the target is then never missed by much."
)
def clipped_around_the_return(values, old_values, returns, completion_mask, epsilon):
    clipped = returns + (values - returns).clamp(-epsilon, epsilon)
    return _mean((clipped - returns) ** 2, completion_mask) / 2


@MISTAKES.known("The mean runs over the padding as well. Multiply by the mask and divide by its sum.")
def mask_ignored(values, old_values, returns, completion_mask, epsilon):
    return torch.maximum(*_errors(values, old_values, returns, epsilon)).mean() / 2


@MISTAKES.known("The gradient is missing: `values` is detached, so the critic never learns.")
def gradient_missing(values, old_values, returns, completion_mask, epsilon):
    return (
        _mean(torch.maximum(*_errors(values.detach(), old_values, returns, epsilon)), completion_mask) / 2
        + 0 * values.sum()
    )
