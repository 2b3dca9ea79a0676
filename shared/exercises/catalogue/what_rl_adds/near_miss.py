"""A reward for near misses: `near_miss(prompts, completions, target) -> list of floats`.

1 / (1 + distance) of the answer's value from the target, 0.0 where there is no expression in the format.
"""

import math

from shared.exercises.arguments import Texts, Things
from shared.exercises.catalogue.common.countdown_answers import TARGET, drawn, expression_in, expression_of, said
from shared.exercises.catalogue.common.every_reward import (
    FIRST_COMPLETION_FOR_ALL,
    RETURNED_TOO_EARLY,
    REWARD_SLIPS,
    SAME_FOR_ALL,
    as_score_calls,
    texts,
)
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import Floats
from shared.exercises.steps import Steps
from shared.tasks.tags import parse, tagged

STEPS = Steps()


STEPS.step(texts)


@STEPS.step
def goals(target):
    return target


@STEPS.step
def values(texts):
    """The exact value of each answer, None where there is no expression in the format."""
    found = [expression_in(text) for text in texts]
    return [None if pair is None else pair[0] for pair in found]


@STEPS.step
def distances(values, goals):
    return [None if value is None else abs(value - goal) for value, goal in zip(values, goals)]


@STEPS.step
def nearness(distances):
    return [None if distance is None else 1 / (1 + distance) for distance in distances]


@STEPS.step
def rewards(nearness):
    return [0.0 if near is None else float(near) for near in nearness]


STEPS.add(FIRST_COMPLETION_FOR_ALL)


STEPS.add(*REWARD_SLIPS.named("first_target_for_all"))


@STEPS.slip("values", "An expression without the blocks is paid. Where `parse` gives None the reward is 0.0.")
def blocks_not_asked_for(texts):
    found = [expression_in(text) or expression_of(text) for text in texts]
    return [None if pair is None else pair[0] for pair in found]


@STEPS.slip("values", "The value is cut to an integer first: 22.5 is nearer to 22 than 23 is, and farther than 22.")
def cut_to_integers(values):
    return [None if value is None else int(value) for value in values]


@STEPS.slip("distances", "Without `abs` a value above the target and one below it are paid differently.")
def signed(values, goals):
    return [None if value is None else max(0, value - goal) for value, goal in zip(values, goals)]


@STEPS.slip("distances", "The distance is squared: at a distance of 2 the reward is 1/3.")
def squared(distances):
    return [None if distance is None else distance**2 for distance in distances]


@STEPS.slip("distances", "The distance is divided by the target: the reward asks how many units are missing.")
def relative(distances, goals):
    return [None if d is None else d / max(1, abs(goal)) for d, goal in zip(distances, goals)]


@STEPS.slip("nearness", "Only the target itself is paid: that is no reward for near misses.")
def exact_only(distances):
    return [None if distance is None else float(distance == 0) for distance in distances]


@STEPS.slip("nearness", "The distance is the price, not the reward: the nearer, the more, up to 1.")
def the_distance(distances):
    return distances


@STEPS.slip("nearness", "The reward falls without end: at a great distance it goes towards 0, never below.")
def negative(distances):
    return [None if distance is None else 1 - distance for distance in distances]


@STEPS.slip("nearness", "The 1 under the fraction is missing, and at distance 1 a miss is paid like a hit.")
def without_one(distances):
    return [None if distance is None else 1 / max(1, distance) for distance in distances]


@STEPS.slip("rewards", "What is no expression in the format is paid. It earns 0.0.")
def paid_for_nothing(nearness):
    return [1.0 if near is None else float(near) for near in nearness]


STEPS.add(RETURNED_TOO_EARLY)
STEPS.add(SAME_FOR_ALL)


ANSWERS = ("3 * 8 - 2", "22", "20", "23", "5 / 2", "45 / 2", "2 - 9", "9 * 9 * 9", "1 + 1", "8 - 8")


