"""The cases of an exercise: those of the boundary, and those that are drawn from a seed."""

from dataclasses import replace

from shared.exercises.arguments import Numbers
from shared.exercises.exercise import Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

TWICE = Exercise(
    "twice the number",
    "twice",
    "",
    Steps(),
    {"x": Numbers("B")},
    TensorOf("B"),
    draw=lambda draw: {"x": draw.numbers(2)},
    boundary=lambda: [{"x": 0}],
    draws=3,
)


def drawn(exercise, seed):
    boundary, *cases = exercise.cases(seed)
    assert boundary == {"x": 0}
    return [case["x"].tolist() for case in cases]


def test_a_seed_draws_its_own_cases_and_the_same_again():
    """Catches hidden cases of grading that are those which everybody has, and those of another exercise."""
    others = [drawn(TWICE, 1), drawn(TWICE, 2), drawn(replace(TWICE, function="thrice"), 1)]
    assert all(drawn(TWICE, 0) != other for other in others) and others[0] not in others[1:]
    assert drawn(TWICE, 0) == drawn(TWICE, 0) and len({tuple(case) for case in drawn(TWICE, 0)}) == 3


def test_a_case_is_drawn_until_it_is_valid():
    """Catches a second draw that is taken whatever it is, and one of the boundary that is drawn again."""
    largest = replace(TWICE, valid=lambda case: case["x"].max() > 1.5, draws=30)
    assert min(map(max, drawn(largest, 0))) > 1.5
