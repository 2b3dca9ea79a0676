"""Right rates of a detector."""

import numpy as np


def ORACLE(calm, honest, hacked, allowed):
    """By counting: the smallest calm value above which no more lie than are allowed."""
    threshold = min(value for value in calm if sum(other > value for other in calm) <= allowed)
    return tuple(float(np.mean(np.array(runs) > threshold)) for runs in (hacked, honest))


EQUIVALENT = {}
