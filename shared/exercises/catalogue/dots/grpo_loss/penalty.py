"""Slips of the KL term: which estimate, against whom, and how much it counts."""

import torch

from shared.exercises.catalogue.common.every_loss import LOSS_SLIPS
from shared.exercises.steps import Slips

SLIPS = Slips()


@SLIPS.slip(
    "penalty", "There is no KL term: beta changes nothing. Add `beta * per_token_kl(logps, ref_logps)` to every token."
)
def kl_forgotten(logps):
    return torch.zeros_like(logps)


SLIPS.extend(LOSS_SLIPS.named("beta_forgotten", "kl_rewarded"))


@SLIPS.slip("beta", "beta is written as 0.04 in your function: the argument changes nothing. Use the name `beta`.")
def beta_hard_coded():
    return 0.04


@SLIPS.slip(
    "token_kl",
    "The KL term is k1 = logps - ref_logps. Its gradient as a penalty has mean 0; use k3 = exp(log_r) - log_r - 1.",
)
def k1_instead(log_r):
    return -log_r


@SLIPS.slip("token_kl", "The KL term is k2 = log_r² / 2. Asked for is k3 = exp(log_r) - log_r - 1.")
def k2_instead(log_r):
    return log_r**2 / 2


@SLIPS.slip(
    "log_r",
    "The KL is taken against `old_logps`, the policy that sampled. It is against the frozen reference, `ref_logps`.",
)
def kl_against_the_sampling_policy(logps, old_logps):
    return old_logps - logps


@SLIPS.slip(
    "log_r",
    "The KL is that of the policy that sampled: `old_logps` stand in the place of `logps`, and the penalty has no gradient. It "
    "is that of the policy in training.",
)
def kl_of_the_sampling_policy(old_logps, ref_logps):
    return ref_logps - old_logps


@SLIPS.slip(
    "token_kl",
    "The KL term has no gradient: it is detached, or stands inside `torch.no_grad()`. It then shows in the loss and "
    "holds nothing back.",
)
def kl_detached(token_kl):
    return token_kl.detach()


@SLIPS.slip(
    "penalty",
    "The KL term is masked and then divided by all positions, padding included: short completions are held less. Divide by "
    "each completion's own number of tokens.",
)
def kl_divided_by_all_positions(penalty, completion_mask):
    return (penalty * completion_mask).mean()


@SLIPS.slip("penalty", "The KL term is averaged over all positions, padding included. Mask it like the policy term.")
def kl_of_padding(penalty):
    return penalty.mean()


@SLIPS.slip(
    "loss",
    "The KL term is averaged over all tokens of the batch and the policy term by completion: a long completion weighs more "
    "in the one than in the other. Average their difference, by completion.",
)
def kl_averaged_over_all_tokens(surrogate, penalty, completion_mask):
    of_completions = (surrogate * completion_mask).sum(dim=1) / completion_mask.sum(dim=1)
    return (penalty * completion_mask).sum() / completion_mask.sum() - of_completions.mean()
