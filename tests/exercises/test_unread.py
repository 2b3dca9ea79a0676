"""The arguments that a function never reads, as its source tells without being run."""

import runpy

import pytest

from shared.exercises.arguments import Kind
from shared.exercises.steps import Steps
from shared.exercises.unread import unread

STEPS = Steps()


@STEPS.step
def added(x, y):
    return x + y


class Exercise:
    """Stands for an exercise: three arguments, of which the reference reads two."""

    steps = STEPS
    arguments = {"x": Kind(), "y": Kind(), "prompts": Kind()}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("def f(x, y, prompts): return x + y", []),
        ("def f(x, y, prompts): return x", ["y"]),
        ("def f(x, y, prompts): return 0", ["x", "y"]),
        ("def f(x, *, y): return x", ["y"]),
        ("def f(x, y): return (lambda: x + y)()", []),
        ("def f(x, y, z): return [x for _ in range(3)]", ["y"]),
        ("def f(x, y):\n    y = 3\n    return x", ["y"]),
        ("def f(*arguments): return arguments[0]", []),
        ("def f(x, y): return sum(y for y in x)", ["y"]),
        ("def f(x, y):\n    for a in x:\n        t = x; y = t\n    return y", []),
        ("def f(x, y): return eval('x + y')", []),
        ("f = lambda x, y: x", ["y"]),
        ("f, g = (lambda x, y: x), (lambda x, y: y)", []),
    ],
)
def test_an_argument_that_is_never_read_is_found(source, names, tmp_path):
    """Catches one that an inner function reads, one that the reference does not read either, one by keyword alone.

    The variable of a comprehension is none of its names, and what is stored and loaded at once is read: since Python 3.12
    and 3.13 bytecode tells of neither.
    """
    file = tmp_path / "cell.py"
    file.write_text(source)
    assert unread(Exercise, runpy.run_path(str(file))["f"]) == names


def test_of_what_has_no_source_or_a_newer_one_nothing_is_said(tmp_path):
    """Catches a function blamed by the lines of another, as when its file has changed since it was imported."""
    scope = {}
    exec("def f(x, y): return x", scope)
    file = tmp_path / "cell.py"
    file.write_text("def f(x, y): return x + y")
    edited = runpy.run_path(str(file))["f"]
    file.write_text("def f(x): return x")
    assert [unread(Exercise, function) for function in (len, scope["f"], edited)] == [[], [], []]
