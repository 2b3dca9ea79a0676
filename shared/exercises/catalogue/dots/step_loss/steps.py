"""One GRPO step put together from right parts: the rollout is scored twice, its rewards are normalised, the loss follows."""

from shared.exercises.catalogue.dots import completion_logps, grpo_loss
from shared.exercises.catalogue.dots import group_advantages as advantages_exercise
from shared.exercises.steps import Steps

STEPS = Steps()
SCORED = completion_logps.EXERCISE.reference()
NORMALISED = advantages_exercise.EXERCISE.reference()
LOSS = grpo_loss.EXERCISE.reference()


@STEPS.step
def group_size(rollout):
    return rollout.num_generations


@STEPS.step
def prompt_ids(rollout, group_size):
    return rollout.prompt_ids.repeat_interleave(group_size, dim=0)


@STEPS.step
def prompt_mask(rollout, group_size):
    return rollout.prompt_mask.repeat_interleave(group_size, dim=0)


@STEPS.step
def batch(prompt_ids, prompt_mask, rollout):
    return prompt_ids, prompt_mask, rollout.completion_ids, rollout.completion_mask


@STEPS.step
def new_logps(model, batch):
    return SCORED(model, *batch)


@STEPS.step
def ref_logps(reference, batch):
    return SCORED(reference, *batch).detach()


@STEPS.step
def old_logps(rollout):
    return rollout.old_logps


@STEPS.step
def advantages(rewards, group_size):
    return NORMALISED(rewards, group_size)


@STEPS.step
def mask(rollout):
    return rollout.completion_mask


@STEPS.step
def step_loss(new_logps, old_logps, advantages, mask, ref_logps, beta, epsilon):
    return LOSS(new_logps, old_logps, advantages, mask, ref_logps, beta, epsilon)
