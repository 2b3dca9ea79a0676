"""The result of one notebook: what it is named after, what it holds, and the points of each exercise."""

import json
from dataclasses import replace

import pytest

from checker.grading.box.limits import Limits
from checker.grading.box.walls import Isolation
from checker.grading.judge import one_notebook
from checker.grading.judge.one_notebook import Job, Settings, _graded_item, encodable, failed, points_of
from checker.grading.judge.reference_process import HiddenVerdict
from checker.grading.judge.worked_notebooks import WorkedNotebook
from checker.points.items import Check, Item
from checker.reading.notebook import read
from checker.reading.syntax.statements import definitions
from tests.checker.conftest import code, markdown
from tests.checker.grading.judge.test_hidden_cases import notebook as notebook

SQUARED, CUBED = Check("square", "square"), Check("cube", "cube")
CODE = Item("cell-07/1", "square", "square it", 2.0, "Cell 7", (SQUARED, CUBED), field="Exercise: square")
WRITTEN = Item("cell-08/1", "", "Success", 3.0, "Cell 8", field="Question: Success", written=True)
GONE = "missing: the question is not in the notebook any more. Look whether it is answered elsewhere."
RIGHT = HiddenVerdict(True, "right")
WRONG = HiddenVerdict(False, "wrong: 4", finding=True, share=0.25)
TWO_THIRDS = HiddenVerdict(False, "wrong: 9", share=2 / 3)
ABOUT_CODE = {
    "key": "cell-07/1",
    "name": "square",
    "section": "Cell 7",
    "wanted": "square it",
    "field": "Exercise: square",
    "written": False,
    "points": 2.0,
    "missing": False,
    "finding": False,
    "mistakes": [],
}


@pytest.fixture
def job(notebook):
    known = definitions(read(notebook("x = 1")))
    worked = WorkedNotebook("maths.ipynb", (CODE, WRITTEN), {}, known, {"cells": []}, {"cells": []})
    return Job("ann", "hw.ipynb", "{}", worked, Settings(7, Isolation("bwrap", "/usr/bin/bwrap")))


def test_a_result_is_named_after_all_that_it_depends_on(job, monkeypatch):
    """Catches points of other settings, another key or another text that are taken for those of today."""
    settings = job.settings
    others = [
        replace(job, student="bob"),
        replace(job, name="other.ipynb"),
        replace(job, text="{} "),
        replace(job, modules=(("helpers.py", "x = 1"),)),
        replace(job, worked_notebook=replace(job.worked_notebook, name="other.ipynb")),
        replace(job, settings=replace(settings, seed=8)),
        replace(job, settings=replace(settings, whole=False)),
        replace(job, settings=replace(settings, isolation=Isolation("none"))),
        replace(job, limits=Limits(wall=1.0)),
    ]
    names = {one.digest for one in (job, *others)}
    for what, value in (("FORMAT", 99), ("__version__", "99"), ("course", lambda: "another")):
        with monkeypatch.context() as patched:
            patched.setattr(one_notebook, what, value)
            names.add(job.digest)
    assert len(names) == 1 + len(others) + 3
    assert all(len(name) == 20 for name in names)
    elsewhere = replace(job, settings=replace(settings, isolation=Isolation("bwrap", "/elsewhere/bwrap")))
    assert elsewhere.digest == job.digest  # of a box what counts is its kind


def test_a_result_without_a_grade_has_no_number_and_says_why(job):
    """Catches a 0 for a notebook that could not be graded, and a result that a reader of it stumbles over."""
    found = failed(job, "the disk was full", transient=True)
    items = found.pop("items")
    assert items[0] == ABOUT_CODE | {"earned": None, "verdict": "not graded: the disk was full"}
    assert [item["written"] for item in items] == [False, True]
    assert found == {
        "format": one_notebook.FORMAT,
        "course": one_notebook.course(),
        "student": "ann",
        "notebook": "maths.ipynb",
        "name": "hw.ipynb",
        "earned": 0,
        "possible": 0,
        "stopped": "the disk was full",
        "ungraded": "the disk was full",
        "transient": True,
        "seconds": 0.0,
        "memory": 0,
        "findings": [],
        "page": "",
    }
    assert failed(job, "no")["transient"] is False


@pytest.fixture
def grading(job, monkeypatch):
    """Grade a notebook of these cells whose functions are all right; nothing of it runs."""
    monkeypatch.setattr(one_notebook, "_references", lambda seed: None)
    monkeypatch.setattr(one_notebook, "judge", lambda job, references: {SQUARED: RIGHT, CUBED: RIGHT})
    settings = replace(job.settings, whole=False)

    def make(*cells):
        content = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
        return one_notebook.grade(replace(job, settings=settings, text=json.dumps(content)))

    return make


