"""Right ways to write DPO's loss."""

from shared.losses import preference_loss


def ORACLE(chosen, rejected, ref_chosen, ref_rejected, beta):
    return preference_loss(beta * (chosen - ref_chosen), beta * (rejected - ref_rejected))[0]


EQUIVALENT = {
    "chosen and ref_rejected exchanged": "both stand in the margin with a plus",
    "rejected and ref_chosen exchanged": "both stand in the margin with a minus",
}
