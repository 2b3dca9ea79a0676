"""The worth of n samples to a judge, from N of them: `best_of_n(scores, rewards, n) -> number`.

The mean reward of the sample with the highest score, over all choices of n of the N. Samples with equal scores have
equal rewards.
"""

from math import comb

from shared.exercises.arguments import Scalar, Things
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import Number
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def count(rewards):
    return len(rewards)


@STEPS.step
def order(scores):
    """The places of the samples, the lowest score first."""
    return sorted(range(len(scores)), key=lambda place: scores[place])


@STEPS.step
def ordered(order, rewards):
    return [rewards[place] for place in order]


@STEPS.step
def wins(count, n):
    """The number of choices in which the sample of each place is the best."""
    return [comb(place, n - 1) for place in range(count)]


@STEPS.step
def choices(count, n):
    return comb(count, n)


@STEPS.step
def estimate(ordered, wins, choices):
    return sum(won * reward for won, reward in zip(wins, ordered)) / choices


@STEPS.slip(
    "order", "The samples are ordered by their rewards: that is a perfect judge. Choose by score, and pay the reward."
)
def by_reward(rewards):
    return sorted(range(len(rewards)), key=lambda place: rewards[place])


@STEPS.slip(
    "order", "The highest score stands first in yours, so that the *worst* of n is chosen. Turn the order round."
)
def worst_chosen(scores):
    return sorted(range(len(scores)), key=lambda place: -scores[place])


@STEPS.slip("order", "The samples are not ordered by their scores: the weights belong to the places in that order.")
def not_ordered(scores):
    return list(range(len(scores)))


@STEPS.slip("ordered", "You return the *score* of the chosen sample. What it earns is its reward.")
def scores_for_rewards(order, scores):
    return [scores[place] for place in order]


@STEPS.slip(
    "wins",
    "The binomial is C(i, n): a sample is the best of the choices whose other n - 1 lie below it, and of those there are "
    "C(i - 1, n - 1).",
)
def all_n_below(count, n):
    return [comb(place, n) for place in range(count)]


@STEPS.slip(
    "wins",
    "The places are one too high: below the i-th sample, counted from 1, lie i - 1 others. With `range(N)` it is C(i, n - 1).",
)
def one_too_high(count, n):
    return [comb(place + 1, n - 1) for place in range(count)]


@STEPS.slip(
    "wins",
    "You draw with replacement, as if a sample could be chosen twice: that counts bad ones too often. Choose n of the N "
    "without putting any back.",
)
def with_replacement(count, n):
    return [comb(count, n) * (((i + 1) / count) ** n - (i / count) ** n) for i in range(count)]


@STEPS.slip("wins", "Every sample has the same weight: this is the mean reward, what one sample is worth.")
def plain_mean(count, n):
    return [comb(count, n) / count] * count


@STEPS.slip("wins", "You take the best of all N. Only n of them are drawn.")
def best_of_all(count, n):
    return [0] * (count - 1) + [comb(count, n)]


@STEPS.slip("wins", "This is the mean of the n samples with the highest scores. Only one of n is taken.")
def mean_of_the_top(count, n):
    return [0] * (count - n) + [comb(count, n) / n] * n


@STEPS.slip("choices", "Divide by the number of all choices of n of the N, C(N, n).")
def not_divided():
    return 1


@STEPS.slip("choices", "You divide by N. There are C(N, n) choices.")
def divided_by_count(count):
    return count


@STEPS.slip(
    "estimate",
    "You take the best of the first n alone: right on average, but it throws the other samples away. Average over all "
    "choices of n.",
)
def of_the_first(scores, rewards, n):
    return rewards[max(range(n), key=lambda place: scores[place])]


@STEPS.slip(
    "estimate",
    "You take the best of every n samples in a row: right on average, but of all choices of n it uses a few. Average over "
    "all of them.",
)
def of_each_in_a_row(scores, rewards, n):
    starts = range(0, len(rewards) - n + 1, n)
    won = [rewards[max(range(start, start + n), key=lambda place: scores[place])] for start in starts]
    return sum(won) / len(won)


@STEPS.slip("estimate", "You say 1 minus the estimate. The rewards of the chosen samples are asked for.")
def complement(ordered, wins, choices):
    return 1 - sum(won * reward for won, reward in zip(wins, ordered)) / choices


@STEPS.slip(
    "estimate",
    "The weights are the choices of n out of the i lowest samples, whichever of them is the best: a low one counts in each "
    "of them. The i-th is the best of C(i - 1, n - 1).",
)
def whichever_is_best(ordered, count, n):
    weights = [comb(place + 1, n) for place in range(count)]
    return sum(weight * reward for weight, reward in zip(weights, ordered)) / sum(weights)


@STEPS.slip(
    "order",
    "The ranks are taken for the order. `argsort` of `argsort` tells the rank of each sample; which sample comes first, "
    "second and so on is what one `argsort` tells.",
)
def ranks_for_the_order(order):
    return sorted(range(len(order)), key=lambda place: order[place])


def draw(draw: Draw) -> Case:
    """Scores that go with the rewards or not; two in three cases have rewards of 0 and 1."""
    N = draw.size(9)
    unit = draw.choice([1, 8, 32])
    scores = draw.sample([k / unit for k in range(-40, max(41, N))], N)
    rewards = [float(draw.randint(0, 1)) for _ in range(N)] if draw.random() < 0.67 else [
        draw.number(-1.0, 2.0) for _ in range(N)
    ]  # fmt: skip
    if draw.random() < 0.2:
        scores = list(rewards)
    return {"scores": scores, "rewards": rewards, "n": draw.choice([1, N, draw.randint(1, N), draw.randint(1, N)])}


def boundary() -> list[Case]:
    triples = [
        ([0.5], [1.0], 1),
        ([0.5], [0.0], 1),
        ([0.1, 0.9, 0.5], [0.0, 0.0, 1.0], 1),
        ([0.1, 0.9, 0.5], [0.0, 0.0, 1.0], 2),
        ([0.1, 0.9, 0.5], [0.0, 0.0, 1.0], 3),
        ([0.9, 0.1, 0.5, 0.3], [1.0, 0.0, 0.0, 1.0], 2),
        ([0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], 2),
        ([0.3, 0.2, 0.1, 0.4], [0.25, 1.0, 0.5, -1.0], 3),
    ]
    many = [place / 64 for place in range(72)]
    triples.append((many, [float(place % 3 == 0) for place in range(72)], 32))
    return [{"scores": scores, "rewards": rewards, "n": n} for scores, rewards, n in triples]


def valid(case: Case) -> bool:
    """Equal scores have equal rewards, so that it does not matter which of them is taken."""
    of_score = {}
    pairs = zip(case["scores"], case["rewards"])
    return 1 <= case["n"] <= len(case["rewards"]) and all(of_score.setdefault(s, r) == r for s, r in pairs)


EXERCISE = Exercise(
    name="best of n",
    function="best_of_n",
    contract="`f(scores, rewards, n) -> number`: the mean reward of the highest score, over all choices of n samples.",
    steps=STEPS,
    arguments={"scores": Things("B"), "rewards": Things("B"), "n": Scalar(usual=8, simple=(1, 2, 3))},
    result=Number(),
    draw=draw,
    draws=119,
    boundary=boundary,
    valid=valid,
)
