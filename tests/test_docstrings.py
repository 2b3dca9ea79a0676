"""A docstring begins with a thing or a deed: "The limits of a box", "Find notebooks that resemble each other"."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
RELATIVE = re.compile(r"(What|Which|Where|Whose|Who|How|Whether|When|Why)\b")
QUOTED = re.compile(rf"""["'][\s\\]*{RELATIVE.pattern}""")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def beginnings(source: str) -> Iterator[tuple[int, str]]:
    """The line of each module, class and function with a docstring, and the first line of that docstring."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node)):
            yield getattr(node, "lineno", 1), text.splitlines()[0]


def relative_clauses(source: str) -> list[tuple[int, str]]:
    if not QUOTED.search(source):  # to parse all of them takes seconds
        return []
    return [(line, first) for line, first in beginnings(source) if RELATIVE.match(first)]


@pytest.mark.parametrize("folder", ["checker", "shared", "benchmarks", "tests"])
def test_a_docstring_begins_with_what_a_thing_is(folder):
    """Catches "What a rule is" and "Whether a name matches": a reader has to find the noun first."""
    found = [
        f"{path.relative_to(PROJECT)}:{line}: {first}"
        for path in sorted(PROJECT.joinpath(folder).rglob("*.py"))
        for line, first in relative_clauses(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


def test_every_kind_of_docstring_is_read():
    """Catches a test that looks at modules alone, or at no method."""
    source = '"""What is here."""\nclass A:\n    """Who is here."""\n    def f(self):\n        """Whether it is."""\n'
    assert [line for line, _ in relative_clauses(source)] == [1, 2, 4]
