"""The changes that make mutants, and the code that has none; skipped where requirements-mutants.txt is not installed."""

import pytest

pytest.importorskip("mutmut")

from tests.mutants.changes import mutants_of

SOURCE = '''"""A text."""
from typing import Literal

LIMIT = 3
Kind = Literal["a"]


class Settings:
    steps: int = 100


@decorated("here")
def less(value: int = 1) -> bool:
    """A text."""
    if len("text") > value:
        raise ValueError("A sentence.", value + 1)
    return value < 2
'''


def labels(source: str) -> list[str]:
    return [str(mutant) for mutant in mutants_of(source)]


def test_decorated_functions_settings_and_constants_are_changed():
    """Catches a return to what mutmut changes by itself: it leaves out most of PPO's experience and all defaults."""
    assert {
        ": LIMIT = 3  ->  LIMIT = 4",
        "Settings: steps: int = 100  ->  steps: int = 101",
        "less: return value < 2  ->  return value <= 2",
        "less: return value < 2  ->  return value < 3",
        'less: if len("text") > value:  ->  if len("text") >= value:',
        'less: raise ValueError("A sentence.", value + 1)  ->  raise ValueError("A sentence.", value - 1)',
    } <= set(labels(SOURCE))


def test_texts_of_errors_types_and_decorators_are_left_out():
    changed = " ".join(label.split("->")[1] for label in labels(SOURCE))
    assert "XX" not in changed and "SENTENCE" not in changed and 'Literal["A"]' not in changed


def test_each_mutant_is_the_whole_file_with_one_change():
    for mutant in mutants_of(SOURCE):
        compile(mutant.source, "mutant", "exec")
        assert mutant.source != SOURCE and mutant.source.count("\n") == SOURCE.count("\n")


def test_a_mutant_knows_the_lines_of_its_function():
    """By them the tests are found that run it; what stands outside of functions is for all tests."""
    lines = {mutant.where: mutant.lines for mutant in mutants_of(SOURCE)}
    assert 16 in lines["less"] and 10 not in lines["less"] and not lines[""] and not lines["Settings"]
