"""The importance-sampled mean reward: `promise(logps, old_logps, completion_mask, rewards) -> number`."""

import torch

from shared.exercises.arguments import Mask, Numbers
from shared.exercises.catalogue.common.every_loss import LOSS_SLIPS
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import Number
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def log_ratio(logps, old_logps):
    return logps - old_logps


@STEPS.step
def counted(log_ratio, completion_mask):
    return torch.where(completion_mask == 1, log_ratio, torch.zeros_like(log_ratio))


@STEPS.step
def ratio(counted):
    return torch.exp(counted.sum(dim=1))


@STEPS.step
def promise(ratio, rewards):
    return (ratio * rewards).mean()


STEPS.add(*LOSS_SLIPS.named("upside_down", "padding_counts", "logarithms_divided"))


@STEPS.slip("log_ratio", "The old policy is missing: this counts a completion by its probability today alone.")
def without_the_old_policy(logps):
    return logps


@STEPS.slip(
    "ratio", "This is the root that GSPO takes. The mean is exact with the product: sum, and divide by nothing."
)
def root_taken(counted, completion_mask):
    return torch.exp(counted.sum(dim=1) / completion_mask.sum(dim=1))


@STEPS.slip("ratio", "You add the tokens' ratios up. The ratio of a completion is their product: sum the logarithms.")
def ratios_added(log_ratio, completion_mask):
    return torch.where(completion_mask == 1, log_ratio.exp(), 0.0).sum(dim=1)


@STEPS.slip("ratio", "The exponential is missing: this weighs the rewards with logarithms of ratios.")
def exponential_forgotten(counted):
    return counted.sum(dim=1)


@STEPS.slip("promise", "The rewards are missing: this is the mean ratio.")
def without_rewards(ratio):
    return ratio.mean()


@STEPS.slip(
    "promise", "You divide by the sum of the ratios. That mean never passes the highest reward, and is not exact."
)
def divided_by_ratios(ratio, rewards):
    return (ratio * rewards).sum() / ratio.sum()


@STEPS.slip("promise", "The mean over the completions is missing: divide the sum by B.")
def not_averaged(ratio, rewards):
    return (ratio * rewards).sum()


@STEPS.slip(
    "promise", "You average over the completions that earned something. Those that earned nothing were drawn too."
)
def rewarded_alone(ratio, rewards):
    return (ratio * rewards).sum() / (rewards != 0).sum().clamp(min=1)


def draw(draw: Draw) -> Case:
    B, C = draw.size(), draw.size()
    mask = draw.mask(B, C)
    old = draw.numbers(B, C, least=-4, most=-0.1)
    return {
        "logps": draw.garbage(old + draw.numbers(B, C, least=-1, most=1), mask),
        "old_logps": draw.garbage(old, mask),
        "completion_mask": mask,
        "rewards": draw.choice(
            [draw.numbers(B, least=-20, most=20), torch.tensor([float(draw.randint(0, 1)) for _ in range(B)])]
        ),
    }


def boundary() -> list[Case]:
    old = torch.tensor([[-1.0, -2.0, -0.5], [-0.1, -3.0, -1.5]])
    new = old + torch.tensor([[1.0, -0.5, 0.25], [0.5, 3.0, 2.0]])
    mask = torch.tensor([[1, 1, 1], [1, 0, 0]])
    rewards = torch.tensor([1.0, 0.0])
    return [
        {"logps": new, "old_logps": old, "completion_mask": mask, "rewards": rewards},
        {"logps": old.clone(), "old_logps": old, "completion_mask": mask, "rewards": rewards},
        {"logps": new, "old_logps": old, "completion_mask": torch.ones(2, 3), "rewards": rewards.flip(0)},
    ]


EXERCISE = Exercise(
    name="promise",
    function="promise",
    contract="`f(logps (B, C), old_logps (B, C), completion_mask (B, C), rewards (B,))` -> the mean over all completions "
    "of ratio times reward, one number.",
    steps=STEPS,
    arguments={
        "logps": Numbers("B C"),
        "old_logps": Numbers("B C"),
        "completion_mask": Mask("B C"),
        "rewards": Numbers("B"),
    },
    result=Number(),
    draw=draw,
    boundary=boundary,
    valid=lambda case: bool((case["completion_mask"].sum(dim=1) > 0).all()),
)
