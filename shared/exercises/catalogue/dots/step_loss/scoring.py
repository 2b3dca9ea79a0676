"""Slips of scoring: by which model, and after which prompts."""

import torch

from shared.exercises.catalogue.dots.step_loss.steps import LOSS, SCORED
from shared.exercises.steps import Slips

SLIPS = Slips()


@SLIPS.slip(
    "reference",
    "The KL is 0 whatever happens: the reference is the policy itself (score the rollout once with `model` and once, "
    "without gradient, with `reference`), or `beta` is not passed on.",
)
def reference_is_the_policy(model):
    return model


@SLIPS.slip(
    "new_logps",
    "The policy is never scored: its log-probabilities come from `reference`, and `model` gets no gradient.",
)
def policy_is_the_reference(reference, batch):
    return SCORED(reference, *batch)


@SLIPS.slip(
    "step_loss",
    "Policy and reference are exchanged: what is trained is `model`, what is compared with is `reference`.",
)
def models_exchanged(model, reference, batch, old_logps, advantages, mask, beta, epsilon):
    return LOSS(SCORED(reference, *batch), old_logps, advantages, mask, SCORED(model, *batch).detach(), beta, epsilon)


@SLIPS.slip(
    "batch",
    "The prompts are repeated in the wrong order: `repeat` gives p0 p1 p0 p1, and the completions lie as p0 p0 p1 p1. "
    "Completions are then scored after somebody else's prompt. Use `repeat_interleave(G, dim=0)`.",
)
def prompts_tiled(rollout, group_size):
    ids = rollout.prompt_ids.repeat(group_size, 1)
    return ids, rollout.prompt_mask.repeat(group_size, 1), rollout.completion_ids, rollout.completion_mask


@SLIPS.slip(
    "batch",
    "The prompts are not repeated: there are N of them and N times G completions. Use `repeat_interleave(G, dim=0)`.",
)
def prompts_not_repeated(rollout):
    return rollout.prompt_ids, rollout.prompt_mask, rollout.completion_ids, rollout.completion_mask


@SLIPS.slip("prompt_mask", "The mask of the prompts is all ones: the padding before short prompts is read as text.")
def prompt_mask_of_ones(prompt_ids):
    return torch.ones_like(prompt_ids)


@SLIPS.slip(
    "prompt_mask",
    "The masks of the prompts are repeated in the wrong order, p0 p1 p0 p1, and the prompts are not: prompts get "
    "somebody else's padding. Use `repeat_interleave(G, dim=0)` for both.",
)
def masks_tiled(rollout, group_size):
    return rollout.prompt_mask.repeat(group_size, 1)


@SLIPS.slip(
    "prompt_ids",
    "The prompts are repeated in the wrong order, p0 p1 p0 p1, and their masks are not. Use `repeat_interleave(G, dim=0)` "
    "for both.",
)
def ids_tiled(rollout, group_size):
    return rollout.prompt_ids.repeat(group_size, 1)