def test_a_result_has_the_findings_and_the_page_of_what_was_handed_in(grading):
    """Catches findings or a form that are lost, and a picture called missing that was handed in beside the notebook."""
    square = code("def square(x):\n    return x * x", count=None)
    found = grading(markdown("**Success.** It did. ![curve](curve.png)"), square)
    assert found["items"][0] == ABOUT_CODE | {"earned": 2.0, "verdict": "right"}
    assert (found["items"][1]["earned"], found["earned"], found["possible"]) == (None, 2.0, 2.0)
    codes = {finding["code"] for finding in found["findings"]}
    assert codes and not codes & {"X001", "R004"}
    assert "Question: Success" in found["page"] and "was not run" not in found["page"]
    assert "Exercise: square" not in found["page"]
    assert (found["stopped"], found["seconds"], found["memory"]) == ("", 0.0, 0)


def test_sums_leave_out_what_the_instructor_gives():
    """Catches a question that waits for the instructor, counted as 0 of 3."""
    items = [{"earned": None, "points": 3.0}, {"earned": 1.5, "points": 2.0}, {"earned": 0.0, "points": 4.0}]
    assert points_of(items) == {"earned": 1.5, "possible": 6.0}


def test_half_a_character_is_replaced_wherever_it_stands():
    """Catches a result that cannot be written because a submission printed half a character, in a name or in a list."""
    assert encodable({"a\ud800": ["\ud800b", 1, None, {"c": "d\ud800"}]}) == {"a?": ["?b", 1, None, {"c": "d?"}]}


@pytest.mark.parametrize(
    ("item", "verdicts", "missing", "found"),
    [
        (CODE, {SQUARED: RIGHT, CUBED: RIGHT}, False, (2.0, "right", False, False)),
        (CODE, {SQUARED: RIGHT, CUBED: WRONG}, False, (1.25, "wrong: 4", True, False)),
        (CODE, {SQUARED: WRONG, CUBED: WRONG}, True, (0.5, "wrong: 4", True, True)),
        (CODE, {SQUARED: WRONG}, False, (0.5, "wrong: 4", True, False)),
        (replace(CODE, points=1.0), {SQUARED: TWO_THIRDS}, False, (0.66, "wrong: 9", False, False)),
        (CODE, {}, True, (0.0, "missing: the exercise is not in the notebook any more.", True, True)),
        (CODE, {}, False, (None, "graded by the instructor", False, False)),
        (WRITTEN, {}, False, (None, "graded by the instructor", False, False)),
        (replace(WRITTEN, points=0.0), {}, False, (0.0, "worth no points", False, False)),
        (WRITTEN, {}, True, (None, GONE, False, True)),
    ],
)
def test_points_verdict_finding_and_what_is_missing_of_each_kind(item, verdicts, missing, found):
    """Catches points for what was removed, an average over the checks that were not asked, a finding that is lost."""
    made = _graded_item(item, verdicts, missing)
    assert (made["earned"], made["verdict"], made["finding"], made["missing"]) == found
    assert made["points"] == item.points


def test_two_checks_that_say_the_same_say_it_once():
    """Catches a verdict twice, and the right one's words in front of the wrong one's."""
    other = HiddenVerdict(False, "wrong: 9")
    assert _graded_item(CODE, {SQUARED: WRONG, CUBED: WRONG}, False)["verdict"] == "wrong: 4"
    assert _graded_item(CODE, {SQUARED: WRONG, CUBED: other}, False)["verdict"] == "wrong: 4\nwrong: 9"


def test_the_text_of_the_course_is_hashed_with_its_names_and_without_what_is_compiled(tmp_path, monkeypatch):
    """Catches a worker whose course differs in a name alone taken for ours, and one refused because it has run before."""
    monkeypatch.setattr(one_notebook, "ROOT", tmp_path)
    monkeypatch.setattr(one_notebook, "NEEDED", ("shared",))
    (tmp_path / "shared" / "__pycache__").mkdir(parents=True)
    file = tmp_path / "shared" / "kl.py"

    def hashed():
        one_notebook.course.cache_clear()
        return one_notebook.course()

    try:
        file.write_text("a = 1")
        first = hashed()
        (tmp_path / "shared" / "__pycache__" / "kl.pyc").write_text("compiled")
        assert hashed() == first
        file.write_text("a = 2")
        assert hashed() != first
        file.write_text("a = 1")
        file.rename(tmp_path / "shared" / "lk.py")
        assert hashed() != first
    finally:
        one_notebook.course.cache_clear()
