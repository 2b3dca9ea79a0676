"""The last run of a class, undone: what it found comes back, and nothing is lost."""

from pathlib import Path

import pytest

from checker.grading import undo as undoing
from checker.grading.undo import STAYS, come_to_its_end, keep_aside, undo
from checker.points.forms import Form
from checker.reading.notebook import Unreadable
from tests.checker.command_line import checker
from tests.checker.grading.table.forty import class_of, worked_notebook

FORM = Form("student01", "dots.ipynb", {"Question: Success": 2.0}, "", 9.0, Path("x"))


@pytest.fixture
def one(tmp_path):
    """A class of two, graded once. `run` grades it as the command does."""
    made = class_of(2, tmp_path, worked_notebook(tmp_path / "notebooks"), answers=("It rose.", "It fell."))
    made.folder.prepare()
    rules(made, "seed: 7\n")

    def run(*forms):
        keep_aside(made.folder.path)
        made.write(list(forms))
        come_to_its_end(made.folder.path)

    made.run = run
    run()
    return made


def rules(one, text):
    (one.folder.path / "class.yml").write_text(text)


def content(one):
    """All that the folder holds but what no run changes and no undoing brings back."""
    folder = one.folder.path
    files = (path for path in folder.rglob("*") if path.is_file())
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in files
        if path.relative_to(folder).parts[0] not in STAYS
    }


def test_a_run_is_undone_and_the_same_command_brings_it_back(one):
    """Catches a table that comes back without its pages, a form that still counts, and a run that is lost by a slip."""
    before = content(one)
    rules(one, "seed: 7\nfree days: 0\n")
    (one.submissions / "student02" / "dots.ipynb").unlink()
    one.run(FORM)
    after = content(one)
    assert after["grades.csv"] != before["grades.csv"] and "pages/student02/dots.html" in before.keys() - after.keys()
    done = checker("undo", one.folder.path)
    assert (done.returncode, done.stderr) == (0, "") and "The same command brings it back." in done.stdout
    assert content(one) == before
    undo(one.folder.path)
    assert content(one) == after


def test_what_a_person_wrote_into_the_table_is_not_undone_by_a_spreadsheet(one):
    """Catches a spreadsheet that writes into the file that is kept, so that a correction is in the table before it too."""
    before = content(one)["grades.csv"]
    keep_aside(one.folder.path)
    with (one.folder.path / "grades.csv").open("a") as table:
        table.write("in place\n")
    come_to_its_end(one.folder.path)
    undo(one.folder.path)
    assert content(one)["grades.csv"] == before


def test_a_run_that_was_stopped_is_not_the_one_that_is_undone(one):
    """Catches a class whose last whole run cannot be undone any more, since another one was begun."""
    before = content(one)
    one.run(FORM)
    keep_aside(one.folder.path)
    undo(one.folder.path)
    assert content(one) == before


def test_an_undoing_that_was_stopped_goes_on(one, monkeypatch):
    """Catches a class half of which lies in another folder, at whatever file the machine stopped, and a run over it."""
    before = content(one)
    one.run(FORM)
    after = content(one)
    rename = Path.rename
    for stopped_at in range(40):
        left = iter(range(stopped_at))

        def stops(path, target, left=left):
            if next(left, None) is None:
                raise KeyboardInterrupt
            return rename(path, target)

        monkeypatch.setattr(Path, "rename", stops)
        try:
            undo(one.folder.path)
        except KeyboardInterrupt:
            monkeypatch.undo()
            with pytest.raises(Unreadable, match="goes on with it"):
                keep_aside(one.folder.path)
            undo(one.folder.path)
        monkeypatch.undo()
        assert content(one) == (before if stopped_at % 2 == 0 else after)


def test_nothing_is_undone_where_nothing_was_graded(tmp_path, folder):
    """Catches a person's own folder `before` that takes the place of what lies beside it."""
    (tmp_path / undoing.BEFORE).mkdir()
    for place in (tmp_path, folder.path):
        with pytest.raises(Unreadable, match="no run that can be undone. Nothing was changed"):
            undo(place)
