"""Right losses of a reward model."""

from shared.losses import preference_loss


def ORACLE(chosen, rejected):
    return preference_loss(chosen, rejected)[0]