@STEPS.slip(
    "rewards", "Completions without an expression are left out of the list. They earn 0.0 and keep their place."
)
def without_expression_left_out(nearness):
    return [float(near) for near in nearness if near is not None]


@STEPS.slip("nearness", "The reward falls exponentially with the distance. Asked for is 1 / (1 + distance).")
def exponential(distances):
    return [None if distance is None else math.exp(-distance) for distance in distances]


@STEPS.slip("distances", "Every answer is compared with 22. Each row has its own target.")
def target_written_down(values):
    return [None if value is None else abs(value - TARGET) for value in values]


@STEPS.slip("values", "An answer that is no expression counts as 0, and is paid by its distance. It earns 0.0.")
def no_expression_as_0(texts):
    blocks = [parse(text) for text in texts]
    return [None if pair is None else (expression_of(pair[1]) or (0, []))[0] for pair in blocks]


@STEPS.slip(
    "goals",
    "The next target is taken only where a completion keeps the format: all behind one that does not are measured against "
    "another row's. Go through completions and targets together, with `zip`.",
)
def targets_of_those_in_format(texts, target):
    left = iter(target)
    return [0 if parse(text) is None else next(left) for text in texts]


@STEPS.slip(
    "distances", "Without `abs` an answer below the target is paid more than 1, or less than 0. A distance has no sign."
)
def without_abs(values, goals):
    return [None if value is None else value - goal for value, goal in zip(values, goals)]


@STEPS.slip("values", "You value the working, the first of the two blocks. The answer is the second.")
def working_valued(texts):
    blocks = [parse(text) for text in texts]
    found = [None if pair is None else expression_of(pair[0]) for pair in blocks]
    return [None if pair is None else pair[0] for pair in found]


@STEPS.slip(
    "values",
    "One `try` stands around the whole loop: behind the first answer that is no expression all earn 0. Let it hold one "
    "completion at a time.",
)
def rest_lost(texts, values):
    first = no_expressions(texts).index(True) if any(no_expressions(texts)) else len(texts)
    return [*values[:first], *[None] * (len(texts) - first)]


@STEPS.slip(
    "values",
    "One `try` stands around the whole loop: a single answer that is no expression makes every reward 0. Let it hold one "
    "completion at a time.",
)
def all_lost(texts, values):
    return [None] * len(texts) if any(no_expressions(texts)) else values


def no_expressions(texts: list[str]) -> list[bool]:
    """True where the answer in the format is no expression."""
    blocks = [parse(text) for text in texts]
    return [pair is not None and expression_of(pair[1]) is None for pair in blocks]


@STEPS.slip(
    "distances",
    "An answer above the target is paid in full: only what is missing counts in yours. A distance has two sides: `abs`.",
)
def missing_alone(values, goals):
    return [None if value is None else max(0, goal - value) for value, goal in zip(values, goals)]


def draw(draw: Draw) -> Case:
    completions = [
        tagged("so", draw.choice(ANSWERS)) if draw.random() < 0.6 else drawn(draw) for _ in range(draw.size())
    ]
    return {
        "prompts": [""] * len(completions),
        "completions": completions,
        "target": [draw.choice([TARGET, 1, 2, 10, 60]) for _ in completions],
    }


def boundary() -> list[Case]:
    texts = [*said(), *(tagged("so", answer) for answer in ANSWERS)]
    return [{"prompts": [""], "completions": [text], "target": [TARGET]} for text in texts]


EXERCISE = Exercise(
    name="near-miss reward",
    function="near_miss",
    contract="`f(prompts, completions, target, **columns) -> list of floats`: 1 / (1 + distance) from the target.",
    steps=STEPS,
    arguments={"prompts": Texts("B", always_shown=False), "completions": Texts("B"), "target": Things("B")},
    result=Floats(),
    draw=draw,
    boundary=boundary,
    draws=118,
    call=as_score_calls,
)
