"""The cases of an exercise: those of the boundary, and those that are drawn from a seed."""

from dataclasses import replace

import torch

from shared.exercises.arguments import Numbers, Texts
from shared.exercises.exercise import LONG, Exercise, is_reference
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def doubled(x):
    return 2 * x


@STEPS.slip("doubled", "You take x once.")
def once(x):
    return x


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


def test_the_cases_of_the_notebook_are_those_of_the_first_seed():
    """Catches hidden cases of seed 1 that a student has seen."""
    shown = [case["x"] for case in TWICE.cases()[1:]]
    assert [x.tolist() for x in shown] == drawn(TWICE, 0)


def test_the_least_that_an_exercise_declares_is_enough():
    """Catches a part that every exercise would have to declare, and a wrong default of one."""
    least = Exercise("a", "a", "", STEPS, {"x": Numbers("B")}, TensorOf("B"), draw=lambda draw: {"x": draw.numbers(2)})
    cases = least.cases()
    assert len(cases) > 10 and [least.size(case) for case in cases] == [2] * len(cases)
    assert not least.needs and not least.gradient and least.relevant is None
    assert list(least.smaller(cases[0])) == [] and {*least.supplies, *least.shows} == set()
    assert least.call(lambda *given: given, cases[0]) == (cases[0]["x"],)


def test_some_cases_are_longer_louder_quieter_and_more_alike_than_chance_draws_them():
    """Catches sizes of which nobody has seen a long one, numbers of one magnitude, and rows that always differ."""
    bounded = {"share": Numbers("B", least=0, most=1), "said": Texts("B")}

    def draw(chance):
        B = chance.size(4, least=3)
        numbers = {name: chance.numbers(B, least=0.5, most=1) for name in ("x", "y", "share")}
        return numbers | {"said": [str(place) for place in range(B)]}

    kinds = {"x": Numbers("B", least=0), "y": Numbers("B", least=0), **bounded}
    cases = replace(TWICE, arguments=kinds, draw=draw, boundary=list, draws=12).cases()
    largest = [case["x"].max().item() for case in cases]
    assert max(largest) > 1.5 and min(largest) < 0.001 and max(case["share"].max() for case in cases) <= 1
    assert [len(case["x"]) > LONG for case in cases].count(True) == 1
    tied = [(case["x"] == case["y"]).sum().item() for case in cases if len(set(case["x"].tolist())) > 2]
    assert max(tied) > 1 and not any(torch.equal(case["x"], case["y"]) for case in cases)
    assert any(len(set(case["said"])) == 1 for case in cases)


def test_a_reference_is_known_as_one():
    """Catches a reference that is told what to find in a notebook, and a student's function that is not."""
    assert is_reference(TWICE.reference()) is True and is_reference(drawn) is False


def test_a_reference_takes_its_arguments_as_a_student_passes_them():
    """Catches a reference that stands in for a helper and cannot be called by name, and one without the slip asked for."""
    doubles = replace(TWICE, steps=STEPS)
    assert doubles.reference()(3) == doubles.reference()(x=3) == 6
    (slip,) = STEPS.slips
    assert doubles.reference((slip,))(3) == 3
