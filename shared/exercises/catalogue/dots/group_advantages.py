"""Group advantages: `group_advantages(rewards, num_generations) -> advantages`, (B,) to (B,)."""

import torch

from shared.exercises.arguments import Numbers, Size
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def groups(rewards, num_generations):
    return rewards.view(-1, num_generations)


@STEPS.step
def baseline(groups):
    return groups.mean(dim=1, keepdim=True)


@STEPS.step
def centred(groups, baseline):
    return groups - baseline


@STEPS.step
def spread(groups):
    return groups.std(dim=1, correction=0, keepdim=True)


@STEPS.step
def added():
    """The number that keeps the denominator from 0."""
    return 1e-4


@STEPS.step
def scaled(centred, spread, added):
    return centred / (spread + added)


@STEPS.step
def advantages(scaled):
    return scaled.reshape(-1)


@STEPS.slip(
    "spread",
    "Your advantages use the sample standard deviation (divide by G - 1), which is what `torch.std` does unless told "
    "otherwise: with G = 2 every advantage is 0.71 of what it should be. Pass `correction=0`.",
)
def sample_standard_deviation(groups):
    return groups.std(dim=1, keepdim=True)


@STEPS.slip(
    "added",
    "A group whose rewards are all equal gives nan: 0 divided by a standard deviation of 0. One such group turns the "
    "whole loss into nan. Add a small number to the denominator.",
)
def nothing_added():
    return 0.0


@STEPS.slip(
    "scaled",
    "The small number is added to the variance, below the root: where rewards differ little the advantages get smaller. "
    "Add it to the standard deviation.",
)
def added_below_the_root(centred, spread, added):
    return centred / (spread**2 + added).sqrt()


@STEPS.slip("added", "You add 1 to the standard deviation. It is to be kept from 0, not to be changed: add 1e-4.")
def one_added():
    return 1.0


@STEPS.slip(
    "spread",
    "The standard deviation is the whole batch's. That is a variant with a name "
    '(`scale_rewards="batch"`), not the one asked for here: take it over dim=1 of the (prompts, G) view.',
)
def scaled_by_the_batch(groups):
    return groups.std(correction=0)


@STEPS.slip(
    "scaled",
    "You do not divide by the group's standard deviation. That is Dr. GRPO "
    '(`scale_rewards="none"`); GRPO as asked for here divides as well.',
)
def not_scaled(centred):
    return centred


@STEPS.slip(
    "centred",
    "You do not subtract the group's mean. Without the baseline every completion "
    "with a positive reward is made more likely, the worst of a group too.",
)
def not_centred(groups):
    return groups


@STEPS.slip(
    "centred",
    "The sign is the wrong way round: completions better than their group get a negative advantage. It is "
    "reward minus mean.",
)
def sign_flipped(centred):
    return -centred


@STEPS.slip(
    "num_generations", "The group size is written down as 8: the argument changes nothing. Use `num_generations`."
)
def groups_of_eight():
    return 8


@STEPS.slip("spread", "You divide by the mean absolute deviation. Asked for is the standard deviation.")
def mean_absolute_deviation(centred):
    return centred.abs().mean(dim=1, keepdim=True)


@STEPS.slip(
    "baseline",
    "You compare each completion with the mean of the others (leave-one-out, as RLOO does). GRPO subtracts the mean of "
    "the whole group.",
)
def leave_one_out(groups, num_generations):
    return (groups.sum(dim=1, keepdim=True) - groups) / (num_generations - 1)


@STEPS.slip("advantages", "The advantages are clipped to -1 and 1. Clipping belongs to the ratio in the loss.")
def clipped(advantages):
    return advantages.clamp(-1, 1)


REWARDS = ([0.0, 1.0], [0.0, 0.5, 1.0], [0.0, 0.1, 1.0, 2.0], [-1.0, 0.0, 3.0, 5.0])


@STEPS.slip(
    "advantages",
    "Every N-th completion is in one group: you view the rewards as (G, N) and go along dim=0. The G completions of a "
    "prompt stand next to each other, so the view is (N, G) and the mean is over dim=1.",
)
def viewed_the_other_way(rewards, num_generations, added):
    columns = rewards.view(num_generations, -1)
    centred = columns - columns.mean(dim=0, keepdim=True)
    return (centred / (columns.std(dim=0, correction=0, keepdim=True) + added)).reshape(-1)


@STEPS.slip(
    "groups",
    "The whole batch is one group. A group is the G completions of a prompt: view the rewards as (prompts, G) first.",
)
def one_group(rewards):
    return rewards.view(1, -1)


@STEPS.slip(
    "spread",
    "You divide by the length of the group's deviations, the root of the sum of their squares. In a standard deviation it "
    "is their mean: the division by G below the root is missing.",
)
def length_of_the_deviations(centred):
    return centred.norm(dim=1, keepdim=True)


def draw(draw: Draw) -> Case:
    N = draw.size(4)
    G = draw.choice([2, 3, 4, 5, 8]) + draw.more()
    if draw.random() < 0.3:
        rewards = draw.numbers(N * G, least=-3, most=3)
    else:
        rewards = torch.tensor(draw.some(draw.choice(REWARDS), N * G))
    if draw.random() < 0.3:
        rewards.view(N, G)[draw.randrange(N)] = draw.choice([0.0, 0.5, 1.0, 2.0])
    return {"rewards": rewards, "num_generations": G}


def valid(case: Case) -> bool:
    """At least two completions a group, whose rewards are equal or clearly not: any small number may be added."""
    if case["num_generations"] < 2:
        return False
    spread = case["rewards"].view(-1, case["num_generations"]).std(dim=1, correction=0)
    return bool(((spread == 0) | (spread > 0.1)).all())


def boundary() -> list[Case]:
    def case(rewards: list[float], G: int) -> Case:
        return {"rewards": torch.tensor(rewards), "num_generations": G}

    return [
        case([1.0, 0.0], 2),
        case([0.0, 0.0], 2),
        case([1.0, 1.0, 1.0], 3),
        case([2.0, 1.0, -1.0], 3),
        case([1.0, 0.0, 3.0, 1.0], 2),
        case([1.0, 0.0, 0.0, 1.0, 0.5, 0.0, 0.0, 0.0], 4),
        case([0.5, 0.5, 0.5, 0.5, 0.75, 0.25, 0.5, 0.5], 4),
        case([1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0], 8),
        case([0.22, 0.0], 2),
    ]


EXERCISE = Exercise(
    name="group advantages",
    function="group_advantages",
    contract="`f(rewards (B,), num_generations) -> advantages (B,)`.",
    steps=STEPS,
    arguments={"rewards": Numbers("N*G"), "num_generations": Size(axis="G", usual=4)},
    result=TensorOf("B"),
    draw=draw,
    boundary=boundary,
    valid=valid,
    tolerance=2e-3,  # 1e-4 is asked for; less is as good
)
