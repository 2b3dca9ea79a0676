"""Minus the mean log-probability of choices, with which the Bradley-Terry loss and DPO's end, and its slips."""

import math

import torch

from shared.exercises.steps import Slip, Steps


def log_probability(margin):
    return torch.nn.functional.logsigmoid(margin)


def averaged(log_probability):
    return log_probability.mean()


def loss(averaged):
    return -averaged


def add_likelihood(steps: Steps) -> None:
    """The last three steps: from a step `margin`, shape (N,), to the loss, one number."""
    for step in (log_probability, averaged, loss):
        steps.step(step)


def logarithm_missing(margin):
    return torch.sigmoid(margin)


def logarithm_overflows(margin):
    return torch.log(torch.sigmoid(margin))


def small_number_added(margin):
    return torch.log(torch.sigmoid(margin) + 1e-8)


def smaller_number_added(margin):
    return torch.log(torch.sigmoid(margin) + 1e-10)


def smallest_number_added(margin):
    return torch.log(torch.sigmoid(margin) + 1e-12)


def margin_itself(margin):
    return margin


def not_averaged(log_probability):
    return log_probability


def logarithm_of_the_mean(margin):
    return torch.sigmoid(margin).mean().log()


def logarithm_of_the_mean_by_logarithms(log_probability):
    return log_probability.logsumexp(dim=0) - math.log(len(log_probability))


def clamped_at(most: float) -> Slip:
    """The slip that keeps the margin within these bounds."""

    def clamped(margin):
        return margin.clamp(-most, most)

    clamped.__name__ = f"clamped_at_{most}"
    return Slip.of(
        "margin",
        "You clamp the margin: far on the wrong side the loss stops, and no gradient leads back. `logsigmoid` bears any "
        "margin.",
        clamped,
    )


def sign_missing(averaged):
    return averaged


LOGARITHM_MISSING = Slip.of(
    "log_probability",
    "The logarithm is missing: you average the probabilities of the choices themselves.",
    logarithm_missing,
)
LOGARITHM_OVERFLOWS = Slip.of(
    "log_probability",
    "The logarithm overflows: far on the wrong side the sigmoid is rounded to 0, or the exponential is infinite, and the "
    "loss and its gradient are lost. `logsigmoid` does both in one.",
    logarithm_overflows,
)
STOPS = (
    "A small number inside of the logarithm hides its overflow: far on the wrong side the loss stops, and no gradient "
    "leads back. Take `logsigmoid`."
)
NUMBERS_ADDED = [
    Slip.of("log_probability", STOPS, function)
    for function in (small_number_added, smaller_number_added, smallest_number_added)
]
MARGIN_ITSELF = Slip.of(
    "log_probability",
    "The sigmoid is missing: the margin itself can be made as large as one likes.",
    margin_itself,
)
NOT_AVERAGED = Slip.of(
    "averaged",
    "You return one number for each pair. The loss is their mean, of which `backward` goes.",
    not_averaged,
)
LOGARITHMS_OF_THE_MEAN = [
    Slip.of("averaged", "The logarithm is taken of the mean probability. Take the mean of the logarithms.", function)
    for function in (logarithm_of_the_mean, logarithm_of_the_mean_by_logarithms)
]
MARGINS_CLAMPED = [clamped_at(most) for most in (10, 20, 30, 50, 88, 100)]
SIGN_MISSING = Slip.of(
    "loss",
    "The sign is missing: a loss is minimised, and log-probabilities of choices are to rise.",
    sign_missing,
)
