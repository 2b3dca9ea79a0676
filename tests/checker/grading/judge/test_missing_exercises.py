"""The worked notebook says which exercises there are and what each is worth, whatever a student writes or removes."""

import csv
import json
import re
import time

import pytest

from checker.grading.classes import Class
from checker.grading.collect.roster import Roster
from checker.grading.judge import one_notebook
from checker.grading.judge.missing_exercises import removed_exercises
from checker.grading.judge.one_notebook import Settings, grade
from checker.grading.judge.worked_notebooks import read_worked_notebook
from checker.grading.results import graded
from checker.grading.table.class_folder import Folder
from checker.grading.work import collected
from checker.grading.writing import write_class
from tests.checker.conftest import code, markdown
from tests.checker.grading.judge.test_hidden_cases import CUBE, SQUARE, PlainKey
from tests.checker.grading.judge.test_hidden_cases import without_torch as without_torch

FIRST = "# Cell 8: Analysis\n**Success.** Did it help?\n\n<!-- student answer: 2 points -->\nYes.\n<!-- end student answer -->"
SECOND = "**Dynamics.** Why?\n\n<!-- student answer: 3 points -->\nNoise.\n<!-- end student answer -->"
BY_HAND = (
    "def proposal():\n    # student code here\n    # TODO: a number (4 points)\n    return 1\n    # end student code"
)
LOOSE = "# student code here\n# TODO: a setting (1 point)\nsetting = 1\n# end student code"
WORKED = (
    code(SQUARE.format("return x * x") + "\ncheck.square(square)"),
    code(CUBE.format("return x ** 3") + "\ncheck.cube(cube)"),
    code(BY_HAND),
    code(LOOSE),
    markdown(FIRST),
    markdown(SECOND),
)


def content(*cells):
    named = [cell | {"id": f"cell-{place}"} for place, cell in enumerate(cells) if cell is not None]
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": named}


@pytest.fixture
def worked(tmp_path):
    path = tmp_path / "worked" / "maths.ipynb"
    path.parent.mkdir()
    path.write_text(json.dumps(content(*WORKED)))
    return read_worked_notebook(path)


@pytest.fixture
def result(worked, isolation, tmp_path, monkeypatch):
    """The result of a notebook with these cells, and the class's folder."""
    monkeypatch.setattr(one_notebook, "_references", lambda seed: PlainKey())

    def make(*cells):
        place = tmp_path / "submissions" / "ann" / "maths.ipynb"
        place.parent.mkdir(parents=True)
        place.write_text(json.dumps(content(*cells)))
        this_class = Class([worked], Settings(7, isolation, whole=False), Roster())
        work = collected([tmp_path / "submissions"], this_class)
        folder = Folder(tmp_path / "graded")
        folder.prepare()
        found = list(graded(work, folder, lambda jobs: [(job, grade(job)) for job in jobs]))
        write_class(this_class, work, found, [], folder)
        return found[0].result, folder.path

    return make


def earned(result):
    return {item["name"]: (item["earned"], item["points"]) for item in result["items"]}


def offered(page):
    """The highest score that the form takes for each question and each exercise without a check."""
    fields = re.findall(r'max="(\d+)" step="any" data-criterion="\w+: (.*?)"', page)
    return {name: int(most) for most, name in fields}


WHOLE = {
    "square": (2.0, 2.0),
    "cube": (3.0, 3.0),
    "proposal": (None, 4.0),
    "a setting": (None, 1.0),
    "Success": (None, 2.0),
    "Dynamics": (None, 3.0),
}


def test_points_that_a_student_wrote_are_read_by_nobody(result):
    """Catches "10 points" written into a TODO, or "Worth 90 points" into a question, that grading or the form believes."""
    richer = [dict(cell, source=re.sub(r"[234] points?", "90 points", cell["source"])) for cell in WORKED]
    more = markdown("**Kindness.** Was I kind?\n\n*Worth 50 points.*\n\nYes.")
    found, folder = result(*richer, more)
    assert earned(found) == WHOLE
    assert (found["earned"], found["possible"]) == (5.0, 5.0)
    by_hand = {"proposal": 4, "a setting": 1, "Success": 2, "Dynamics": 3}
    assert offered(next(folder.rglob("maths.html")).read_text()) == by_hand


def test_what_was_removed_is_0_of_its_worth_and_a_question_is_listed_as_missing(result):
    """Catches a student who is asked less: points out of fewer, a form without the question that was not answered."""
    found, folder = result(WORKED[0], None, None, None, WORKED[4], None)
    assert earned(found) == WHOLE | {"cube": (0.0, 3.0), "proposal": (0.0, 4.0), "a setting": (0.0, 1.0)}
    assert (found["earned"], found["possible"]) == (2.0, 10.0)
    (line,) = csv.DictReader((folder / "grades.csv").open(encoding="utf-8-sig"))
    assert line["remarks"] == "maths.ipynb: missing: cube, proposal, a setting, Dynamics."
    assert "missing: the question is not in the notebook any more" in (folder / "feedback" / "ann.html").read_text()
    page = next(folder.rglob("maths.html")).read_text()
    assert offered(page) == {"Success": 2, "Dynamics": 3}
    assert page.count("this notebook has it no more") == 1


@pytest.mark.parametrize(
    ("place", "changed"),
    [
        (2, "proposal = lambda: 1"),
        (2, "proposal: int = 3"),
        (3, "setting = 2"),
        (4, "**Success.** It did."),
        (4, "Intro\n\n  **Success**\n\nIt did."),
    ],
)
def test_what_was_written_otherwise_is_there(place, changed, worked):
    """Catches markers that a student deleted taken for an exercise that was removed."""
    cells = list(WORKED)
    cells[place] = dict(cells[place], source=changed)
    assert removed_exercises(worked, content(*cells)) == frozenset()


def without_ids(found):
    return found | {
        "nbformat_minor": 4,
        "cells": [{k: v for k, v in cell.items() if k != "id"} for cell in found["cells"]],
    }


def test_cells_without_ids_are_looked_at_one_by_one(worked):
    """Catches a notebook of Colab's, or of a format before 4.5, that is told that every exercise is missing, for 0 points."""
    assert removed_exercises(worked, without_ids(content(*WORKED))) == frozenset()
    changed = [*WORKED[:3], dict(WORKED[3], source="setting = 2"), *WORKED[4:]]
    assert removed_exercises(worked, without_ids(content(*changed))) == frozenset()


def test_what_was_removed_from_cells_without_ids_is_missing(worked):
    """Catches a function that was taken out and is called there, because its notebook has no ids."""
    left = without_ids(content(WORKED[0], None, None, *WORKED[3:]))
    assert {item.name for item in worked.items if item.key in removed_exercises(worked, left)} == {"cube", "proposal"}


@pytest.mark.parametrize("run", ["\n", " ", "\t", "def", "def ", "square ", "square:", "=\n"])
def test_a_long_run_of_anything_is_read_in_a_moment(run, worked):
    """Catches a pattern whose time grows with the square of a run: 300 kB of blank lines took two minutes."""
    begun = time.process_time()
    removed_exercises(worked, content(code(run * (300_000 // len(run))), *WORKED[2:]))
    assert time.process_time() - begun < 2
