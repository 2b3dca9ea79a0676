"""Fixtures of the tests of grading: the isolation of this machine, found once, and the folder of a class."""

import pytest

from checker.grading.box.selection import NoIsolation, choose
from checker.grading.box.walls import found_program
from checker.grading.table.class_folder import Folder


@pytest.fixture(scope="session")
def isolation():
    """The isolation that submissions run in here. Its tests are skipped only where bubblewrap is not installed.

    Where it is installed and holds nothing, a wall of the box may be broken: that fails.
    """
    try:
        return choose()
    except NoIsolation as error:
        if found_program("bwrap"):
            pytest.fail(f"bubblewrap is installed, and no box works: {error}")
        pytest.skip(f"bubblewrap is not installed: {error}")


@pytest.fixture
def folder(tmp_path):
    """The folder of a class, as a first run makes it."""
    made = Folder(tmp_path / "graded")
    made.prepare()
    return made
