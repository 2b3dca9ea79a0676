"""What the tests of a class's folder and of its tables share."""

import pytest

from checker.grading.table.class_folder import Folder


@pytest.fixture
def folder(tmp_path):
    """The folder of a class, as a first run makes it."""
    made = Folder(tmp_path / "graded")
    made.prepare()
    return made
