"""Right promises."""

from shared.losses import log_ratios


def ORACLE(logps, old_logps, completion_mask, rewards):
    """The product of a completion's ratios is GSPO's root to the power of its length."""
    roots = log_ratios(logps, old_logps, completion_mask, "sequence")[:, 0]
    return ((roots * completion_mask.sum(dim=1)).exp() @ rewards) / len(rewards)
