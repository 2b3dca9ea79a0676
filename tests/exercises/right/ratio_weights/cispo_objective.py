"""Right objectives of CISPO."""

from shared.losses import cispo_loss


def ORACLE(logps, old_logps, advantages, bound):
    return -cispo_loss(logps, logps - old_logps, advantages[:, None], bound)
