"""The words of a report in a terminal: lines of findings, verdicts, warnings, and the line that a progress bar rewrites."""

import io
from types import SimpleNamespace

import pytest
from rich.console import Console

from checker.checking.check import Report
from checker.checking.terminal import MOST_LINES, NAMED, LiveLine, complain, headline, remark, row, show, warn
from checker.rules.findings import Finding


def finding(code="S001", level="error", place="", advice="Mend it."):
    return Finding(code, level, None, "it is wrong", advice, place)


def told(*findings, verbose=False, **facts) -> list[str]:
    """The lines that are shown of a report with these findings."""
    out = io.StringIO()
    show(Report("x.ipynb", "fail", findings, **facts), Console(file=out, width=200, highlight=False), verbose)
    return [line.rstrip() for line in out.getvalue().splitlines()]


@pytest.mark.parametrize("level", ["error", "warning", "note"])
def test_a_finding_is_its_mark_its_code_its_place_and_its_advice_below(level):
    lines = told(finding(level=level, place="Cell 5: Step", advice="First this.\nThen that."))
    assert lines[1].split() == [level, "S001", "Cell", "5:", "Step:", "it", "is", "wrong."]
    assert [line.strip() for line in lines[2:]] == ["First this.", "Then that."]
    assert {len(line) - len(line.lstrip()) for line in lines[2:]} == {lines[1].index("Cell 5")}


@pytest.mark.parametrize("others", [1, NAMED, NAMED + 2])
def test_findings_that_are_alike_name_a_few_places_and_say_that_there_are_more(others):
    """Catches a place that is told twice, and a list that breaks off without a word."""
    places = [f"Cell {number}" for number in range(others + 1)]
    said = told(*[finding(place=place) for place in places])[2].strip()
    named = "; ".join(places[1 : 1 + NAMED])
    more = " ... (--verbose names them all)" if others > NAMED else ""
    assert said == f"and {others} other{'s' if others > 1 else ''} like it: {named}{more}"
    assert "like it" not in " ".join(told(*[finding(place=place) for place in places], verbose=True))


def test_what_does_not_fit_the_screen_is_counted():
    """Catches findings that nobody hears of, and a first one that is left out because it is long."""
    findings = [finding(code=f"S{number:03d}") for number in range(40)]
    lines = told(*findings)
    shown = sum(" S0" in line for line in lines)
    assert shown == MOST_LINES // 2 and lines[-1].strip() == f"and {40 - shown} further findings: --verbose shows them"
    assert told(*findings[: shown + 1])[-1].strip() == "and 1 further finding: --verbose shows them"
    assert sum(" S0" in line for line in told(*findings, verbose=True)) == 40
    long = finding(advice="\n".join("a line" for _ in range(2 * MOST_LINES)))
    assert told(long).count(" " * 15 + "a line") == 2 * MOST_LINES


def test_what_was_cut_and_where_the_characters_went_is_told():
    lines = told(outputs_cut=2, characters_cut=1234, where_they_went=("[bold] Cell 6",))
    assert "2 outputs cut" in lines[1] and "1,234 characters less" in lines[1]
    assert lines[2].strip() == "[bold] Cell 6"


def test_a_verdict_has_its_facts_beside_it():
    report = Report("[a].ipynb", "pass", (), 1234, sections_present=9, checks=3, checks_passed=2)
    assert plain(headline(report)) == "pass  [a].ipynb  1,234 of 40,000 characters, 9 of 9 cells, checks 2 of 3"
    unreadable = Report("a.ipynb", "unreadable", (finding(advice="No [JSON]."),))
    assert plain(headline(unreadable)) == "unreadable  a.ipynb"
    assert plain(row(unreadable)) == "unreadable  a.ipynb  No [JSON]."


def test_a_notebook_among_many_is_one_line_with_what_counts():
    """Catches notes that look like faults in the line of a folder."""
    findings = (finding(), finding(level="warning"), finding(level="warning"), finding(level="note"))
    report = Report("a.ipynb", "fail", findings, 1234, checks=3, checks_passed=2)
    said = "fail  a.ipynb  1,234 of 40,000 characters, 1 error, 2 warnings, checks 2 of 3"
    assert plain(row(report)) == said


def plain(marked: str) -> str:
    """A line with rich's marks, as a file shows it."""
    out = io.StringIO()
    Console(file=out, width=500, highlight=False).print(marked)
    return out.getvalue().rstrip()


@pytest.mark.parametrize(("say", "mark"), [(complain, "error"), (warn, "warning"), (remark, "note")])
def test_sentences_go_to_stderr_with_a_coloured_mark_and_without_coloured_numbers(say, mark, capsys, monkeypatch):
    """Catches a path or a number in a colour that means nothing, and a sentence that is broken in two."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    say(f"[x] has 12 errors in '/a/b'{' and more' * 30}")
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    coloured, _, rest = err.partition("[x]")
    assert mark in coloured and "\x1b[" in coloured
    assert rest.startswith(" has 12 errors in '/a/b' and more")


@pytest.fixture
def line(capsys):
    """A function that gives the text of a live line: on a terminal ten characters wide, or on none."""

    def written(act, is_terminal=True) -> str:
        act(LiveLine(SimpleNamespace(is_terminal=is_terminal, width=10)))
        return capsys.readouterr().out

    return written


def test_a_progress_bar_stays_in_one_line(line):
    """Catches a bar that wraps, so that each step leaves a line behind."""
    shown = line(lambda live: live.write("first\nsecond\nthe last line\n"))
    assert shown.startswith("\r\x1b[2K") and shown.endswith("K" + "the last line"[:9])
    assert line(lambda live: live.write(" \n")) == ""
    assert line(lambda live: live.clear()) == "\r\x1b[2K"


def test_nothing_is_rewritten_where_there_is_no_terminal(line):
    """Catches escape codes in a log."""
    assert line(lambda live: (live.write("10 %"), live.clear()), is_terminal=False) == ""
