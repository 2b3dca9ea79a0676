"""Right ratios of whole completions."""

from shared.losses import log_ratios


def ORACLE(logps, old_logps, completion_mask):
    return log_ratios(logps, old_logps, completion_mask, "sequence")[:, 0].exp()
