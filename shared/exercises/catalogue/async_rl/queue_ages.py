"""A queue of rollouts: `queue_ages(rollouts_per_update, updates, bound) -> ages`, a list of whole numbers.

In the time of an update the sampler draws `rollouts_per_update` rollouts with the newest weights, so rollout i was drawn
by the version i // rollouts_per_update. The learner takes the oldest that is at most `bound` updates old.
"""

from shared.exercises.arguments import Scalar
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import NotAResult, Text, named
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def oldest_allowed(rollouts_per_update, updates, bound):
    """For each update the number of the first rollout that is not too old."""
    return [max(0, update - bound) * rollouts_per_update for update in range(updates)]


@STEPS.step
def taken(oldest_allowed):
    """The rollout that each update takes: the next in the queue, or the first that is allowed."""
    numbers, following = [], 0
    for first in oldest_allowed:
        numbers.append(max(following, first))
        following = numbers[-1] + 1
    return numbers


@STEPS.step
def ages(taken, rollouts_per_update):
    return [update - number // rollouts_per_update for update, number in enumerate(taken)]


@STEPS.slip(
    "oldest_allowed",
    "The bound is not kept. It counts updates, not rollouts: what was drawn more updates ago is thrown away.",
)
def no_bound(updates):
    return [0] * updates


@STEPS.slip("oldest_allowed", "What is just as old as the bound is thrown away by you. At most so old is allowed.")
def below_the_bound(rollouts_per_update, updates, bound):
    return [max(0, update - bound + 1 if bound else update) * rollouts_per_update for update in range(updates)]


@STEPS.slip("oldest_allowed", "Something one update older than the bound is still learnt from.")
def one_beyond_the_bound(rollouts_per_update, updates, bound):
    return [max(0, update - bound - 1) * rollouts_per_update for update in range(updates)]


@STEPS.slip("taken", "The newest rollout is taken. Others in front of it in the queue were drawn for nothing then.")
def newest_taken(rollouts_per_update, updates):
    return [update * rollouts_per_update for update in range(updates)]


@STEPS.slip("taken", "A rollout is learnt from more than once: what was taken has left the queue.")
def taken_again(oldest_allowed):
    return oldest_allowed


@STEPS.slip("ages", "This is the version that drew the rollout. Its age is how many updates the learner is further.")
def versions(taken, rollouts_per_update):
    return [number // rollouts_per_update for number in taken]


@STEPS.slip(
    "ages", "You count each rollout as a version of its own. Rollouts of one update were drawn by the same weights."
)
def a_version_each(taken):
    return [update - number for update, number in enumerate(taken)]


@STEPS.slip("ages", "The age is negative: it is the learner's version minus the one that drew.")
def turned_round(ages):
    return [-age for age in ages]


def call(function, case: Case) -> str:
    """The ages as a text, "0 1 1 2". Raises NotAResult for what is no list of whole numbers."""
    ages = function(*case.values())
    if not isinstance(ages, list | tuple):
        raise NotAResult(f"it returns {named(ages)}; return a list with the age of what each update takes.")
    return " ".join(f"{age}" if isinstance(age, int | float) else named(age) for age in ages)


def draw(draw: Draw) -> Case:
    return {"rollouts_per_update": draw.size(4), "updates": draw.size(12), "bound": draw.randint(0, 5)}


def boundary() -> list[Case]:
    triples = [(1, 1, 0), (2, 6, 9), (2, 6, 1), (3, 7, 2), (2, 5, 0), (1, 5, 2), (2, 300, 300)]
    return [dict(zip(("rollouts_per_update", "updates", "bound"), triple)) for triple in triples]


EXERCISE = Exercise(
    name="ages in a queue",
    function="queue_ages",
    contract="`f(rollouts_per_update, updates, bound) -> list`: how many updates old the rollout is that each update takes.",
    steps=STEPS,
    arguments={
        "rollouts_per_update": Scalar(usual=2, simple=(1, 2)),
        "updates": Scalar(usual=48, simple=(1, 2, 3)),
        "bound": Scalar(usual=4, simple=(0, 1)),
    },
    result=Text(),
    call=call,
    draw=draw,
    boundary=boundary,
    valid=lambda case: case["rollouts_per_update"] >= 1 and case["updates"] >= 1 and case["bound"] >= 0,
)
