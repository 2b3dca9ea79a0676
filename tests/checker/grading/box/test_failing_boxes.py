"""A box that fails is the grader's failure: no number, the reason, and another try at the next run.

The judge is the stand-in of `test_hidden_cases.py`; boxes are real, and refused by a program in bwrap's place.
"""

import shlex
from dataclasses import replace

import pytest

from checker.grading.box.isolation import BoxFailed
from checker.grading.box.limits import Limits
from checker.grading.classes import Class
from checker.grading.judge import one_notebook, scheduling
from checker.grading.judge.one_notebook import Settings
from checker.grading.results import graded
from checker.grading.table.gradescope import results as for_gradescope
from checker.grading.work import collected
from checker.grading.writing import write_class
from tests.checker.grading.test_classes import submissions as submissions
from tests.checker.grading.test_classes import table
from tests.checker.grading.test_classes import this_class as this_class
from tests.checker.grading.test_classes import worked as worked

REFUSAL = "bwrap: Can't mkdir /tmp/work: No space left on device"


@pytest.fixture
def failing(isolation, tmp_path):
    """An isolation that works until its file `full` is there, and that file."""
    if isolation.kind != "bwrap":
        pytest.skip("the box is refused in bwrap's place")
    full = tmp_path / "full"
    program = tmp_path / "bwrap"
    refuse = f"if test -e {shlex.quote(str(full))}; then echo {shlex.quote(REFUSAL)} >&2; exit 1; fi"
    program.write_text(f'#!/bin/sh\n{refuse}\nexec {isolation.program} "$@"\n')
    program.chmod(0o755)
    return replace(isolation, program=str(program)), full


@pytest.fixture
def run(this_class, folder, tmp_path, monkeypatch, failing):
    """Grade a class in boxes that may fail: each student's result, and who was graded before."""
    monkeypatch.setattr(one_notebook, "judge", lambda job, references: {})
    monkeypatch.setattr(one_notebook, "_references", lambda seed: None)
    monkeypatch.setattr(scheduling, "forget_references", lambda: None)
    boxed = Class(this_class.worked_notebooks, Settings(7, failing[0]), this_class.roster)

    def grade_class(submitted):
        work = collected([submitted], boxed)
        found = list(graded(work, folder, scheduling.in_this_process))
        write_class(boxed, work, found, [], folder)
        return {one.submission.student: (one.result, one.kept) for one in found}

    return grade_class


def test_a_full_disk_is_nobodys_0_and_is_tried_again(run, failing, submissions, folder):
    """Catches a night's full disk that is a 0 in the table, kept for ever, and looks like the student's."""
    failing[1].touch()
    ((result, _),) = run(submissions("ann")).values()
    assert "No space left on device" in result["ungraded"] and "not of the notebook" in result["ungraded"]
    line = table(folder)["ann"]
    assert {line["square"], line["checks"], line["total"]} == {"not graded"}
    assert line["remarks"].startswith("maths.ipynb: not graded: The box could not be started (bwrap: Can't mkdir")
    assert "No space left on device" in (folder.path / "not-graded.csv").read_text()
    assert "0 of" not in (folder.path / "feedback" / "ann.html").read_text()
    assert "Nobody's mistake but the autograder's: The box" in for_gradescope([result])
    failing[1].unlink()
    ((result, was_there),) = run(submissions("ann")).values()
    assert not was_there and result["ungraded"] == ""


def test_a_program_that_is_not_there_is_no_verdict(failing):
    """Catches a machine without bwrap on which everybody's notebook "was running when the box ended by itself"."""
    nowhere = replace(failing[0], program="/nowhere/bwrap", controllers=())
    with pytest.raises(BoxFailed, match="could not be started .*nowhere"):
        one_notebook.execute(None, {"cells": []}, nowhere, Limits(wall=10))
