"""The names that a statement binds, each with the value that it gets."""

import ast

import pytest

from checker.reading.syntax.bindings import STATEMENTS, bound

BOUND = {
    "for i, row in enumerate(rows): pass": ["i = 0", "row = rows"],
    "for i, (left, right) in enumerate(pairs): pass": ["i = 0", "left = pairs", "right = pairs"],
    "for a, b in zip(first, second): pass": ["a = first", "b = second"],
    "for a, b in zip(*both): pass": ["a = zip(*both)", "b = zip(*both)"],
    "a, b = c, d": ["a = c plainly", "b = d plainly"],
    "a = b = c": ["a = c plainly", "b = c plainly"],
    "a, b = both": ["a = both", "b = both"],
    "a: int = 1": ["a = 1 plainly"],
    "a: int": [],
    "(a := 1)": ["a = 1 plainly"],
    "a += b": ["a = b"],
    "a.append(b)": ["a = b"],
    "a.extend(b)": ["a = b"],
    "a.b.append(c)": [],
    "a.append()": [],
    "append(a)": [],
    "a.sort(b)": [],
}


@pytest.mark.parametrize("source", BOUND)
def test_each_name_gets_its_part(source):
    """Catches the number of a row taken for the row, and what is within a list taken for the list."""
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, (*STATEMENTS, ast.Call))]
    found = [binding for node in nodes for binding in bound(node)]
    told = [f"{one.name} = {ast.unparse(one.value)}{' plainly' if one.plain else ''}" for one in found]
    assert told == BOUND[source]
    assert all(binding.statement in nodes for binding in found)
