"""Sums and quotients of numbers that are kept as logarithms, of which -inf is the logarithm of 0."""

import numpy as np
from jaxtyping import Float

from shared.irl.worlds import PerState, Policy


def logsumexp(x: Float[np.ndarray, "S A"]) -> PerState:
    """log sum_a exp x, where a row may hold only -inf."""
    columns = np.ascontiguousarray(x.T)  # numpy reduces a few long rows faster than many short ones
    top = columns.max(axis=0)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(columns - safe).sum(axis=0)) + safe


def normalised(log_weights: Float[np.ndarray, "S A"], log_sums: PerState) -> Policy:
    """exp(log_weights - log_sums), uniform where the sum is 0."""
    possible = np.isfinite(log_sums)[:, None]
    with np.errstate(invalid="ignore"):
        return np.where(possible, np.exp(log_weights - log_sums[:, None]), 1.0 / log_weights.shape[1])
