"""`checker explain`: the list of findings, and what is said of one."""

import re

import pytest

from checker.commands.explain import ONLY_ASKED
from checker.rules import READING, RULES
from tests.checker.command_line import checker

ALL = [READING, *RULES]


def words(text: str) -> str:
    return " ".join(text.split())


def test_without_a_code_all_are_listed_with_their_mark_and_name():
    lines = checker("explain").stdout.splitlines()
    assert [line.split()[0] for line in lines] == [rule.code for rule in ALL]
    assert all(line.endswith(rule.name) for line, rule in zip(lines, ALL, strict=True))
    marks = {rule.level: line.split()[1] for line, rule in zip(lines, ALL, strict=True)}
    assert marks == {"error": "error", "warning": "warning", "note": "note", "question": "asks"}


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.code)
def test_one_is_explained_with_what_it_asks_and_examples_of_wrong_and_right(rule):
    """Catches square brackets that are taken for a colour, and a question that is told as an assertion."""
    asks = ONLY_ASKED if rule.level == "question" else rule.asks
    said = f"{rule.code} {rule.name} ({rule.level}) {rule.why} {asks and f'asks {asks} '}wrong {rule.wrong} right {rule.right}"
    for code in (rule.code, rule.code.lower()):
        assert words(checker("explain", code).stdout) == words(said)


def test_a_code_that_does_not_exist_is_answered_with_those_that_do():
    done = checker("explain", "Z999")
    assert done.returncode == 2
    assert done.stderr == f"error  There is no finding Z999. There are {', '.join(rule.code for rule in ALL)}.\n"


def test_examples_of_code_have_no_colours(monkeypatch):
    """Catches half of an example in the colours of a terminal."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    lines = checker("explain", "M010").stdout.splitlines()
    wrong = next(number for number, line in enumerate(lines) if re.fullmatch("\x1b.*mwrong\x1b.*m", line))
    assert re.search(r"\(.*[0-9]", lines[wrong + 1]), "there is something to be coloured"
    assert "\x1b[" not in lines[wrong + 1]
