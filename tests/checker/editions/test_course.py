"""Notebooks travel with everything that they need."""

from io import BytesIO
from zipfile import ZipFile

import pytest

from checker.editions.course import NEEDED, worked_notebooks
from checker.editions.release import release
from checker.grading.judge.whole_notebook import SHOWN
from checker.grading.table.gradescope import autograder
from checker.reading.notebook import Unreadable
from checker.setup.environment import ROOT

# Read by `shared.recorded`, `shared.models` and the notebooks' imports; none of it is found by looking at imports alone.
READ = ["benchmarks/sweeps/poker.json", "models/course-lm", "shared/recorded.py", "checker/outputs/check_results.py"]


def test_a_course_has_its_worked_notebooks_by_name_and_one_without_any_is_told(tmp_path):
    """Catches what students got taken for the whole course, and editions that are counted as worked notebooks."""
    folder = tmp_path / "notebooks"
    (folder / "student").mkdir(parents=True)
    (folder / "student" / "a.ipynb").touch()
    with pytest.raises(Unreadable, match=f"no worked notebooks in {folder}"):
        worked_notebooks(tmp_path)
    for name in ("b.ipynb", "a.ipynb", "a.py"):
        (folder / name).touch()
    assert worked_notebooks(tmp_path) == [folder / "a.ipynb", folder / "b.ipynb"]


def test_boxes_releases_and_gradescope_have_what_notebooks_read(tmp_path):
    """Catches a right notebook that stops elsewhere, since what it loads was never copied or shown there."""
    released = release(ROOT, tmp_path / "course").folder
    with ZipFile(BytesIO(autograder(1))) as packed:
        names = [name.removeprefix("course/") for name in packed.namelist()]
    shown = [name for _, name in SHOWN]
    for wanted in READ:
        assert (ROOT / wanted).exists() and (released / wanted).exists()
        assert any(name.startswith(wanted) for name in names)
        assert any(wanted == name or wanted.startswith(f"{name}/") for name in shown)
    assert shown == list(NEEDED)
