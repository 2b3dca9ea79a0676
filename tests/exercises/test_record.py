"""A verdict as it is shown: in colour, as plain text, and what is remembered of the function."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from shared.exercises import record
from shared.exercises.judging import Verdict
from shared.exercises.record import Passed, as_html, show

RIGHT = Verdict("a < b", True, "right in all 3 cases.", 3)
WRONG = Verdict("a < b", False, "it gives `x < 1` & more.", 3)
OPEN = Verdict("a < b", False, "it is not filled in yet.")


@pytest.fixture
def outside(monkeypatch):
    monkeypatch.setattr(record, "in_jupyter", lambda: False)


def test_a_verdict_is_shown_as_text_and_stands_for_true_or_false(outside, capsys):
    """Catches a check that is true of a wrong function, and a text that is told twice."""
    for verdict in (RIGHT, WRONG):
        shown = show(verdict)
        assert bool(shown) is verdict.passed and repr(shown) == str(verdict.passed)
        assert capsys.readouterr().out == f"{verdict.line}\n"


def test_a_function_is_refused_for_a_mistake_of_its_own(outside):
    """Catches a later cell that is stopped because a helper was wrong, or that a mended function is still refused in."""

    def function():
        pass

    for verdict, refused in (
        (WRONG, True),
        (RIGHT, False),
        (WRONG, True),
        (OPEN, False),
        (WRONG, True),
        (Verdict("a", False, "first mend `b`.", 3, (), ("b",), True), False),
        (Verdict("a", False, "first mend `b`.", 3, (), ("b",), False), True),
    ):
        show(verdict, function)
        assert (function in record.REFUSED) is refused
    show(WRONG, len)


def test_a_result_shows_itself_in_a_terminal_alone(monkeypatch, capsys):
    for jupyter, shown in ((False, "True\n"), (True, "")):
        monkeypatch.setattr(record, "in_jupyter", lambda jupyter=jupyter: jupyter)
        Passed(True)._ipython_display_()
        assert capsys.readouterr().out == shown


def test_what_a_student_wrote_is_text_on_the_page():
    """Catches a page that a function's text can write into, and lines of a case that run together."""
    colour = "padding-left: .6em; border-left: 3px solid"
    assert as_html(RIGHT) == f'<div style="{colour} #1a7f37"><b>✓ a &lt; b</b>: right in all 3 cases.</div>'
    wrapped = "white-space: pre-wrap; overflow-wrap: break-word; "
    assert as_html(WRONG) == (
        f'<div style="{wrapped}{colour} #cf222e"><b>✗ a &lt; b</b>: it gives <code>x &lt; 1</code> &amp; more.</div>'
    )
    assert f'"{colour} #6e7781"' in as_html(OPEN).replace(wrapped, "") and "○" in as_html(OPEN)
    assert 'it\'s a "text"' in as_html(Verdict("a", False, 'it\'s a "text".', 3)), "shorter than with entities"


def test_a_verdict_has_a_form_for_each_reader():
    bundled = record.bundle(WRONG)
    assert list(bundled) == ["text/plain", "text/html", "application/vnd.tiny-grpo.check+json"]
    assert bundled["text/plain"] == WRONG.line and bundled[record.MIME] == WRONG.record
    assert bundled["text/html"] == as_html(WRONG)


def test_in_a_notebook_the_verdict_is_displayed_and_nothing_is_printed(monkeypatch, capsys):
    """Catches a verdict that is shown as the text of a dict, and one that is told twice."""
    displayed = []
    monkeypatch.setattr(record, "in_jupyter", lambda: True)
    monkeypatch.setattr("IPython.display.display", lambda *data, raw=False: displayed.append((*data, raw)))
    assert show(WRONG) == False  # noqa: E712
    assert displayed == [(record.bundle(WRONG), True)] and capsys.readouterr().out == ""


def test_a_terminal_of_ipython_is_no_notebook(monkeypatch):
    """Catches HTML that a terminal cannot show, and plain text in every notebook."""
    for shell, notebook in ((SimpleNamespace(kernel=1), True), (SimpleNamespace(parent=1), False), (None, False)):
        monkeypatch.setattr("IPython.get_ipython", lambda shell=shell: shell)
        assert record.in_jupyter() is notebook
    monkeypatch.setitem(sys.modules, "IPython", None)
    assert record.in_jupyter() is False


def test_what_to_write_is_told_to_who_asks(outside, capsys):
    """Catches a verdict that gives its remedy away, one that hides it for good, and one recorded in the notebook."""
    told = replace(WRONG, hint="Use `y`.")
    show(told)
    assert capsys.readouterr().out == f"{told.line}\nFor a hint, call the check with `hint=True`.\n"
    show(told, hint=True)
    assert capsys.readouterr().out == f"{told.line}\nUse `y`.\n"
    assert "<details><summary>Hint</summary>Use <code>y</code>.</details>" in as_html(told)
    assert "<details open>" in as_html(told, hint=True) and "<details" not in as_html(WRONG)
    assert told.record == WRONG.record
