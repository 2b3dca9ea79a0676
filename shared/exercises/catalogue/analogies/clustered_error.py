"""The error of a mean whose values come in clusters: `clustered_error(rewards, pairs) -> number`, pairs a list of B."""

import math

import torch

from shared.exercises.arguments import Numbers, Things
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import Number
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def deviations(rewards):
    mean = rewards.double().mean().item()
    return [reward - mean for reward in rewards.tolist()]


@STEPS.step
def sums(deviations, pairs):
    """One sum for each pair."""
    found = {}
    for pair, deviation in zip(pairs, deviations):
        found[pair] = found.get(pair, 0.0) + deviation
    return list(found.values())


@STEPS.step
def squares(sums):
    return sum(value**2 for value in sums)


@STEPS.step
def error(squares, pairs):
    return math.sqrt(squares) / len(pairs)


@STEPS.slip(
    "sums",
    "Each row stands alone in yours. Add up the deviations of a pair's rows first and square the sum: three rows that are "
    "wrong together deviate three times as far.",
)
def each_alone(deviations):
    return deviations


@STEPS.slip(
    "deviations",
    "The deviations are from the mean of the pairs' means. Take the mean of all rows, in which a pair with more rows weighs "
    "more.",
)
def from_the_mean_of_means(rewards, pairs):
    values = rewards.double().tolist()
    of_pairs = [[v for v, other in zip(values, pairs) if other == pair] for pair in sorted(set(pairs))]
    mean = sum(sum(of_pair) / len(of_pair) for of_pair in of_pairs) / len(of_pairs)
    return [value - mean for value in values]


@STEPS.slip(
    "sums",
    "You take the mean of a pair's deviations. Take their sum: a pair with more rows weighs more in the mean as well.",
)
def means_of_pairs(deviations, pairs):
    return [
        sum(d for d, other in zip(deviations, pairs) if other == pair) / pairs.count(pair)
        for pair in sorted(set(pairs))
    ]


@STEPS.slip("sums", "Only neighbours are put together. Rows of a pair may stand anywhere in the list.")
def only_neighbours(deviations, pairs):
    found = []
    for place, deviation in enumerate(deviations):
        if place and pairs[place] == pairs[place - 1]:
            found[-1] += deviation
        else:
            found.append(deviation)
    return found


@STEPS.slip("deviations", "The rewards themselves are added up. Subtract the mean of all rewards first.")
def not_centred(rewards):
    return rewards.tolist()


@STEPS.slip(
    "deviations",
    "You subtract the mean of the reward's own pair, and then every pair's deviations add up to 0. Subtract the mean of "
    "all rewards.",
)
def centred_by_pair(rewards, pairs):
    values = rewards.tolist()
    own = {pair: [v for v, other in zip(values, pairs) if other == pair] for pair in pairs}
    return [value - sum(own[pair]) / len(own[pair]) for value, pair in zip(values, pairs)]


@STEPS.slip("squares", "You add up how large the sums are. Square each of them first, as a variance does.")
def not_squared(sums):
    return sum(abs(value) for value in sums)


@STEPS.slip(
    "error", "You divide by the number of pairs. It is the mean over all rows: divide by how many rows there are."
)
def divided_by_pairs(squares, pairs):
    return math.sqrt(squares) / len(set(pairs))


@STEPS.slip("error", "This is the square of the error. Take the root.")
def no_root(squares, pairs):
    return squares / len(pairs) ** 2


@STEPS.slip("error", "You divide by the root of the number of rows. Divide by the number itself.")
def divided_by_root(squares, pairs):
    return math.sqrt(squares / len(pairs))


@STEPS.slip(
    "error",
    "You take the spread of the pairs' means. That is the error only where all pairs have equally many rows: sum the "
    "deviations from the mean of all rows.",
)
def spread_of_means(rewards, pairs):
    means = [rewards[[other == pair for other in pairs]].double().mean().item() for pair in sorted(set(pairs))]
    centre = sum(means) / len(means)
    return math.sqrt(sum((mean - centre) ** 2 for mean in means)) / len(means)


@STEPS.slip("error", "You divide by B - 1. The formula divides by B.")
def divided_by_one_less(squares, pairs):
    return math.sqrt(squares) / max(1, len(pairs) - 1)


@STEPS.slip(
    "squares", "The squares are averaged over the pairs. Add them up: the division by B comes behind the root, once."
)
def squares_averaged(sums):
    return sum(value**2 for value in sums) / len(sums)


@STEPS.slip(
    "sums",
    "You take the mean off each pair's sum once. Take it off every reward: a pair of three rows has three deviations.",
)
def mean_taken_off_once(rewards, pairs):
    mean = rewards.double().mean().item()
    values = rewards.tolist()
    return [sum(v for v, other in zip(values, pairs) if other == pair) - mean for pair in dict.fromkeys(pairs)]


@STEPS.slip(
    "sums",
    "The names are sorted and the deviations are not: rows are added to other pairs than their own. Keep the two together.",
)
def names_sorted_alone(deviations, pairs):
    return sums(deviations, sorted(pairs))


@STEPS.slip("squares", "You correct for the number of pairs P, by P / (P - 1). The formula has no such factor.")
def corrected_for_few_pairs(sums):
    return sum(value**2 for value in sums) * len(sums) / max(len(sums) - 1, 1)


def draw(draw: Draw) -> Case:
    B = draw.size(9)
    names = draw.sample([f"{one}: {other}" for one in "abcdefg" for other in ("dog", "fox", "cow")], draw.size(5))
    chances = {name: draw.choice([0.1, 0.6, 0.9]) for name in names}
    pairs = draw.some(names, B)
    return {"rewards": torch.tensor([float(draw.random() < chances[pair]) for pair in pairs]), "pairs": pairs}


def boundary() -> list[Case]:
    return [
        {"rewards": torch.tensor([1.0, 0.0]), "pairs": ["dog", "fox"]},
        {"rewards": torch.tensor([1.0, 1.0]), "pairs": ["dog", "fox"]},
        {"rewards": torch.tensor([1.0, 1.0, 0.0]), "pairs": ["dog", "fox", "dog"]},
        {"rewards": torch.tensor([1.0, 1.0, 0.0, 0.0]), "pairs": ["a: dog", "a: dog", "a: fox", "a: fox"]},
        {"rewards": torch.tensor([0.5, 1.0, 0.0, 0.0]), "pairs": ["dog", "dog", "dog", "fox"]},
    ]


EXERCISE = Exercise(
    name="error with clusters",
    function="clustered_error",
    contract="`f(rewards (B,), pairs) -> number`: the standard error of the mean when rows of a pair belong together.",
    steps=STEPS,
    arguments={"rewards": Numbers("B", least=0.0, most=1.0), "pairs": Things("B")},
    result=Number(),
    draw=draw,
    boundary=boundary,
)
