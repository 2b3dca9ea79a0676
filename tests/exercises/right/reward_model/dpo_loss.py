"""Right ways to write DPO's loss."""

from shared.dpo import dpo_loss


def ORACLE(chosen, rejected, ref_chosen, ref_rejected, beta):
    return dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta)[0]


EQUIVALENT = {
    "chosen and ref_rejected exchanged": "both stand in the margin with a plus",
    "rejected and ref_chosen exchanged": "both stand in the margin with a minus",
}
