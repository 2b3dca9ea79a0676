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
        assert mutant.source != SOURCE


def test_a_mutant_knows_the_lines_of_its_function():
    """By them the tests are found that run it; what stands outside of functions is for all tests."""
    lines = {mutant.where: mutant.lines for mutant in mutants_of(SOURCE)}
    assert 16 in lines["less"] and 10 not in lines["less"] and not lines[""] and not lines["Settings"]


STATEMENTS = '''def kept(rows, log):
    """A text."""
    import json
    total = 0
    for row in rows:
        total = total + row
        log.write(row)
        log.flush()
    if total > LIMIT:
        return None
    first, second = rows[0], rows[1]
    later: int = 3
    save(total)
    return json.dumps(first)
'''


def test_statements_are_removed_and_neighbours_swapped():
    """Catches a harness that sees no forgotten call and no wrong order, and one that counts what any call shows."""
    found = {label for label in labels(STATEMENTS) if label.endswith("pass") or "flush() log.write" in label}
    assert found == {
        "kept: total = total + row  ->  pass",
        "kept: log.write(row)  ->  pass",
        "kept: log.flush()  ->  pass",
        "kept: log.write(row) log.flush()  ->  log.flush() log.write(row)",
        "kept: for row in rows: total = total + row log.write(row) log.flush()  ->  pass",
        "kept: if total > LIMIT: return None  ->  pass",
        "kept: return None  ->  pass",
        "kept: save(total)  ->  pass",
        "kept: return json.dumps(first)  ->  pass",
    }


def test_a_swap_keeps_values_before_what_reads_them():
    """Catches mutants that only ask for a name too early, that swap two settings, or that leave a line behind a return."""
    swapped = [label.split("  ->  ")[0] for label in labels(STATEMENTS) if not label.endswith("pass")]
    assert "kept: later: int = 3 save(total)" in swapped and "kept: total = 0 for row in rows:" not in " ".join(swapped)
    assert not any(one.startswith("kept: save(total) return") for one in swapped)
    assert "kept: first, second = rows[0], rows[1] later: int = 3" not in swapped
