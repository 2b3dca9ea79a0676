"""The keys of notebooks: read from folders, and found for what a student handed in."""

import json
from dataclasses import replace

import pytest

from checker.editions.identity import recorded
from checker.grading.judge.sheets import _is_named, read_sheet, read_sheets, sheet_for
from checker.reading.notebook import Unreadable
from tests.checker.grading.table.forty import worked


@pytest.fixture
def sheet(tmp_path):
    return worked(tmp_path / "notebooks")


@pytest.fixture
def folder(sheet, tmp_path):
    return tmp_path / "notebooks"


def test_the_keys_of_all_folders_are_read_in_order(sheet, folder, tmp_path):
    """Catches the notebooks of an older edition left out, one without an exercise taken for a key, another order each time."""
    (path,) = folder.glob("*.ipynb")
    older = tmp_path / "older"
    older.mkdir()
    for name in ("b.ipynb", "a.ipynb", "c.txt"):
        (older / name).write_text(path.read_text())
    (older / "0.ipynb").write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}))
    found = read_sheets(iter([older, folder]))
    assert [one.name for one in found] == ["a.ipynb", "b.ipynb", path.name]
    assert found[-1].digest == read_sheet(path).digest and found[-1].points > 2


def test_without_a_key_the_folders_are_named(tmp_path):
    empty = [tmp_path / "one", tmp_path / "two"]
    with pytest.raises(Unreadable) as raised:
        read_sheets(empty)
    assert str(raised.value) == (
        f"There are no worked notebooks with exercises in {empty[0]}, {empty[1]}. Call this in the course's folder, or name"
        " theirs in class.yml: `worked: [COURSE/notebooks]`."
    )


def test_what_was_handed_out_finds_the_key_of_its_edition(sheet):
    """Catches the key of the same name and number of exercises that asks for something else, and an edition nobody has."""
    handed_in = sheet.handed_out
    assert recorded(handed_in) == sheet.edition
    other = replace(sheet, edition=dict.fromkeys(sheet.edition, "y"))
    assert sheet_for(handed_in, "z.ipynb", [other, sheet]) is sheet
    version = handed_in["metadata"]["course"]["version"]
    words = (
        f"^It was handed out by version {version} of the course, and none of the worked notebooks is of that edition."
    )
    with pytest.raises(Unreadable, match=words):
        sheet_for(handed_in, sheet.name, [other])


def test_an_edition_without_a_version_is_of_an_unknown_one(sheet):
    course = {name: value for name, value in sheet.handed_out["metadata"]["course"].items() if name != "version"}
    with pytest.raises(Unreadable, match="^It was handed out by version unknown of the course"):
        sheet_for({"metadata": {"course": course}, "cells": []}, sheet.name, [replace(sheet, edition={"x": "y"})])


def test_without_metadata_the_name_decides_where_it_decides(sheet):
    """Catches the first of two keys that may be meant."""
    lost = {"metadata": {}, "cells": []}
    first, second = replace(sheet, name="lab-1.ipynb"), replace(sheet, name="poker.ipynb")
    assert sheet_for(lost, "Ann Lab 1 final.ipynb", [first, second]) is first
    for name in ("notebook.ipynb", "lab-1 poker.ipynb"):
        with pytest.raises(Unreadable) as raised:
            sheet_for(lost, name, [first, second])
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
    assert _is_named(notebook, stem) is named


def test_a_digest_changes_with_all_that_the_key_holds(sheet):
    """Catches points that are kept although the exercise is worth something else, and a solution that was mended."""
    changed = [
        replace(sheet, name="x.ipynb"),
        replace(sheet, items=sheet.items[1:]),
        replace(sheet, edition=sheet.edition | {"x": "y"}),
        replace(sheet, worked={"cells": [{"source": "x"}]}),
    ]
    digests = {one.digest for one in [sheet, replace(sheet), *changed]}
    assert len(digests) == 5 and all(len(digest) == len(sheet.digest) >= 12 for digest in digests)
