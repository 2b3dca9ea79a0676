"""Slips of what is handed to the loss, and of what is made of it."""

import torch

from shared.exercises.catalogue.common.every_loss import LOSS_SLIPS
from shared.exercises.catalogue.dots.step_loss.steps import LOSS, NORMALISED
from shared.exercises.steps import Slips

SLIPS = Slips()


@SLIPS.slip(
    "advantages",
    "The rewards go into the loss as they are. Without the group's mean taken off, every completion with a positive "
    "reward is made more likely, the worse ones included. Use the group advantages.",
)
def rewards_as_advantages(rewards):
    return rewards


@SLIPS.slip(
    "advantages",
    "The group size is wrong: you divided the rewards into groups of N, the number of prompts. A group is the G "
    "completions of one prompt, `rollout.num_generations`.",
)
def groups_of_the_wrong_size(rewards, rollout):
    return NORMALISED(rewards, len(rollout.prompts))


@SLIPS.slip("advantages", "The whole batch is one group. A group is the G completions of one prompt.")
def one_group(rewards):
    return NORMALISED(rewards, len(rewards))


@SLIPS.slip(
    "advantages", "The sign of the advantages is flipped: completions better than their group become less likely."
)
def advantages_negative(advantages):
    return -advantages


@SLIPS.slip(
    "old_logps",
    "The ratio is taken against the policy as it is now. It must be against the policy that sampled, "
    "`rollout.old_logps`: after the first update the two differ, and clipping rests on it.",
)
def old_logps_are_new(new_logps):
    return new_logps.detach()


@SLIPS.slip(
    "old_logps",
    "The ratio is of the log-probabilities with themselves and nothing is detached: it is 1 with a gradient of 0, and "
    "only the KL term trains. Use `rollout.old_logps`.",
)
def ratio_with_itself(new_logps):
    return new_logps


@SLIPS.slip(
    "old_logps",
    "The ratio is taken against the reference. It corrects for the policy that sampled, `rollout.old_logps`; the "
    "reference belongs in the KL term only.",
)
def ratio_against_the_reference(ref_logps):
    return ref_logps


@SLIPS.slip(
    "ref_logps",
    "The KL is taken against `rollout.old_logps`, the policy that sampled. It is against the frozen `reference`.",
)
def old_logps_as_reference(rollout):
    return rollout.old_logps


@SLIPS.slip(
    "mask",
    "The padding counts: the mean runs over all C columns instead of each completion's own tokens, so short "
    "completions weigh less. Pass `rollout.completion_mask`.",
)
def padding_counted(mask):
    return torch.ones_like(mask)


@SLIPS.slip("beta", "beta is written down as 0.02: the argument changes nothing. Use the name `beta`.")
def beta_hard_coded():
    return 0.02


SLIPS.extend(LOSS_SLIPS.named("epsilon_hard_coded"))


@SLIPS.slip("step_loss", "beta and epsilon are exchanged in the call of the loss: beta comes first.")
def beta_and_epsilon_exchanged(new_logps, old_logps, advantages, mask, ref_logps, beta, epsilon):
    return LOSS(new_logps, old_logps, advantages, mask, ref_logps, epsilon, beta)


@SLIPS.slip(
    "step_loss", "The sign of the loss is flipped: an optimiser minimises it, and `grpo_loss` has the sign already."
)
def sign_flipped(step_loss):
    return -step_loss


@SLIPS.slip(
    "new_logps",
    "The loss has no gradient: the policy's log-probabilities were made under `torch.no_grad()`. Only the reference's "
    "are.",
)
def gradient_missing(new_logps):
    return new_logps.detach()


@SLIPS.slip(
    "step_loss",
    "The log-probabilities of the policy that sampled and of the reference are exchanged in the call of the loss: the "
    "ratio is against `rollout.old_logps`, the KL against the reference.",
)
def old_and_reference_exchanged(new_logps, old_logps, advantages, mask, ref_logps, beta, epsilon):
    return LOSS(new_logps, ref_logps, advantages, mask, old_logps, beta, epsilon)
