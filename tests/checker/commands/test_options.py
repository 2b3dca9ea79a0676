"""Questions that several commands ask alike."""

import pytest

from checker.checking.terminal import UNREADABLE
from checker.setup import environment
from tests.checker.command_line import checker


@pytest.mark.parametrize("arguments", [("grade", "submissions"), ("autograder",), ("release",)])
def test_what_hands_on_the_courses_files_ends_with_a_sentence_where_only_the_checker_is(
    arguments, monkeypatch, tmp_path
):
    """Catches an empty course that is handed on, and a traceback about a file that no student has heard of."""
    monkeypatch.setattr(environment, "REQUIREMENTS", tmp_path / "requirements.txt")
    done = checker(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (UNREADABLE, "") and "is no clone of the course" in done.stderr
    assert not list(tmp_path.iterdir())
