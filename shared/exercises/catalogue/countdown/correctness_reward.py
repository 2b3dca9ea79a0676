"""A reward for solved problems: `correctness_reward(prompts, completions, numbers, target, **columns) -> list of floats`.

1.0 where the format is kept and the answer makes the target from exactly the given numbers, else 0.0.
"""

from collections import Counter

from shared.exercises.arguments import Texts, Things
from shared.exercises.catalogue.common.countdown_answers import (
    NUMBERS,
    TARGET,
    drawn,
    expression_in,
    expression_of,
    said,
)
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
from shared.tasks.tags import tagged

STEPS = Steps()


STEPS.step(texts)


@STEPS.step
def expressions(texts):
    """(value, numbers) of each completion, None where there is no expression in the format."""
    return [expression_in(text) for text in texts]


@STEPS.step
def given(numbers):
    return numbers


@STEPS.step
def goals(target):
    return target


@STEPS.step
def hits(expressions, goals):
    return [found is not None and found[0] == goal for found, goal in zip(expressions, goals)]


@STEPS.step
def fair(expressions, given):
    """True where the numbers are those given, each as often as it was given."""
    return [found is not None and Counter(found[1]) == Counter(of_row) for found, of_row in zip(expressions, given)]


@STEPS.step
def solved(hits, fair):
    return [hit and right for hit, right in zip(hits, fair)]


@STEPS.step
def rewards(solved):
    return [float(right) for right in solved]


STEPS.add(FIRST_COMPLETION_FOR_ALL)


@STEPS.slip("expressions", "An expression without the blocks is paid. Where `parse` gives None the reward is 0.0.")
def blocks_not_asked_for(texts):
    return [expression_in(text) or expression_of(text) for text in texts]


@STEPS.slip(
    "fair",
    "The numbers are not compared with those given: the target itself, written as the answer, is paid.",
)
def any_numbers(expressions):
    return [found is not None for found in expressions]


@STEPS.slip("fair", "A number used twice passes: sets forget how often. Compare sorted lists, or counts.")
def as_sets(expressions, given):
    return [found is not None and set(found[1]) == set(of_row) for found, of_row in zip(expressions, given)]


@STEPS.slip("fair", "A number may be left out in yours. Exactly the given ones are to be used.")
def some_left_out(expressions, given):
    return [found is not None and not Counter(found[1]) - Counter(of_row) for found, of_row in zip(expressions, given)]


@STEPS.slip("fair", "Numbers that were not given pass, as long as the given ones are there too.")
def others_as_well(expressions, given):
    return [found is not None and not Counter(of_row) - Counter(found[1]) for found, of_row in zip(expressions, given)]


@STEPS.slip("fair", "The order of the numbers matters in yours: sort both before you compare them.")
def in_order(expressions, given):
    return [found is not None and found[1] == list(of_row) for found, of_row in zip(expressions, given)]


@STEPS.slip("fair", "Only how many numbers there are is compared. They have to be those given.")
def only_how_many(expressions, given):
    return [found is not None and len(found[1]) == len(of_row) for found, of_row in zip(expressions, given)]


@STEPS.slip("hits", "The value is not compared with the target: any use of the numbers is paid.")
def any_value(expressions):
    return [found is not None for found in expressions]


@STEPS.slip("hits", "The value is cut to an integer before it is compared: 22.5 is not 22.")
def cut_to_integers(expressions, goals):
    return [found is not None and int(found[0]) == goal for found, goal in zip(expressions, goals)]


@STEPS.slip("hits", "A value near the target is paid. It has to be the target.")
def near_misses(expressions, goals):
    return [found is not None and abs(found[0] - goal) <= 1 for found, goal in zip(expressions, goals)]


STEPS.add(*REWARD_SLIPS.named("first_target_for_all"))


@STEPS.slip("given", "Every completion is compared with the first row's numbers. Each has its own.")
def first_numbers_for_all(numbers):
    return [numbers[0]] * len(numbers)


@STEPS.slip("solved", "Either of the two is enough in yours. Value *and* numbers have to be right.")
def either(hits, fair):
    return [hit or right for hit, right in zip(hits, fair)]


@STEPS.slip("solved", "Right and wrong are exchanged.")
def exchanged(solved):
    return [not right for right in solved]


STEPS.add(RETURNED_TOO_EARLY, SAME_FOR_ALL)


