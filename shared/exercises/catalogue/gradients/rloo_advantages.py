"""Leave-one-out advantages: `rloo_advantages(rewards) -> advantages`, (..., G) each."""

import torch

from shared.exercises.arguments import Numbers
from shared.exercises.catalogue.common.every_loss import LOSS_SLIPS
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def others(rewards):
    """The summed rewards of the other completions of the group."""
    return rewards.sum(dim=-1, keepdim=True) - rewards


@STEPS.step
def count(rewards):
    return rewards.size(-1) - 1


@STEPS.step
def baseline(others, count):
    return others / count


@STEPS.step
def advantages(rewards, baseline):
    return rewards - baseline


@STEPS.slip(
    "baseline",
    "The baseline is the mean of the whole group, each reward's own included: that shrinks the gradient by (G - 1) / G. "
    "Leave each reward out of its own mean.",
)
def group_mean(rewards):
    return rewards.mean(dim=-1, keepdim=True)


@STEPS.slip("baseline", "The baseline is missing: you return the rewards.")
def no_baseline(rewards):
    return torch.zeros_like(rewards)


@STEPS.slip("baseline", "The baseline is the median of the group. Asked for is the mean of the others.")
def median(rewards):
    return rewards.median(dim=-1, keepdim=True).values


@STEPS.slip("count", "You divide the sum of the others by G. They are G - 1.")
def divided_by_all(rewards):
    return rewards.size(-1)


@STEPS.slip("count", "You subtract the sum of the others: divide it by G - 1.")
def not_divided():
    return 1


@STEPS.slip("others", "You divide the sum of the whole group by G - 1. Take each reward out of its own sum first.")
def own_reward_kept(rewards):
    return rewards.sum(dim=-1, keepdim=True).expand_as(rewards)


@STEPS.slip(
    "others",
    "The sum runs along the wrong axis, over prompts instead of completions. A group lies along the last axis, dim=-1.",
)
def over_prompts(rewards):
    return rewards.sum(dim=0, keepdim=True) - rewards


@STEPS.slip("others", "The sum runs over the whole batch. A group is the G numbers along the last axis, dim=-1.")
def over_the_batch(rewards):
    return rewards.sum() - rewards


STEPS.add(*LOSS_SLIPS.named("sign_flipped"))


@STEPS.slip(
    "advantages",
    "You divide by the group's standard deviation. GRPO does; the leave-one-out advantage stays as it is, and so its "
    "gradient keeps the right direction.",
)
def divided_by_std(advantages, rewards):
    return advantages / (rewards.std(dim=-1, keepdim=True) + 1e-4)


@STEPS.slip(
    "advantages",
    "This is GRPO's advantage: the own reward counts in the mean, and the deviation divides. Take the mean of the others, "
    "and do not divide.",
)
def grpo_instead(rewards):
    centred = rewards - rewards.mean(dim=-1, keepdim=True)
    return centred / (rewards.std(dim=-1, correction=0, keepdim=True) + 1e-4)


@STEPS.slip(
    "advantages", "You return the mean over the group, which is 0. Keep one advantage for each completion, (..., G)."
)
def averaged(advantages):
    return advantages.mean(dim=-1)


def call(function, case: Case):
    """Axes of one place are left away: rewards come as (G,), (N, G) or (D, N, G)."""
    (rewards,) = case.values()
    while rewards.dim() > 1 and len(rewards) == 1:
        rewards = rewards[0]
    return function(rewards)


@STEPS.slip("count", "G is the length of the first axis in yours. A group lies along the last: `rewards.size(-1)`.")
def first_axis_counted(rewards):
    return rewards.size(0) - 1


@STEPS.slip(
    "advantages",
    "You multiply the reward minus the group's mean by (G - 1) / G. The other way round: the mean without the own reward "
    "is further away, so it is times G / (G - 1).",
)
def scaled_the_other_way(advantages, rewards):
    G = rewards.size(-1)
    return advantages * ((G - 1) / G) ** 2


@STEPS.slip(
    "others",
    "The axis of the sum is lost, and it lines up with the wrong one where there are several groups: `keepdim=True`.",
)
def axis_lost(rewards):
    return rewards.sum(dim=-1) - rewards


@STEPS.slip("baseline", "The baseline is the best of the others. Asked for is their mean.")
def best_of_the_others(rewards):
    G = rewards.size(-1)
    alone = torch.eye(G, dtype=torch.bool)
    return rewards[..., None, :].expand(*rewards.shape, G).masked_fill(alone, -torch.inf).amax(dim=-1)


@STEPS.slip("advantages", "You return the baseline. The advantage is the reward minus it.")
def baseline_returned(baseline):
    return baseline


@STEPS.slip(
    "advantages",
    "The mean of the others runs over the whole batch, all groups together. Take that of the own group: sums over dim=-1.",
)
def others_of_all_groups(rewards):
    return rewards - (rewards.sum() - rewards) / (rewards.numel() - 1)


def draw(draw: Draw) -> Case:
    return {"rewards": draw.numbers(draw.size(3), draw.size(3), draw.size(5, least=2))}


def boundary() -> list[Case]:
    one = torch.tensor([[[1.0, 0.0]]])
    return [
        {"rewards": one},
        {"rewards": torch.ones(1, 1, 3)},
        {"rewards": torch.tensor([[[1.0, 0.0, 0.0, 3.0]]])},
        {"rewards": torch.tensor([[[1.0, 0.0], [0.5, 2.0], [0.0, 0.0]]])},
        {"rewards": torch.tensor([[[1.0, 0.0, 0.0], [0.5, 2.0, 1.0]], [[1.0, 1.0, 1.0], [0.0, -1.0, 0.5]]])},
    ]


EXERCISE = Exercise(
    name="leave-one-out advantages",
    function="rloo_advantages",
    contract="`f(rewards (..., G)) -> advantages (..., G)`, each reward minus the mean of the others.",
    steps=STEPS,
    arguments={"rewards": Numbers("D N G")},
    result=TensorOf("D N G"),
    draw=draw,
    boundary=boundary,
    ranks=(2,),
    doubles=True,
    long=70,
    valid=lambda case: case["rewards"].size(-1) > 1,
    call=call,
)
