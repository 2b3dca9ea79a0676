"""Right losses of a reward model."""

from shared.reward_model import preference_loss


def ORACLE(chosen, rejected):
    return preference_loss(chosen, rejected)[0]
