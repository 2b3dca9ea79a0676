"""Questions that several commands ask alike."""

import pytest
import typer

from checker.checking.terminal import UNREADABLE
from checker.commands.options import silenced
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


def test_codes_are_taken_in_capitals_or_not_and_one_that_does_not_exist_is_said(capsys):
    """Catches a misspelt code that silences nothing, without a word."""
    assert silenced(["p009", "S001"]) == ["P009", "S001"]
    with pytest.raises(typer.Exit) as ended:
        silenced(["P999"])
    err = capsys.readouterr().err
    assert ended.value.exit_code == UNREADABLE and "There is no finding P999" in err
    codes = err.partition("There are ")[2].strip().rstrip(".").split(", ")
    assert codes == sorted(codes) and {"H002", "P009", "S001"} < set(codes)
