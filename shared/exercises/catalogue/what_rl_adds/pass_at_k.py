"""The unbiased estimate of pass@k: `pass_at_k(count, right, k) -> number`, from `count` completions, `right` of them right."""

from math import comb, prod

from shared.exercises.arguments import Scalar
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import Number
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def wrong(count, right):
    return count - right


@STEPS.step
def choices(count, k):
    return comb(count, k)


@STEPS.step
def all_wrong(wrong, choices, k):
    """The share of the choices of k completions that hold no right one."""
    return comb(wrong, k) / choices


@STEPS.step
def estimate(all_wrong):
    return 1 - all_wrong


@STEPS.slip(
    "all_wrong",
    "This is 1 - (1 - c/n)^k, as if each of the k were drawn anew from the n: on average it is too small. Choose k of "
    "the n without putting any back.",
)
def with_replacement(count, right, k):
    return (1 - right / count) ** k


@STEPS.slip("all_wrong", "The chance that a choice is all wrong grows with k in yours: multiply, do not add.")
def added_up(count, right, k):
    return 1 - k * right / count


@STEPS.slip("all_wrong", "k plays no part: this is pass@1, the share of the right ones.")
def of_one(count, right):
    return 1 - right / count


@STEPS.slip(
    "all_wrong",
    "You say 1 as soon as any completion was right: that is pass@n, or what `//` leaves. Only k of the n count.",
)
def any_right(right):
    return float(right == 0)


@STEPS.slip("wrong", "Right and wrong are exchanged in the binomial: count the choices that are all *wrong*.")
def exchanged(right):
    return right


@STEPS.slip("choices", "Divide by the number of all choices of k of the n, C(n, k).")
def not_divided():
    return 1


@STEPS.slip("estimate", "You return the chance that all k are wrong. Take it from 1.")
def complement(all_wrong):
    return all_wrong


@STEPS.slip("estimate", "You return a percentage. A chance lies between 0 and 1.")
def in_per_cent(estimate):
    return 100 * estimate


@STEPS.slip(
    "all_wrong",
    "Where exactly k are wrong you say that no choice is all wrong. There is one, those k: only *fewer* than k wrong ones "
    "make it certain.",
)
def one_choice_forgotten(all_wrong, wrong, k):
    return 0 if wrong <= k else all_wrong


@STEPS.slip(
    "all_wrong",
    "The product of 1 - k / i begins and ends one too early: i goes from n - c + 1 to n, both included.",
)
def product_too_early(count, right, k):
    return prod(1 - k / i for i in range(count - right, count)) if count - right >= k else 0


@STEPS.slip("all_wrong", "The product of 1 - k / i lacks its last factor: i goes to n, which `range` leaves out.")
def product_without_its_last(count, right, k):
    return prod(1 - k / i for i in range(count - right + 1, count)) if count - right >= k else 0


@STEPS.slip("all_wrong", "This is the chance of exactly one right one among the k. At least one is asked for.")
def exactly_one(count, right, k):
    return 1 - right * comb(count - right, k - 1) / comb(count, k)


@STEPS.slip("estimate", "This is the chance that all k are right. At least one is asked for: 1 minus the all wrong.")
def all_right(right, choices, k):
    return comb(right, k) / choices


@STEPS.slip("all_wrong", "k times the share is added up and cut off at 1. Count the choices that are all wrong.")
def added_up_to_one(count, right, k):
    return max(0.0, 1 - k * right / count)


@STEPS.slip("choices", "The choices are of k out of n - 1. They are out of all n.")
def one_less_to_choose_from(count, k):
    return max(1, comb(count - 1, k))


@STEPS.slip(
    "estimate",
    "You return 1 as soon as k samples are right. A choice of k may still miss them all: it is certain where fewer than k "
    "are wrong.",
)
def certain_with_k_right(all_wrong, right, k):
    return 1.0 if right >= k else 1 - all_wrong


@STEPS.slip("estimate", "Where fewer than k are wrong you return 0. Every choice then holds a right one: it is 1.")
def none_where_few_are_wrong(all_wrong, wrong, k):
    return 0.0 if k > wrong else 1 - all_wrong


@STEPS.slip("all_wrong", "The product of the chances to miss has a factor too few: it is the estimate for k - 1.")
def one_factor_too_few(count, wrong, k):
    return comb(wrong, k - 1) / comb(count, k - 1)


@STEPS.slip(
    "all_wrong",
    "The product begins with the second draw: the chance that the first one is wrong, (n - c) / n, is missing.",
)
def first_draw_forgotten(count, right, k):
    return prod(max(count - right - i, 0) / (count - i) for i in range(1, k))


def draw(draw: Draw) -> Case:
    count = draw.size(40)
    return {
        "count": count,
        "right": draw.choice([0, 1, count, draw.randint(0, count)]),
        "k": draw.choice([1, count, draw.randint(1, count)]),
    }


def boundary() -> list[Case]:
    triples = [(1, 0, 1), (1, 1, 1), (2, 1, 1), (2, 1, 2), (4, 1, 2), (8, 8, 4), (8, 0, 8), (8, 7, 2), (300, 3, 8)]
    return [{"count": count, "right": right, "k": k} for count, right, k in triples]


def valid(case: Case) -> bool:
    return 1 <= case["k"] <= case["count"] and 0 <= case["right"] <= case["count"]


EXERCISE = Exercise(
    name="pass@k",
    function="pass_at_k",
    contract="`f(count, right, k) -> number`: the unbiased estimate of pass@k.",
    steps=STEPS,
    arguments={
        "count": Scalar(usual=16, simple=(1, 2, 3, 4)),
        "right": Scalar(usual=2, simple=(0, 1, 2)),
        "k": Scalar(usual=8, simple=(1, 2, 3)),
    },
    result=Number(),
    draw=draw,
    boundary=boundary,
    valid=valid,
)
