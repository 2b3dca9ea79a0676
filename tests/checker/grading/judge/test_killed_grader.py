"""The cost of kill -9 in the middle of a class, with a grader in a process of its own: slow.

What grades is a stand-in that returns at once or waits; boxes are tried elsewhere.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from checker.grading.box.walls import Isolation
from checker.grading.classes import Class
from checker.grading.judge import scheduling
from checker.grading.judge.submission import Settings, failed
from checker.grading.results import graded
from checker.grading.table.class_folder import Folder
from checker.grading.work import collected
from tests.checker.grading.test_classes import sheet as sheet
from tests.checker.grading.test_classes import submissions as submissions

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[4]
STUDENTS = [f"student{number}" for number in range(6)]


def at_once(job):
    """Stands for grading."""
    return failed(job, f"graded {job.student}")


def slowly(job):
    """Stands for grading that takes a while, so that there is something to kill it in."""
    time.sleep(0.7)
    return failed(job, f"graded {job.student} in {os.getpid()}")


@pytest.fixture
def jobs(sheet, submissions, tmp_path):
    """The submissions of six students."""
    for student in STUDENTS:
        handed_in = submissions(student)
    this_class = Class([sheet], Settings(7, Isolation("none")))
    return collected([handed_in], this_class)


GRADER = """
import sys
from pathlib import Path
from checker.grading.judge import scheduling
from checker.grading.box.walls import Isolation
from checker.grading.classes import Class
from checker.grading.work import collected
from checker.grading.results import graded
from checker.grading.box.limits import Limits
from checker.grading.judge.submission import Settings
from checker.grading.judge.sheets import read_sheet
from checker.grading.table.class_folder import Folder
from tests.checker.grading.judge.test_killed_grader import slowly

def grader(jobs):
    return scheduling.in_threads(jobs, threads) if threads else scheduling.in_this_process(jobs)


if __name__ == "__main__":
    sheet, handed_in, output = map(Path, sys.argv[1:4])
    threads = int(sys.argv[4])
    scheduling._graded = slowly
    work = collected([handed_in], Class([read_sheet(sheet)], Settings(7, Isolation("none"))))
    folder = Folder(output)
    folder.prepare()
    for one in graded(work, folder, grader):
        print(one.handed.student, flush=True)
"""


def killed_after_two(tmp_path, threads):
    """A grader in a process of its own, killed when two of the six are graded: the two."""
    scratch = tmp_path / "scratch of the killed"
    scratch.mkdir()
    program = tmp_path / "grader.py"
    program.write_text(GRADER)
    places = [tmp_path / "notebooks" / "maths.ipynb", tmp_path / "submissions", tmp_path / "graded"]
    command = [sys.executable, str(program), *map(str, places), str(threads)]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(scratch)}
    grader = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    first = [grader.stdout.readline().strip() for _ in range(2)]
    grader.kill()
    grader.communicate()
    return first


@pytest.mark.parametrize("threads", [0, 2])
def test_a_grader_killed_loses_no_finished_result(threads, jobs, tmp_path, monkeypatch):
    """Catches results that are written down at the end only, or half written when the machine loses its power."""
    first = killed_after_two(tmp_path, threads)
    again = []
    monkeypatch.setattr(scheduling, "_graded", lambda job: again.append(job.student) or at_once(job))
    done = graded(jobs, Folder(tmp_path / "graded"), scheduling.in_this_process)
    kept = [one.handed.student for one in done if one.kept]
    assert set(first) <= set(kept)
    assert sorted(kept + again) == STUDENTS and again
