"""The exercises of a notebook with their points, and the checks that earn them."""

import pytest

from checker.points.items import Check, items_of
from checker.reading.notebook import notebook_of
from tests.checker.conftest import code, markdown

FILLED = "    # student code here\n    # TODO: {wanted} ({points} points)\n    return 1\n    # end student code"
ONE = f"def {{name}}(x):\n{FILLED}"


def exercise(name: str, points: float = 2, wanted: str = "do it") -> str:
    return ONE.format(name=name, points=points, wanted=wanted)


def found(*cells):
    content = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}}
    content["cells"] = [cell | {"id": f"c{number}"} for number, cell in enumerate(cells)]
    return items_of(notebook_of(content), content)


IMPORT = code("from shared import check")


def test_an_item_says_where_it_stands_and_what_earns_it():
    """Catches a heading of the cell below, a key of another exercise, and a check that earns nothing."""
    item, later, answer = found(
        IMPORT,
        code("# Cell 4: Reward\n" + exercise("reward", 1.5, "score")),
        code("check.reward(reward)"),
        code("# Cell 5: Step\n" + exercise("step")),
        markdown("# Cell 8: Analysis\n\n**Why?** Say.\n\n*Worth 3 points.*\n\nSo."),
    )
    assert (item.key, item.function, item.wanted, item.points) == ("c1/1", "reward", "score", 1.5)
    assert (item.section, item.checks, item.written) == ("Cell 4: Reward", (Check("reward", "reward"),), False)
    assert (later.section, later.checks, later.field) == ("Cell 5: Step", (), "Exercise: step")
    assert (answer.section, answer.function, answer.written) == ("Cell 8: Analysis", "", True)
    assert (answer.field, answer.name) == ("Question: Why?", "Why?")


def test_above_the_first_label_is_a_section_too():
    (item,) = found(code(exercise("early")))
    assert item.section == "Before Cell 1"


def test_names_that_are_taken_get_numbers_in_order():
    """Catches a third field that is called as the second, and loses its points to it."""
    same = [markdown("**Why?** Say.\n\n*Worth 1 point.*\n\nSo.")] * 3
    assert [item.field for item in found(*same)] == ["Question: Why?", "Question: Why? (2)", "Question: Why? (3)"]


@pytest.mark.parametrize(
    ("call", "check"),
    [
        ("check.reward(reward)", Check("reward", "reward")),
        ("check.other(reward, helper)", Check("other", "reward", ("helper",))),
        ("check.other(3, reward)", Check("other", "reward")),
        ("check.reward(unknown)", None),
        ("check.reward()", None),
    ],
)
def test_a_check_is_of_the_first_function_that_it_is_handed(call, check):
    """Catches a check whose further functions are lost, and one of nothing in the notebook that earns points."""
    cells = IMPORT, code(exercise("reward")), code("def helper():\n    return 2"), code(call)
    (item,) = found(*cells)
    assert item.checks == ((check,) if check else ())


def test_a_check_of_an_exercise_is_about_this_one_and_of_anything_else_about_those_that_it_calls():
    """Catches a check that earns the points of an exercise which its own only calls."""
    inner, outer = (
        code(exercise("inner")),
        code(ONE.format(name="outer", points=2, wanted="it").replace("1", "inner(1)")),
    )
    helper = code("def prepared():\n    return inner(2)")
    by_outer = found(IMPORT, inner, outer, code("check.outer(outer)"))
    assert [len(item.checks) for item in by_outer] == [0, 1]
    by_helper = found(IMPORT, inner, outer, helper, code("check.rows(prepared)"))
    assert [item.checks for item in by_helper] == [(Check("rows", "prepared"),), ()]


def test_of_two_functions_in_a_cell_each_has_its_exercise():
    """Catches the second exercise of a cell taken for the first function's, and one outside of functions for any's."""
    both = exercise("first") + "\n\n" + exercise("second")
    alone = "# student code here\n# TODO: a number (1 point)\nx = 1\n# end student code"
    items = found(IMPORT, code(both), code("check.second(second)"), code(alone))
    assert [(item.key, item.function, len(item.checks)) for item in items] == [
        ("c1/1", "first", 0),
        ("c1/2", "second", 1),
        ("c3/1", "", 0),
    ]
    assert items[2].name == "a number"
    (broken,) = found(code("def f(:\n" + FILLED.format(wanted="it", points=1)))
    assert broken.function == "" and broken.points == 1


def test_what_stands_below_a_function_is_not_in_it():
    """Catches lines that are counted from 0: the marker below a function then stands in its last line."""
    below = "def helper():\n    return 2\n# student code here\n# TODO: a number (1 point)\nx = 1\n# end student code"
    (item,) = found(code(below))
    assert (item.function, item.name) == ("", "a number")
