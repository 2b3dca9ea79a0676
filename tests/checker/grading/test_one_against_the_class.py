"""One student against the class: what somebody hands in costs nobody else anything."""

import json
import threading

import pytest

from checker.grading.collect import apart
from tests.checker.grading.test_classes import Grader, notebook, run, table
from tests.checker.grading.test_classes import folder as folder
from tests.checker.grading.test_classes import sheet as sheet
from tests.checker.grading.test_classes import submissions as submissions
from tests.checker.grading.test_classes import this_class as this_class


@pytest.fixture
def little_room(monkeypatch):
    """A process that reads has little memory."""
    monkeypatch.setattr(apart, "MEGABYTES", 500)
    monkeypatch.setattr(apart, "_of_this_thread", threading.local())


def test_a_notebook_that_fills_the_memory_is_one_students_finding(
    this_class, folder, submissions, tmp_path, little_room
):
    """Catches a file of some megabytes that becomes a gigabyte when it is read, and takes the whole run along."""
    submissions("ann")
    (submissions("bob") / "bob" / "maths.ipynb").write_text(
        json.dumps(notebook("x = 1")).replace('"metadata": {}', '"metadata": {"x": [' + "[]," * 8_000_000 + "[]]}", 1)
    )
    graded = Grader()
    run(this_class, folder, submissions("cy"), tmp_path, graded)
    assert sorted(graded.graded) == ["ann", "cy"]
    assert "maths.ipynb was not graded: Reading it takes more than 60 s or" in table(folder)["bob"]["remarks"]
    assert table(folder)["bob"]["total"] == "" and table(folder)["ann"]["total"] == "2"
