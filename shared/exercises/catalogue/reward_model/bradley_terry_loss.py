"""The loss of a reward model: `bradley_terry_loss(chosen, rejected) -> loss`, one number from rewards (N,) each."""

import torch

from shared.exercises.arguments import Numbers
from shared.exercises.catalogue.common.every_loss import LOSS_SLIPS
from shared.exercises.catalogue.common.likelihood import (
    LOGARITHM_MISSING,
    LOGARITHM_OVERFLOWS,
    LOGARITHMS_OF_THE_MEAN,
    MARGIN_ITSELF,
    MARGINS_CLAMPED,
    NOT_AVERAGED,
    NUMBERS_ADDED,
    SIGN_MISSING,
    add_likelihood,
)
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def margin(chosen, rejected):
    return chosen - rejected


add_likelihood(STEPS)


@STEPS.slip(
    "margin", "The margin is upside down, rejected minus chosen: the model would learn to pay for what was not wanted."
)
def margin_upside_down(chosen, rejected):
    return rejected - chosen


@STEPS.slip("margin", "You add the two rewards. A choice depends on their difference.")
def rewards_added(chosen, rejected):
    return chosen + rejected


@STEPS.slip("margin", "Only the chosen reward counts in yours: a model that pays everything alike would be best.")
def chosen_alone(chosen):
    return chosen


STEPS.add(LOGARITHM_MISSING, LOGARITHM_OVERFLOWS, *NUMBERS_ADDED, MARGIN_ITSELF)


@STEPS.slip("log_probability", "You square the distance of the margin from 1. Asked for is its log-sigmoid.")
def squared(margin):
    return -((margin - 1) ** 2)


@STEPS.slip(
    "log_probability", "This is the hinge, 1 minus the margin where that is positive. Asked for is log-sigmoid."
)
def hinge(margin):
    return -(1 - margin).clamp(min=0)


STEPS.add(*LOSS_SLIPS.named("summed"), NOT_AVERAGED, SIGN_MISSING)


@STEPS.slip("chosen", "The chosen rewards are detached: half of the gradient is missing.")
def chosen_detached(chosen):
    return chosen.detach()


@STEPS.slip("rejected", "The rejected rewards are detached: half of the gradient is missing.")
def rejected_detached(rejected):
    return rejected.detach()


@STEPS.slip("margin", "This is the loss of the mean margin. Asked for is the mean of the losses, one for each pair.")
def mean_margin(chosen, rejected):
    return chosen.mean() - rejected.mean()


@STEPS.slip("log_probability", "You take the log-sigmoid of each reward. It is taken of their difference, the margin.")
def each_by_itself(chosen, rejected):
    return torch.nn.functional.logsigmoid(chosen) - torch.nn.functional.logsigmoid(rejected)


@STEPS.slip("margin", "Every chosen completion is compared with every rejected one. A pair is compared within itself.")
def every_pair(chosen, rejected):
    return chosen[:, None] - rejected[None, :]


STEPS.add(*LOGARITHMS_OF_THE_MEAN, *MARGINS_CLAMPED)


@STEPS.slip(
    "loss", "This is the mean probability of the other choice, 1 - sigmoid. Asked for is minus the log-probability."
)
def probability_of_the_other(margin):
    return torch.sigmoid(-margin).mean()


@STEPS.slip("margin", "The margin is halved. The probability is the sigmoid of the whole difference.")
def margin_halved(chosen, rejected):
    return (chosen - rejected) / 2


APART = (
    "Each reward has a log-sigmoid of its own, as if each completion were judged by itself. A choice is between two: take "
    "that of their difference."
)


@STEPS.slip("log_probability", APART)
def right_and_wrong_apart(chosen, rejected):
    return sides(chosen, rejected)


@STEPS.slip("log_probability", APART)
def right_and_wrong_apart_halved(chosen, rejected):
    return sides(chosen, rejected) / 2


def sides(chosen, rejected):
    """The log-probabilities that the chosen one is right and the rejected one is wrong, added up."""
    return torch.nn.functional.logsigmoid(chosen) + torch.nn.functional.logsigmoid(-rejected)


def draw(draw: Draw) -> Case:
    N = draw.size(5)
    return {"chosen": draw.numbers(N), "rejected": draw.numbers(N)}


def boundary() -> list[Case]:
    """Equal rewards, and margins so large that a logarithm of a sigmoid is -inf."""
    return [
        {"chosen": torch.tensor([0.0]), "rejected": torch.tensor([0.0])},
        {"chosen": torch.tensor([1.0]), "rejected": torch.tensor([0.0])},
        {"chosen": torch.tensor([0.0, 2.0]), "rejected": torch.tensor([1.0, -1.0])},
        {"chosen": torch.tensor([-350.0]), "rejected": torch.tensor([250.0])},
    ]


EXERCISE = Exercise(
    name="Bradley-Terry loss",
    function="bradley_terry_loss",
    contract="`f(chosen (N,), rejected (N,)) -> loss` of rewards.",
    steps=STEPS,
    arguments={"chosen": Numbers("N"), "rejected": Numbers("N")},
    result=TensorOf(""),
    draw=draw,
    boundary=boundary,
    gradient="chosen rejected",
)
