"""Weights of the exact gradient: `exact_weights(p, R) -> weights`, (N, K) each."""

import torch

from shared.exercises.arguments import Numbers
from shared.exercises.catalogue.common.tables import probabilities, reward_numbers
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def chances(p):
    return p


@STEPS.step
def paid(R):
    return R


@STEPS.step
def count(p):
    """The number of prompts that the mean is taken over, N."""
    return p.size(0)


@STEPS.step
def weights(chances, paid, count):
    return chances * paid / count


@STEPS.slip(
    "chances",
    "The probabilities are missing: in the expectation a completion counts as often as the policy says it, p * R.",
)
def without_probabilities(p):
    return torch.ones_like(p)


@STEPS.slip(
    "chances",
    "You weigh by log-probabilities. The logarithm is in the score already; its weight is the probability itself.",
)
def logarithms(p):
    return p.log()


@STEPS.slip("chances", "You square the probabilities: the score is d log pi, not d pi, so p stands there once.")
def squared(p):
    return p**2


@STEPS.slip("paid", "The rewards are missing: probability times score alone sums to 0 for every policy.")
def without_rewards(R):
    return torch.ones_like(R)


@STEPS.slip(
    "paid",
    "You subtract each prompt's mean reward. That leaves the gradient as it is, but asked for are the weights of the "
    "plain one, p * R / N, against which baselines are measured afterwards.",
)
def centred(R, p):
    return R - (p * R).sum(dim=1, keepdim=True)


@STEPS.slip(
    "count", "The mean over the prompts is missing: divide by N, or the gradient grows with the number of rows."
)
def not_averaged():
    return 1


@STEPS.slip("count", "You divide by the K completions. p already averages over them; divide by the N prompts.")
def divided_by_completions(p):
    return p.size(1)


@STEPS.slip("count", "You divide by N times K. p already averages over the completions; divide by the N prompts.")
def divided_by_both(p):
    return p.numel()


@STEPS.slip("weights", "The sign is flipped: these are the weights of the gradient of the reward, which is to rise.")
def sign_flipped(weights):
    return -weights


@STEPS.slip("weights", "You add up over the completions. Keep one weight for each prompt and completion, (N, K).")
def summed(weights):
    return weights.sum(dim=1)


@STEPS.slip(
    "weights", "You average over the prompts, and a row is left. Each keeps its own weights, divided by N: (N, K)."
)
def one_row_left(chances, paid):
    return (chances * paid).mean(dim=0, keepdim=True)


@STEPS.slip("count", "N is written down as 8. Take the number of rows of p.")
def eight_written_down():
    return 8


@STEPS.slip(
    "paid",
    "You subtract the plain mean of each prompt's rewards. Asked for are the weights of the plain gradient, p * R / N, "
    "against which baselines are measured afterwards.",
)
def plain_mean_subtracted(R):
    return R - R.mean(dim=1, keepdim=True)


@STEPS.slip("chances", "You multiply by p (1 - p). The log-derivative has p alone: the rest is in the score.")
def times_the_complement(p):
    return p * (1 - p)


@STEPS.slip(
    "weights",
    "You make the weights of a prompt add up to 1. Their sum is its mean reward, and belongs to the gradient: p * R / N.",
)
def normalised(chances, paid, count):
    products = chances * paid
    return products / products.sum(dim=1, keepdim=True) / count


@STEPS.slip(
    "weights",
    "You divide by the sum of a prompt's weights, held above 0. That sum is its mean reward, and belongs to the "
    "gradient: p * R / N.",
)
def normalised_safely(chances, paid, count):
    products = chances * paid
    return products / products.sum(dim=1, keepdim=True).clamp(min=1e-8) / count


def draw(draw: Draw) -> Case:
    N, K = draw.size(), draw.size()
    return {"p": probabilities(draw, N, K), "R": reward_numbers(draw, N, K)}


def boundary() -> list[Case]:
    p = torch.tensor([[0.25, 0.75], [0.5, 0.5], [0.9, 0.1]])
    return [
        {"p": torch.ones(1, 1), "R": torch.ones(1, 1)},
        {"p": p[:1], "R": torch.tensor([[1.0, 0.0]])},
        {"p": p, "R": torch.tensor([[1.0, 0.0], [9.0, -8.0], [0.0, 0.0]])},
        {"p": p, "R": torch.ones(3, 2)},
    ]


EXERCISE = Exercise(
    name="weights of the exact gradient",
    function="exact_weights",
    contract="`f(p (N, K), R (N, K)) -> weights (N, K)` of the exact gradient.",
    steps=STEPS,
    arguments={"p": Numbers("N B", least=0.05, most=1.0), "R": Numbers("N B")},
    result=TensorOf("N B"),
    draw=draw,
    boundary=boundary,
    doubles=True,
)
