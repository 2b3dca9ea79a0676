"""What a student gets: everything that is needed, no worked notebook, nothing of a class."""

import json

import pytest

from checker.assign import solution_lines
from checker.environment import ROOT
from checker.notebook import parse
from checker.release import ReleaseError, release, tried


def test_a_release_holds_no_worked_notebook_and_no_solution(tmp_path):
    """Catches the key handed out with the exercises, and outputs of the worked notebooks that tell the results."""
    released = release(ROOT, tmp_path / "course")
    notebooks = sorted(path.relative_to(released.folder) for path in released.folder.rglob("*.ipynb"))
    assert [path.name for path in notebooks] == list(released.notebooks)
    assert {path.parent.as_posix() for path in notebooks} == {"notebooks/student"}
    for path in notebooks:
        content = parse(released.folder / path)
        shown = {line.strip() for cell in content["cells"] for line in "".join(cell["source"]).split("\n")}
        assert not solution_lines(parse(ROOT / "notebooks" / path.name)) & shown
        assert not any(cell.get("outputs") for cell in content["cells"])
    assert [path.name for path in (released.folder / "benchmarks").iterdir()] == ["sweeps"]
    for name in ("tests", "graded", ".venv", ".git"):
        assert not (released.folder / name).exists()


def test_an_edition_that_somebody_filled_in_is_not_released(tmp_path, good):
    """Catches `notebooks/student` copied as it lies there, with an instructor's own trial in it."""
    root = tmp_path / "root"
    (root / "notebooks" / "student").mkdir(parents=True)
    source = "# Cell 5: x\ndef f():\n    # student code here\n    # TODO: one (1 point)\n    return 12345678\n    # end student code"
    good["cells"][5]["source"] = source
    (root / "notebooks" / "a.ipynb").write_text(json.dumps(good))
    (root / "notebooks" / "student" / "a.ipynb").write_text(json.dumps(good))
    released = release(root, tmp_path / "course")
    assert "12345678" not in (released.folder / "notebooks" / "student" / "a.ipynb").read_text()


def test_nothing_is_written_over(tmp_path):
    """Catches a release mixed with an older one, whose files stay among the new."""
    (tmp_path / "x").write_text("mine")
    with pytest.raises(ReleaseError, match="holds something already"):
        release(ROOT, tmp_path)


@pytest.mark.slow
def test_a_release_works_from_where_it_lies(tmp_path):
    """Catches a helper or a file that was left out and that a notebook needs."""
    assert tried(release(ROOT, tmp_path / "course")) == ""
