"""Right ways to write DPO's loss."""

import torch

from shared.losses import preference_loss


def ORACLE(chosen, rejected, ref_chosen, ref_rejected, beta):
    return preference_loss(beta * (chosen - ref_chosen), beta * (rejected - ref_rejected))[0]


def policy_and_reference_apart(chosen, rejected, ref_chosen, ref_rejected, beta):
    logits = (chosen - rejected) - (ref_chosen - ref_rejected)
    return -torch.nn.functional.logsigmoid(beta * logits).mean()


def by_softplus(chosen, rejected, ref_chosen, ref_rejected, beta):
    implicit = {"chosen": beta * (chosen - ref_chosen), "rejected": beta * (rejected - ref_rejected)}
    return torch.nn.functional.softplus(implicit["rejected"] - implicit["chosen"]).mean()


def by_log_softmax(chosen, rejected, ref_chosen, ref_rejected, beta):
    rewards = beta * torch.stack([chosen - ref_chosen, rejected - ref_rejected])
    return -rewards.log_softmax(dim=0)[0].mean()


RIGHT = [policy_and_reference_apart, by_softplus, by_log_softmax]
EQUIVALENT = {
    "chosen and ref_rejected exchanged": "both stand in the margin with a plus",
    "rejected and ref_chosen exchanged": "both stand in the margin with a minus",
}
