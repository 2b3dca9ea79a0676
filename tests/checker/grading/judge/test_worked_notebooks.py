"""Worked notebooks: read from folders, and found for what a student handed in."""

import json
from dataclasses import replace

import pytest

from checker.editions.identity import recorded
from checker.grading.judge import worked_notebooks
from checker.grading.judge.worked_notebooks import read_worked_notebook, read_worked_notebooks, worked_notebook_for
from checker.reading.notebook import Unreadable
from tests.checker.grading.table.forty import worked_notebook


@pytest.fixture
def worked(tmp_path):
    return worked_notebook(tmp_path / "notebooks")


@pytest.fixture
def folder(worked, tmp_path):
    return tmp_path / "notebooks"


def test_those_of_all_folders_are_read_in_order(worked, folder, tmp_path):
    """Catches the notebooks of an older edition left out, one without an exercise taken for one, another order each time."""
    (path,) = folder.glob("*.ipynb")
    older = tmp_path / "older"
    older.mkdir()
    for name in ("b.ipynb", "a.ipynb", "c.txt"):
        (older / name).write_text(path.read_text())
    (older / "0.ipynb").write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}))
    found = read_worked_notebooks(iter([older, folder]))
    assert [one.name for one in found] == ["a.ipynb", "b.ipynb", path.name]
    assert found[-1].digest == read_worked_notebook(path).digest and found[-1].points > 2


def test_where_there_is_none_the_folders_are_named(tmp_path):
    empty = [tmp_path / "one", tmp_path / "two"]
    with pytest.raises(Unreadable) as raised:
        read_worked_notebooks(empty)
    assert str(raised.value) == (
        f"There are no worked notebooks with exercises in {empty[0]}, {empty[1]}. Call this in the course's folder, or name"
        " theirs in class.yml: `worked: [COURSE/notebooks]`."
    )


def test_what_was_handed_out_finds_the_notebook_of_its_edition(worked):
    """Catches one of the same name and number of exercises that asks for something else, and an edition nobody has."""
    handed_in = worked.handed_out
    assert recorded(handed_in) == worked.edition
    other = replace(worked, edition=dict.fromkeys(worked.edition, "y"))
    assert worked_notebook_for(handed_in, "z.ipynb", [other, worked]) is worked
    version = handed_in["metadata"]["course"]["version"]
    words = (
        f"^It was handed out by version {version} of the course, and none of the worked notebooks is of that edition."
    )
    with pytest.raises(Unreadable, match=words):
        worked_notebook_for(handed_in, worked.name, [other])


def test_an_edition_without_a_version_is_of_an_unknown_one(worked):
    course = {name: value for name, value in worked.handed_out["metadata"]["course"].items() if name != "version"}
    with pytest.raises(Unreadable, match="^It was handed out by version unknown of the course"):
        worked_notebook_for(
            {"metadata": {"course": course}, "cells": []}, worked.name, [replace(worked, edition={"x": "y"})]
        )


def test_without_metadata_the_name_decides_where_it_decides(worked):
    """Catches the first of two that may be meant."""
    lost = {"metadata": {}, "cells": []}
    first, second = replace(worked, name="lab-1.ipynb"), replace(worked, name="poker.ipynb")
    assert worked_notebook_for(lost, "Ann Lab 1 final.ipynb", [first, second]) is first
    for name in ("notebook.ipynb", "lab-1 poker.ipynb"):
        with pytest.raises(Unreadable) as raised:
            worked_notebook_for(lost, name, [first, second])
        assert str(raised.value) == (
            "It does not say which notebook it is: its metadata was lost, and its name is not like that of one worked"
            " notebook (lab-1.ipynb, poker.ipynb). Rename it, for instance to lab-1.ipynb."
        )


@pytest.mark.parametrize(
    ("notebook", "stem", "named"),
    [
        ("lab-1.ipynb", "lab-1", True),
        ("Lab-1.ipynb", "x lab 1 y", True),
        ("lab-1.ipynb", "lab-12", False),
        ("lab-1.ipynb", "lab-21", False),
        ("lab-1.ipynb", "lab_-_1", True),
        ("lab-1.ipynb", "lab a 1", False),
        ("what_rl_adds.ipynb", "whatrladds (2)", True),
        ("...ipynb", "anything", False),
    ],
)
def test_a_name_is_found_however_it_is_spaced(notebook, stem, named):
    assert worked_notebooks._is_named(notebook, stem) is named


def test_a_digest_changes_with_all_that_the_notebook_holds(worked):
    """Catches points that are kept although the exercise is worth something else, and a solution that was mended."""
    changed = [
        replace(worked, name="x.ipynb"),
        replace(worked, items=worked.items[1:]),
        replace(worked, edition=worked.edition | {"x": "y"}),
        replace(worked, content={"cells": [{"source": "x"}]}),
    ]
    digests = {one.digest for one in [worked, replace(worked), *changed]}
    assert len(digests) == 5 and all(len(digest) == len(worked.digest) >= 12 for digest in digests)
