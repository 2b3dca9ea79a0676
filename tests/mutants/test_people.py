"""The list of mistakes stays one that can be made in today's code."""

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.mutants.files import nearest_tests
from tests.mutants.people import Mistake, made, read

MISTAKES = read()
JUDGE = ("shared/exercises/", "checker/grading/judge/")


def area(file: str) -> str:
    return "the judge" if file.startswith(JUDGE) else file.partition("/")[0]


def test_each_mistake_can_be_made():
    """Catches a mistake that is in no file any more, so that nobody is asked whether it is noticed."""
    for mistake in MISTAKES:
        source = made(mistake)
        ast.parse(source)
        assert source != Path(mistake.file).read_text(encoding="utf-8") and mistake.says.endswith(".")
        assert nearest_tests(mistake.file), mistake.file


def test_there_are_as_many_as_were_written():
    """Catches a mistake that was taken off the list because no test noticed it."""
    assert Counter(area(mistake.file) for mistake in MISTAKES) == {"checker": 68, "the judge": 23, "shared": 48}


def test_a_text_that_is_not_there_once_is_refused(tmp_path):
    """Catches a mistake that is made in two places, or in none."""
    (tmp_path / "a.py").write_text("x = 1\ny = 1\n")
    for old, count in (("1", 2), ("2", 0)):
        with pytest.raises(ValueError, match=f"holds '{old}' {count} times"):
            made(Mistake("a.py", old, "3", "."), tmp_path)
    assert made(Mistake("a.py", "x = 1", "x = 3", "."), tmp_path) == "x = 3\ny = 1\n"
