"""The distance that the best of n moves a policy: `best_of_n_kl(probs, n) -> number` in nats, the outcomes worst first."""

import math

import torch

from shared.exercises.arguments import Numbers, Scalar
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import Number
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def policy(probs):
    return probs


@STEPS.step
def up_to(policy):
    """F_k, the probability of the outcome or a worse one."""
    return policy.cumsum(dim=0)


@STEPS.step
def below(up_to, policy):
    return up_to - policy


@STEPS.step
def best(up_to, below, n):
    return up_to**n - below**n


@STEPS.step
def terms(best, policy):
    return torch.xlogy(best, best) - torch.xlogy(best, policy)


@STEPS.step
def kl(terms):
    return terms.sum()


@STEPS.slip(
    "policy", "The outcomes come worst first. In yours the first is the best: the sum of F runs from the wrong end."
)
def best_first(probs):
    return probs.flip(0)


@STEPS.slip(
    "best", "F^n is the chance that *all* of n are this outcome or a worse one. Subtract that of all being worse."
)
def not_subtracted(up_to, n):
    return up_to**n


@STEPS.slip("best", "This is the chance that the outcome occurs among n. It has to be the best of them as well.")
def occurs(policy, n):
    return 1 - (1 - policy) ** n


@STEPS.slip(
    "best", "The n-th powers of the probabilities are made to add up to 1: a sharper policy, not the best of n."
)
def sharpened(policy, n):
    return policy**n / (policy**n).sum()


@STEPS.slip(
    "best",
    "n p F^(n - 1) is for scores that are never equal. Here several samples can be the same outcome: take the difference of "
    "the two powers.",
)
def as_of_a_density(policy, up_to, n):
    return n * policy * up_to ** (n - 1)


@STEPS.slip("best", "The power is one too small: all n samples lie in F, not n - 1 of them.")
def power_too_small(up_to, below, n):
    return up_to ** (n - 1) - below ** (n - 1) if n > 1 else up_to - below


@STEPS.slip("best", "The power is one too large: n samples are drawn, not n + 1.")
def power_too_large(up_to, below, n):
    return up_to ** (n + 1) - below ** (n + 1)


@STEPS.slip(
    "terms",
    "The KL runs the other way: from the policy to the best of n. Average over the best of n, with its probabilities.",
)
def other_way(best, policy):
    return torch.where(best > 0, torch.xlogy(policy, policy) - torch.xlogy(policy, best), 0.0)


@STEPS.slip("terms", "You average the log-ratios with the policy's probabilities, not with those of the best of n.")
def averaged_over_the_policy(best, policy):
    return torch.where(best > 0, policy * (best.log() - policy.log()), 0.0)


@STEPS.slip("terms", "The log-ratios are summed without the probabilities of the best of n.")
def not_weighted(best, policy):
    return torch.where(best > 0, best.log() - policy.log(), 0.0)


@STEPS.slip("terms", "The policy's probabilities are missing: this is minus the entropy of the best of n.")
def policy_forgotten(best):
    return torch.xlogy(best, best)


@STEPS.slip("terms", "You leave out the logarithm: this is the mean ratio.")
def ratio_alone(best, policy):
    return torch.where(best > 0, best * best / policy, 0.0)


@STEPS.slip("terms", "The logarithm has base 2: that is bits. Nats are asked for.")
def in_bits(best, policy):
    return (torch.xlogy(best, best) - torch.xlogy(best, policy)) / math.log(2)


@STEPS.slip(
    "terms",
    "An outcome whose probability rounds to 0 makes 0 x log 0, which is nan. It adds nothing: `torch.xlogy(a, b)` is "
    "a log b, and 0 where a is 0.",
)
def nan_at_0(best, policy):
    return best * (best.log() - policy.log())


@STEPS.slip(
    "kl",
    "This is the bound log n - (n - 1) / n, whatever the probabilities are. It is reached only where no outcome has weight.",
)
def bound(n):
    return math.log(n) - (n - 1) / n


@STEPS.slip("kl", "The sign is turned round: a KL is never below 0.")
def negative(terms):
    return -terms.sum()


@STEPS.slip("kl", "You divide the sum by the number of outcomes. The probabilities have weighted it already.")
def averaged(terms):
    return terms.mean()


@STEPS.slip(
    "terms", "The worst outcome is missing from the sum: put a 0 in front of the running sums, F_0, before `diff`."
)
def worst_left_out(terms):
    return terms[1:]


@STEPS.slip(
    "terms",
    "The KL runs the other way, and is infinite where the best of n is never an outcome. Average over the best of n, with "
    "its probabilities.",
)
def other_way_and_infinite(best, policy):
    return torch.xlogy(policy, policy / best)


def draw(draw: Draw) -> Case:
    weights = [draw.choice([1, 1, 2, 3, 5, 20]) for _ in range(draw.size(6))]
    return {"probs": shares(weights), "n": draw.choice([1, 2, 3, 4, 8, 16])}


def shares(weights: list[float]) -> torch.Tensor:
    return torch.tensor([weight / sum(weights) for weight in weights], dtype=torch.float32)


def boundary() -> list[Case]:
    pairs = [
        ([1], 1),
        ([1], 8),
        ([1, 1], 1),
        ([1, 1], 2),
        ([1, 3], 2),
        ([3, 1], 2),
        ([1, 2, 5], 3),
        ([77, 23], 8),
        ([1, 999], 64),
        ([1, 9999], 128),
        ([1, 1, 1, 1], 32),
    ]
    return [{"probs": shares(weights), "n": n} for weights, n in pairs]


def valid(case: Case) -> bool:
    """Probabilities, and none so small that a float loses it in the sum."""
    probs = case["probs"]
    return case["n"] >= 1 and bool((probs >= 0.9e-4).all()) and abs(probs.sum().item() - 1) < 1e-5


def smaller(case: Case) -> list[Case]:
    """Two outcomes alike, or the first two made one."""
    probs = case["probs"]
    found = [case | {"probs": torch.full((2,), 0.5)}] if len(probs) > 2 else []
    if len(probs) > 1:
        found.append(case | {"probs": torch.cat([probs[:2].sum()[None], probs[2:]])})
    return found


EXERCISE = Exercise(
    name="KL of the best of n",
    function="best_of_n_kl",
    contract="`f(probs (K,), n) -> number`: the KL in nats of the best of n to the policy; `probs` come worst first.",
    steps=STEPS,
    arguments={"probs": Numbers("L", least=0.0, most=1.0), "n": Scalar(usual=8, simple=(1, 2, 3))},
    result=Number(),
    doubles=True,
    draw=draw,
    boundary=boundary,
    valid=valid,
    smaller=smaller,
)
