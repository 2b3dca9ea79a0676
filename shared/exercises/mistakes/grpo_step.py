"""Wrong steps: `f(model, reference, rollout, rewards, beta, epsilon) -> loss`, put together from right parts."""

import torch

from shared.advantages import group_advantages
from shared.exercises.mistakes import Mistakes
from shared.losses import grpo_loss

MISTAKES = Mistakes()


def _interleaved(prompts, rollout):
    """Rows of the prompts (N, P) in the order of the completions (B, P)."""
    return prompts.repeat_interleave(rollout.num_generations, dim=0)


def _tiled(prompts, rollout):
    return prompts.repeat(rollout.num_generations, 1)


def _logps(model, rollout, repeat=_interleaved):
    mask = torch.cat([repeat(rollout.prompt_mask, rollout), rollout.completion_mask], dim=1)
    ids = torch.cat([repeat(rollout.prompt_ids, rollout), rollout.completion_ids], dim=1)
    positions = (mask.cumsum(dim=1) - 1).clamp(min=0)
    logits = model(input_ids=ids, attention_mask=mask, position_ids=positions).logits
    logps = logits[:, rollout.prompt_ids.size(1) - 1 : -1].log_softmax(-1)
    return logps.gather(-1, rollout.completion_ids[..., None])[..., 0] * rollout.completion_mask


def _loss(rollout, logps, ref_logps, advantages, beta, epsilon, old_logps=None, mask=None):
    old_logps = rollout.old_logps if old_logps is None else old_logps
    mask = rollout.completion_mask if mask is None else mask
    return grpo_loss(logps, old_logps, advantages, mask, ref_logps.detach(), beta=beta, epsilon=epsilon)[0]


def _advantages(rollout, rewards):
    return group_advantages(rewards, rollout.num_generations)[0]


@MISTAKES.known(
    "The reference is the policy itself: both log-probabilities come from `model`, so the KL is 0 whatever happens. "
    "Score the rollout once with `model` and once, without gradient, with `reference`."
)
def reference_is_the_policy(model, reference, rollout, rewards, beta, epsilon):
    logps = _logps(model, rollout)
    return _loss(rollout, logps, logps, _advantages(rollout, rewards), beta, epsilon)


@MISTAKES.known("Policy and reference are exchanged: what is trained is `model`, what is compared with is `reference`.")
def models_exchanged(model, reference, rollout, rewards, beta, epsilon):
    return _loss(
        rollout, _logps(reference, rollout), _logps(model, rollout), _advantages(rollout, rewards), beta, epsilon
    )


@MISTAKES.known(
    "The prompts are repeated in the wrong order: `repeat` gives p0 p1 p0 p1, and the completions lie as p0 p0 p1 p1. "
    "Most completions are then scored after somebody else's prompt. Use `repeat_interleave(G, dim=0)`."
)
def prompts_tiled(model, reference, rollout, rewards, beta, epsilon):
    logps = _logps(model, rollout, _tiled)
    ref_logps = _logps(reference, rollout, _tiled)
    return _loss(rollout, logps, ref_logps, _advantages(rollout, rewards), beta, epsilon)


@MISTAKES.known(
    "The rewards go into the loss as they are. Without the group's mean taken off, every completion with a positive "
    "reward is made more likely, the worse ones included. Use the group advantages."
)
def rewards_as_advantages(model, reference, rollout, rewards, beta, epsilon):
    return _loss(rollout, _logps(model, rollout), _logps(reference, rollout), rewards, beta, epsilon)


@MISTAKES.known(
    "The group size is wrong: you divided the rewards into groups of N, the number of prompts. A group is the G "
    "completions of one prompt, `rollout.num_generations`."
)
def groups_of_the_wrong_size(model, reference, rollout, rewards, beta, epsilon):
    advantages = group_advantages(rewards, len(rollout.prompts))[0]
    return _loss(rollout, _logps(model, rollout), _logps(reference, rollout), advantages, beta, epsilon)


@MISTAKES.known(
    "The ratio is taken against the policy as it is now. It must be against the policy that sampled, "
    "`rollout.old_logps`: after the first update the two differ, and clipping rests on it."
)
def old_logps_are_new(model, reference, rollout, rewards, beta, epsilon):
    logps = _logps(model, rollout)
    advantages = _advantages(rollout, rewards)
    return _loss(rollout, logps, _logps(reference, rollout), advantages, beta, epsilon, old_logps=logps.detach())


@MISTAKES.known(
    "The ratio is of the log-probabilities with themselves and nothing is detached: it is 1 with a gradient of 0, and "
    "only the KL term trains. Use `rollout.old_logps`."
)
def ratio_with_itself(model, reference, rollout, rewards, beta, epsilon):
    logps = _logps(model, rollout)
    advantages = _advantages(rollout, rewards)
    return _loss(rollout, logps, _logps(reference, rollout), advantages, beta, epsilon, old_logps=logps)


@MISTAKES.known(
    "The ratio is taken against the reference. It corrects for the policy that sampled, `rollout.old_logps`; the "
    "reference belongs in the KL term only."
)
def ratio_against_the_reference(model, reference, rollout, rewards, beta, epsilon):
    ref_logps = _logps(reference, rollout).detach()
    advantages = _advantages(rollout, rewards)
    return _loss(rollout, _logps(model, rollout), ref_logps, advantages, beta, epsilon, old_logps=ref_logps)


@MISTAKES.known(
    "The padding counts: the mean runs over all C columns instead of each completion's own tokens, so short "
    "completions weigh less. Pass `rollout.completion_mask`."
)
def padding_counted(model, reference, rollout, rewards, beta, epsilon):
    logps = _logps(model, rollout)
    ref_logps = _logps(reference, rollout)
    mask = torch.ones_like(rollout.completion_mask)
    return _loss(rollout, logps, ref_logps, _advantages(rollout, rewards), beta, epsilon, mask=mask)


@MISTAKES.known(
    "The loss has no gradient: the policy's log-probabilities were made under `torch.no_grad()`. Only the reference's "
    "are."
)
def gradient_missing(model, reference, rollout, rewards, beta, epsilon):
    with torch.no_grad():
        logps = _logps(model, rollout)
        ref_logps = _logps(reference, rollout)
        return _loss(rollout, logps, ref_logps, _advantages(rollout, rewards), beta, epsilon)
