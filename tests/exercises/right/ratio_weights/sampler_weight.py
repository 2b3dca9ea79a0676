"""Right truncated weights of another sampler."""

from shared.losses import sampler_correction


def ORACLE(logps, sampler_logps, completion_mask, bound):
    return sampler_correction(logps, sampler_logps, completion_mask, "sequence_truncate", bound)[:, 0]
