"""The arguments that a function never reads, as its code tells without being run."""

import dis
from types import SimpleNamespace

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
    ],
)
def test_an_argument_that_is_never_read_is_found(source, names):
    """Catches one that an inner function reads, one that the reference does not read either, one by keyword alone."""
    scope = {}
    exec(source, scope)
    assert unread(Exercise, scope["f"]) == names


def test_two_arguments_that_newer_versions_of_python_read_at_once_are_read(monkeypatch):
    """Catches every right function of two arguments blamed on a student's newer Python."""
    at_once = SimpleNamespace(opname="LOAD_FAST_LOAD_FAST", argval=("x", "y"))
    monkeypatch.setattr(dis, "get_instructions", lambda code: [at_once])
    assert unread(Exercise, lambda x, y: x + y) == []


def test_of_what_has_no_code_nothing_is_said():
    assert unread(Exercise, len) == []
