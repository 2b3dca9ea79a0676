"""Judging a function with right ones in the place of the student's other functions that it calls."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType

from shared.exercises.exercise import Exercise


def helpers_of(exercise: Exercise, function: Callable) -> list[tuple[Exercise, Callable]]:
    """The exercises that this one needs, each with the student's function of its name, where this function calls it.

    Only functions of the same notebook count: what is imported is no exercise.
    """
    variables = getattr(function, "__globals__", {})
    if not isinstance(function, FunctionType):
        return []
    names = _names(function.__code__, variables, set())
    found = []
    for need in exercise.needs:
        helper = variables.get(need.function)
        if need.function in names and isinstance(helper, FunctionType) and helper.__globals__ is variables:
            found.append((need, helper))
    return found


def _names(code: CodeType, variables: dict, seen: set[str]) -> set[str]:
    """The names that a function uses, and those that the notebook's functions among them use."""
    for name in code.co_names:
        if name in seen:
            continue
        seen.add(name)
        other = variables.get(name)
        if isinstance(other, FunctionType) and other.__globals__ is variables:
            _names(other.__code__, variables, seen)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _names(constant, variables, seen)
    return seen


@contextmanager
def with_references(function: Callable, needs: list[Exercise]) -> Iterator[None]:
    """A block in which the function finds the references under the names of the exercises that it needs."""
    variables = function.__globals__
    before = {need.function: variables[need.function] for need in needs}
    variables.update({need.function: need.reference() for need in needs})
    try:
        yield
    finally:
        variables.update(before)
