"""Method rules on code that makes a mistake and on code that only looks like it, where no file of the rule holds it."""

from pathlib import Path

import pytest

from checker.checking.check import check
from checker.reading.notebook import Cell, Notebook
from checker.rules import Submission, method
from tests.checker.conftest import code
from tests.checker.rules.method.right import RIGHT
from tests.checker.rules.method.wrong import WRONG


def found(good, save, source) -> list[str]:
    good["cells"][5]["source"] += "\n" + source
    return [f.code for f in check(save(good)).findings if f.code.startswith("M")]


@pytest.mark.parametrize(("expected", "source"), WRONG)
def test_the_mistake_is_found(good, save, expected, source):
    assert expected in found(good, save, source)


@pytest.mark.parametrize("source", RIGHT)
def test_what_only_looks_like_it_is_not(good, save, source):
    assert found(good, save, source) == []


COURSE = Path(__file__).parents[4] / "shared"


@pytest.mark.parametrize("path", sorted(COURSE.glob("*.py")) + sorted(COURSE.glob("tasks/*.py")), ids=lambda p: p.stem)
def test_the_courses_own_code_raises_no_alarm(path):
    """It does right what the rules look for, in other words than the examples here."""
    submission = Submission(Notebook(path, (Cell(0, "code", path.read_text(encoding="utf-8"), 1),)))
    assert [finding for rule in method.RULES for finding in rule.findings(submission)] == []


def test_mistakes_spread_over_cells_are_found(good, save):
    good["cells"][2]["source"] += "\ntext = tokenizer.decode(model.generate(**x)[0])"
    assert found(good, save, "completion = text[len(prompt) :]") == ["M003"]


def test_a_cell_that_is_not_python_does_not_hide_the_others(good, save):
    good["cells"][4]["source"] += "\nthis is not python"
    assert found(good, save, "value = eval(completion)") == ["M013"]


@pytest.mark.parametrize("rule", method.RULES, ids=lambda rule: rule.code)
def test_what_explain_shows_is_true(good, save, rule):
    """The wrong example of `checker explain` is found, and the right one is not."""
    assert rule.code in found(good, save, rule.wrong)
    good["cells"][5] = code("# Cell 5: One GRPO step", "advantages (8,) loss 0.1", 4)
    assert rule.code not in found(good, save, rule.right)