PROBLEMS = (
    (NUMBERS, TARGET, "3 * 8 - 2"),
    ([2, 3, 8], 22, "3 * 8 - 2"),
    ([5, 5], 10, "5 + 5"),
    ([5, 5], 0, "5 - 5"),
    ([9, 2, 4], 18, "4 * 9 / 2"),
    ([1, 2, 3], 7, "1 + 2 * 3"),
    ([2, 5, 2], 3, "5 - 2"),
    ([3, 3, 8], 19, "8 + 8 + 3"),
    ([5, 2], 2, "5 / 2"),
    ([5, 3], 2, "5 / 3"),
    ([4, 6], 11, "4 + 6"),
    ([4, 6], 24, "6 * 4"),
    ([22], 22, "22"),
    ([1, 21], 22, "21 + 1 + 0"),
    ([3, 8, 2], 19, "8 + 8 + 3"),
    ([3, 8], 5, "3 - 8"),
    ([3, 8], 0, "3 - 8"),
    ([3, 4], 21, "3 * 4"),
    ([64, 3], 22, "64 / 3"),
    ([68, 3], 22, "68 / 3"),
    ([13, 8], 11, "3 + 8"),
    ([12, 3], 24, "1 + 23"),
    ([7, 9, 2, 8], 63, "7 * 9 - 2 / 8"),
    ([7, 1, 20, 20], 7, "7 + 1 / 20 / 20"),
)


@STEPS.slip("hits", "The sign of the value is lost: 3 - 8 is paid for a target of 5. Compare the value itself.")
def sign_lost(expressions, goals):
    return [found is not None and abs(found[0]) == goal for found, goal in zip(expressions, goals)]


@STEPS.slip("hits", "A value less than 1 off the target is paid. It has to be the target.")
def less_than_one_off(expressions, goals):
    return [found is not None and abs(found[0] - goal) < 1 for found, goal in zip(expressions, goals)]


@STEPS.slip(
    "fair",
    "A number may be used twice in the place of another: you compare how many there are and whether each is among those "
    "given. Compare the sorted lists.",
)
def among_the_given(expressions, given):
    return [
        found is not None and len(found[1]) == len(of_row) and set(found[1]) <= set(of_row)
        for found, of_row in zip(expressions, given)
    ]


@STEPS.slip("hits", "The value is rounded before it is compared: 22.4 is not 22.")
def rounded(expressions, goals):
    return [found is not None and round(found[0]) == goal for found, goal in zip(expressions, goals)]


@STEPS.slip(
    "rewards", "Completions without an expression are left out of the list. They earn 0.0 and keep their place."
)
def without_expression_left_out(expressions, solved):
    return [float(right) for found, right in zip(expressions, solved) if found is not None]


@STEPS.slip("fair", "The sums of the numbers are compared. Compare the numbers themselves, sorted.")
def sums_compared(expressions, given):
    return [found is not None and sum(found[1]) == sum(of_row) for found, of_row in zip(expressions, given)]


@STEPS.slip(
    "fair",
    "Each number is to occur once in yours. One that is given twice is used twice: compare how often each occurs.",
)
def each_once(expressions, given):
    return [
        found is not None
        and len(found[1]) == len(of_row)
        and all(list(found[1]).count(number) == 1 for number in of_row)
        for found, of_row in zip(expressions, given)
    ]


def draw(draw: Draw) -> Case:
    rows = [_row(draw) for _ in range(draw.size(3))]
    completions, numbers, target = map(list, zip(*rows))
    return {"prompts": [""] * len(rows), "completions": completions, "numbers": numbers, "target": target}


def _row(draw: Draw) -> tuple[str, list[int], int]:
    numbers, target, answer = draw.choice(PROBLEMS)
    text = tagged("so", answer) if draw.random() < 0.6 else drawn(draw)
    return text, list(numbers), target


def boundary() -> list[Case]:
    """Every kind of completion to one problem, each problem's own expression, and each with another's numbers."""
    columns = {"prompts": [""], "numbers": [NUMBERS], "target": [TARGET]}
    cases = [columns | {"completions": [text]} for text in said()]
    for numbers, target, answer in PROBLEMS:
        cases.append(columns | {"completions": [tagged("so", answer)], "numbers": [list(numbers)], "target": [target]})
    return [{name: case[name] for name in EXERCISE.arguments} for case in cases]


EXERCISE = Exercise(
    name="correctness reward",
    function="correctness_reward",
    contract="`f(prompts, completions, numbers, target, **columns) -> list of floats`: 1.0 for a solved problem.",
    steps=STEPS,
    arguments={
        "prompts": Texts("B", always_shown=False),
        "completions": Texts("B"),
        "numbers": Things("B"),
        "target": Things("B"),
    },
    result=Floats(),
    draw=draw,
    boundary=boundary,
    call=as_score_calls,
    draws=111,
)
