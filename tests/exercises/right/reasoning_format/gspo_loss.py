"""Right ways to write the loss with one ratio for each completion."""

from shared.losses import sequence_loss


def ORACLE(logps, old_logps, advantages, ref_logps, beta, epsilon):
    return sequence_loss(logps, old_logps, advantages, ref_logps, beta=beta, epsilon=epsilon)[0]


EQUIVALENT = {"surrogate: return torch.minimum(clipped, free)": "of two numbers or truths, in any order"}
