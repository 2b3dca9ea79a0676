"""Runs that were recorded: the still is a step of the record, and the record is in the page for its script."""

import json
import re
from pathlib import Path

import pytest

from checker.pages.templates import style
from checker.reading.notebook import Unreadable
from checker.site.pieces import recorded

PROJECT = Path(__file__).parents[4]


def embedded(html: str) -> dict:
    """The record that a piece holds."""
    (data,) = re.findall(r'<script type="application/json">(.*?)</script>', html, re.DOTALL)
    return json.loads(data)


def test_the_still_of_the_dots_is_a_step_of_the_record():
    """Catches a still of another step than the slider shows, one in which all are wrong, a script without its record."""
    html = recorded.watch(PROJECT, [])
    record = embedded(html)
    assert record == json.loads((PROJECT / "benchmarks" / "watch.json").read_text(encoding="utf-8"))
    (value,) = re.findall(r'<input type="range" name="step"[^>]*value="(\d+)"', html)
    (first,) = re.findall(r'data-first="(\d+)"', html)
    group = record["prompts"][0]["groups"][int(first)]
    assert first == value and {0, 1} == set(group["rewards"])
    shown = [("wrong", "right")[reward] for reward in group["rewards"]], [said.strip() for said in group["completions"]]
    assert re.findall(r'<tr class="(right|wrong)"><td><code>(.*?)</code>', html) == list(zip(*shown, strict=True))
    assert style("watch.css") in html and '<form class="controls" hidden>' in html


def test_the_still_of_the_grid_is_an_iteration_of_the_record():
    """Catches arrows of another iteration, or that point nowhere yet, and a script without its record."""
    html = recorded.grid(PROJECT, [])
    record = embedded(html)
    assert record == json.loads((PROJECT / "benchmarks" / "grid.json").read_text(encoding="utf-8"))
    (value,) = re.findall(r'<input type="range" name="look"[^>]*value="(\d+)"', html)
    look = record["looks"][int(value)]
    assert f"<b data-iteration>{look['iteration']}</b>" in html
    assert sum(max(turns) > 0.6 for turns in look["policy"]) > len(look["policy"]) / 2
    found = html[html.index('data-map="found"') : html.index('data-map="hidden"')]
    drawn = [map(float, re.findall(r'style="--p: ([\d.]+)"', place)) for place in found.split("data-state=")[1:]]
    assert [list(turns) for turns in drawn] == [*look["policy"][:24], []]
    assert style("grid.css") in html


@pytest.mark.parametrize(("piece", "name"), [(recorded.watch, "watch"), (recorded.grid, "grid")])
@pytest.mark.parametrize("written", [None, "no JSON"])
def test_a_record_that_cannot_be_read_is_told_with_the_command_that_makes_it(tmp_path, piece, name, written):
    """Catches a traceback where a record was not made, and the command of another one."""
    if written:
        (tmp_path / "benchmarks").mkdir()
        (tmp_path / "benchmarks" / f"{name}.json").write_text(written, encoding="utf-8")
    with pytest.raises(Unreadable, match=rf"benchmarks/{name}\.json.*`python -m benchmarks\.{name}`"):
        piece(tmp_path, [])


def test_nothing_in_a_record_ends_its_script():
    """Catches a completion of a model that closes the element, and with it the page's own script."""
    record = {"said": "</script><b>größer"}
    text = recorded.embedded(record)
    assert "<" not in text and json.loads(text) == record and "größer" in text
