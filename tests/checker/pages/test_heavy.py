"""Texts that would take a checker minutes, or make a page that no browser opens.

Sizes are such that work growing with the square of the input would take minutes.
"""

import time
from types import SimpleNamespace

import pytest

from checker.checking.check import check
from checker.pages import builtin
from checker.pages.rendering import render
from tests.checker.conftest import code, markdown
from tests.checker.hostile import everything, notebook_of, showing
from tests.conftest import few_of

MERGES = "a: &x0 {k: 1}\n" + "".join(f"b{i}: &x{i + 1} {{<<: [*x{i}, *x{i}]}}\n" for i in range(60))
SLOW = {
    "blank lines, for patterns that begin with white space": markdown(" \n" * 100_000),
    "blank lines in code": code(" \n" * 90_000),
    "spaces without end in code": code("x = 1" + " " * 150_000 + "!"),
    "exercises by the thousand": code("# student code here\nx = 1\n" * 5_000),
    "a run of ticks, for code spans": markdown("x " + "`" * 200_000 + "y"),
    "a header whose merge keys double sixty times": markdown(f"---\n{MERGES}---"),
    "keys of Weights & Biases that do not end": code("wandb" * 30_000),
    "a number without end in a training log": code("# Cell 6: Loop\nx", "reward loss\n" + "1" * 100_000 + "_"),
    "a number without end in an evaluation": code("# Cell 7: Loop\nx", "baseline reward " + "1" * 100_000 + "_"),
    "headings that are not closed": markdown("<h1>" * 10_000),
    "elements that are not closed in an output": showing(**{"text/html": "<div>" * 70_000}),
    "brackets": markdown("[" * 40_000),
    "nested expressions": code("(" * 90_000),
    "a long chain of attributes": code("a" + ".b" * 90_000),
    "the same name bound thousands of times": code("x = x + y * z\n" * 5_000),
    "formulas inside formulas": markdown("$$" + "{" * 10_000 + "}" * 10_000 + "$$"),
    "colours that do not end": code("x", "\x1b[" * 100_000),
    "a line that is redrawn for ever": code("x", "\r" * 200_000),
}
FEW_SLOW = [
    "blank lines, for patterns that begin with white space",
    "a run of ticks, for code spans",
    "a header whose merge keys double sixty times",
    "nested expressions",
    "formulas inside formulas",
]


@pytest.mark.parametrize("name", few_of(SLOW, FEW_SLOW))
def test_no_text_takes_the_checker_minutes(save, name):
    start = time.process_time()
    assert everything(save(notebook_of(SLOW[name]))).status == "fail"
    assert time.process_time() - start < 20


LARGEST_PROMISED = 20_000_000
SECONDS_PROMISED = 5


def times(piece: str, number: int = 40_000) -> str:
    return (piece * number)[:number]


# What made a page of 62 MB, or took minutes, or would where a limit is lifted.
HEAVY = {
    "formulas that name each other's places": markdown(
        "".join(f"$FORMULA{n}END FORMULA{n}END$ " for n in range(1, 26))
    ),
    "formulas that use a place's marks": markdown("".join(f"$\ue000{n}\ue001\ue000{n}\ue001$ " for n in range(1, 26))),
    "a title that is white space": markdown("title:" + " \n" * 50_000),
    "empty tags": showing(**{"text/html": "<b></b>" * 50_000}),
    "as many tags as are let through": showing(**{"text/html": "<b></b>" * 19_000}),
    "a picture that fits no page": showing(**{"image/png": "A" * 19_000_000}),
    "as many formulas as fit": markdown(times("$x$ ")),
    "tables": markdown(times("|a|b|\n|-|-|\n")),
}
FEW_HEAVY = ["formulas that name each other's places", "a title that is white space", "empty tags"]


@pytest.mark.parametrize("name", few_of(HEAVY, FEW_HEAVY))
def test_a_page_is_bounded(save, tmp_path, name):
    """Catches text that grows at each replacement, work that takes the square of its input, and pages without a limit.

    The notebook holds the heavy cell three times; what is not shown is said.
    """
    path = save(notebook_of(*[HEAVY[name]] * 3))
    report = check(path)
    start = time.process_time()
    text = render(path, tmp_path / "out", "builtin", report=report).read_text(encoding="utf-8")
    assert len(text) < LARGEST_PROMISED
    assert time.process_time() - start < SECONDS_PROMISED  # 1.3 on the slowest of them; the next test takes no time


def test_no_cell_is_begun_when_the_time_is_up(save, tmp_path, monkeypatch):
    """Catches a limit that is not asked between cells, or lies above the promise. The clock is a stand-in for the
    processor's: each cell takes 1.2 s of it.

    What it does not show is one cell that takes for ever: that has no end here but its length, LONGEST, and the texts
    of HEAVY are the worst that are known for it.
    """
    clock = SimpleNamespace(now=100.0, process_time=lambda: clock.now)
    of_a_cell = builtin.code

    def slow(cell, outline):
        clock.now += 1.2
        return of_a_cell(cell, outline)

    monkeypatch.setattr("checker.pages.body.time", clock)
    monkeypatch.setattr(builtin, "code", slow)
    path = save(notebook_of(*[code(f"print({number})") for number in range(9)]))
    text = render(path, tmp_path / "out", "builtin").read_text(encoding="utf-8")
    assert clock.now - 100 < SECONDS_PROMISED
    assert "5 further cells are not shown: showing them takes longer than 4 s." in text


def test_a_page_takes_no_longer_than_it_may(save, tmp_path, monkeypatch):
    """Catches a limit that is looked at between cells alone: one cell can hold outputs without end."""
    monkeypatch.setattr("checker.pages.body.SECONDS", 0)
    cell = code("print(1)", "1\n")
    monkeypatch.setattr("checker.pages.body.Limits.allow", lambda self, cell: True)
    text = render(save(notebook_of(cell)), tmp_path / "out", "builtin").read_text(encoding="utf-8")
    assert "1 further outputs are not shown" in text


def test_what_a_page_leaves_out_is_said(save, tmp_path):
    """Catches a picture that is dropped in silence, and a page that stops without a word."""
    path = save(notebook_of(HEAVY["a picture that fits no page"], code("# Cell 3: Data")))
    text = render(path, tmp_path / "out", "builtin").read_text(encoding="utf-8")
    assert "2 further cells are not shown: a page has at most 18 MB." in text
