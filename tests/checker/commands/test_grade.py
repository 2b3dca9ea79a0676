"""`checker grade`, `checker autograder`, `checker forget`: what is asked of grading, and what is told of it.

A small class is collected and written down; in the place of boxes stands what gives each student the same points.
"""

import csv
import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from checker.commands import grade
from checker.grading import disputes
from checker.grading.box import packages, selection
from checker.grading.box.isolation import BoxFailed
from checker.grading.box.walls import Isolation
from checker.grading.judge import one_notebook, scheduling, worked_run
from checker.grading.judge.whole_notebook import Executed
from checker.grading.table import class_folder, gradescope
from checker.grading.table.class_folder import Folder
from checker.reading.notebook import Unreadable
from tests.checker.command_line import checker
from tests.checker.grading.table.forty import hand_in, items_of, worked_notebook

RULES = "seed: 7\nseconds: 5\nmegabytes: 7\n"


@pytest.fixture
def grading(monkeypatch, tmp_path):
    """A class of ann and bob, in whose exercise everybody earns `earned`. `run` calls the command on it."""
    it = SimpleNamespace(earned=1.5, stopped={}, ungraded={}, jobs=[], folder=tmp_path / "graded")

    def grader(jobs, **options):
        it.options = options
        for job in jobs:
            it.jobs.append(job)
            items = items_of(job, it.earned)
            ungraded = it.ungraded.get(job.student, "")
            stopped = it.stopped.get(job.student, "")
            yield job, one_notebook._result(job, items, stopped=stopped, ungraded=ungraded, transient=bool(ungraded))

    monkeypatch.setattr(grade, "_run_jobs", grader)
    it.worked = worked_notebook(tmp_path / "notebooks")
    it.hand_in = lambda student: hand_in(tmp_path / "submissions", student, it.worked, [f"{student} did it."] * 2)
    it.hand_in("ann")
    it.hand_in("bob")
    it.run = lambda *arguments: checker("grade", "submissions", "--isolation", "none", *arguments, cwd=tmp_path)
    it.folder.mkdir()
    it.rules = (it.folder / "class.yml").write_text
    it.rules(RULES)
    it.table = lambda: list(csv.DictReader((it.folder / "grades.csv").open(encoding="utf-8-sig")))
    return it


LAST = f"{Path('graded/grades.csv')}  (`checker undo graded` takes this run back)"


def test_a_class_is_graded_as_the_command_line_says_and_told_in_lines(grading):
    """Catches a notebook that is counted as graded before, and a table whose place nobody is told."""
    done = grading.run("--workers", "1")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"{Path('graded/class.yml')}: Assigned: all notebooks of the course. No due date; late days cost nothing.",
        "Isolation: none: submissions ran with all rights of whoever started this. Seed of the hidden cases: 7.",
        "2 notebooks of 2 students, 2 to be graded: about 2 minutes.",
        "   1/2  ann  dots.ipynb  1.5 of 2",
        "   2/2  bob  dots.ipynb  1.5 of 2",
        "2 notebooks, 0 graded before. 0 students without one.",
        LAST,
    ]
    assert [row["total"] for row in grading.table()] == ["1.5", "1.5"]
    limits = grading.jobs[0].limits
    assert (limits.wall, limits.memory, grading.jobs[0].settings.seed) == (5, 7_000_000, 7)
    again = grading.run()
    assert "2 notebooks, 2 graded before." in again.stdout and len(grading.jobs) == 2


def test_results_stand_in_one_order_whatever_was_kept():
    """Catches lists and a student's page whose order depends on what an earlier run had graded."""
    names = [SimpleNamespace(student=name) for name in ("bob", "ann")]
    coming = [SimpleNamespace(submission=name, result={"notebook": "a"}, kept=True) for name in names]
    assert [one.submission.student for one in grade._told_as_they_come(coming, 2)] == ["ann", "bob"]


def test_what_a_person_has_to_look_at_is_told(grading, tmp_path):
    """Catches a notebook without points that nobody hears of, and "1 files"."""
    (tmp_path / "roster.csv").write_text("id\nann\nbob\ncy\neve\n")
    grading.rules(RULES + "roster: roster.csv\n")
    grading.hand_in("eve")
    (tmp_path / "submissions" / "eve" / "x.pdf").write_text("x")
    (tmp_path / "canvas.csv").write_text(
        "Student,ID,SIS Login ID,Section,Dots (1)\n    Points Possible,,,,1\nA,1,ann,L,\n"
    )
    grading.stopped, grading.ungraded = {"ann": "Cell 5 stopped."}, {"bob": "The box failed.", "eve": "Another."}
    done = grading.run("--gradebook", "canvas.csv")
    assert done.returncode == 0
    assert [line.strip() for line in done.stdout.splitlines()[3:]] == [
        "1/3  ann  dots.ipynb  1.5 of 2  Cell 5 stopped.",
        "2/3  bob  dots.ipynb  not graded: The box failed.",
        "3/3  eve  dots.ipynb  not graded: Another.",
        "3 notebooks, 0 graded before. 1 student without one. No notebook was handed in.",
        f"Not graded: 1 file. {Path('graded/not-graded.csv')} says why.",
        f"{Path('graded/gradebooks/canvas.csv')}: to be imported into Canvas.",
        LAST,
    ]
    *notes, last = done.stderr.splitlines()
    assert "ann: more points than 'Dots (1)' is worth in canvas.csv." in notes[0] and "wait to be judged" in notes[1]
    assert last.startswith("warning  2 notebooks not graded, by no fault of the student's, so ")
    assert last.endswith("without a number in the table. The first: The box failed.")


def test_forms_of_earlier_runs_count_and_what_is_wrong_with_forms_is_said(grading, tmp_path):
    """Catches points by hand that are lost at the next run, which is not given the forms again."""
    grading.run()
    saved = {
        "student": "ann",
        "notebook": "dots.ipynb",
        "scores": {"Question: Success": 2},
        "saved": "2026-01-01T00:00:00+00:00",
    }
    (tmp_path / "a.grades.json").write_text(json.dumps(saved | {"class": Folder(grading.folder).secret()}))
    (tmp_path / "x.grades.json").write_text("no form")
    done = grading.run("--forms", ".")
    assert [row["total"] for row in grading.table()] == ["3.5", "1.5"]
    assert done.stderr.startswith("warning  x.grades.json is not a saved form")
    assert grading.run().stderr == "" and grading.table()[0]["total"] == "3.5"


def test_an_exercise_is_judged_anew_for_everybody(grading, monkeypatch):
    grading.run()
    monkeypatch.setattr(one_notebook, "course", lambda: "another course")
    grading.earned = 2.0
    done = grading.run("--exercise", "kl")
    assert done.returncode == 0 and "ann, dots.ipynb, kl: 1.5 before, 2 now.\n" in done.stdout
    assert [job.settings.whole for job in grading.jobs] == [True, True, False, False]


def test_a_student_who_handed_in_nothing_cannot_be_graded_again(grading):
    grading.run()
    done = grading.run("--again", "cy")
    assert done.returncode == 2 and "--again cy: no notebook of this student is here." in done.stderr
    grading.run("--again", "ann")
    assert [job.student for job in grading.jobs] == ["ann", "bob", "ann"]


def test_a_dry_run_says_what_would_be_graded_and_writes_the_rules_alone(grading):
    """Catches a look at a class that changes it, and worked notebooks that run for it."""
    (grading.folder / "class.yml").unlink()
    done = grading.run("--dry-run")
    assert done.returncode == 0 and "ann  dots.ipynb  " in done.stdout and "2 to be graded" in done.stdout
    assert grading.jobs == [] and not {path.name for path in grading.folder.iterdir()} & {"grades.csv", "worked.json"}
    assert "seed:" in (grading.folder / "class.yml").read_text()
    done = grading.run("--dry-run", "--again", "ann", "--exercise", "kl")
    assert "--again with --exercise grades nobody" in done.stderr
    assert (
        "2 to be graded.\n" in grading.run("--dry-run", "--exercise", "kl").stdout
    )  # seconds, since nothing runs whole


def test_a_run_has_the_limits_of_the_worked_notebook_and_says_so(grading, monkeypatch):
    """Catches a limit that nobody is told, and that a busy machine is close to."""
    monkeypatch.setattr(worked_run, "run", lambda job: Executed(json.loads(job.text), "", 100.0, 3_000_000_000))
    grading.rules("seed: 7")
    done = grading.run()
    assert (
        "dots.ipynb: the worked notebook takes 100 s and 3,000 MB here; a student's may take 400 s and" in done.stdout
    )
    assert {(job.limits.wall, job.limits.memory) for job in grading.jobs} == {(400, 6_000_000_000)}


TEXT = "\n\n".join(f"piece {number}" for number in range(9)) + "\n"


def test_a_disputed_exercise_is_shown_and_written_and_nothing_is_graded(grading, monkeypatch):
    """Catches a dispute of another student's notebook, and a class that is graded anew by a look at it."""
    asked = []
    monkeypatch.setattr(disputes, "dispute", lambda job, exercise: asked.append((job.student, exercise)) or TEXT)
    done = grading.run("--again", "bob", "--exercise", "kl")
    assert done.returncode == 0 and asked == [("bob", "kl")] and grading.jobs == []
    (place,) = (grading.folder / disputes.FOLDER).iterdir()
    assert place.read_text() == TEXT and place.name.startswith("bob_dots_kl")
    shown = done.stdout.partition("piece 0")[2]
    assert "piece 4" in shown and "piece 5" not in shown
    told = done.stdout.splitlines()[-1]
    assert told.startswith(f"{Path('graded', disputes.FOLDER, place.name)}: all of it.")
    assert "no notebook of this student" in grading.run("--again", "cy", "--exercise", "kl").stderr
    assert "no notebook has a checked exercise" in grading.run("--exercise", "nonsense").stderr


def test_a_box_that_fails_in_a_dispute_is_nobodys_mistake(grading, monkeypatch):
    def fail(job, exercise):
        raise BoxFailed("no room")

    monkeypatch.setattr(disputes, "dispute", fail)
    done = grading.run("--again", "ann", "--exercise", "kl")
    assert done.returncode == 2 and "ann: the box failed, by no fault of the function: no room" in done.stderr


def test_gradescope_gets_results_and_what_was_set_aside(grading, tmp_path, monkeypatch):
    """Catches a student who is told nothing: Gradescope shows this file and no terminal."""
    monkeypatch.setattr(gradescope, "results", lambda found, files: json.dumps([found, [file.place for file in files]]))
    (tmp_path / "submissions" / "x.pdf").write_text("x")
    grading.run("--gradescope", "results.json")
    found, ungraded = json.loads((tmp_path / "results.json").read_text())
    assert [result["earned"] for result in found] == [1.5, 1.5] and ungraded == ["submissions/x.pdf"]


def test_why_nothing_was_graded_is_said_to_gradescope_too(grading, tmp_path):
    grading.rules("seed: 7\nworked: ['[nowhere]']")
    done = grading.run("--gradescope", "results.json")
    assert (done.returncode, done.stdout) == (2, "") and "in [nowhere]." in done.stderr
    told = json.loads((tmp_path / "results.json").read_text())
    assert told["score"] == 0 and "in [nowhere]." in told["output"]
    assert not (grading.folder / "grades.csv").exists()


@pytest.mark.parametrize(("kind", "status"), [("none", 0), ("bwrap", 2)])
def test_a_box_that_would_not_see_the_courses_packages_is_refused(kind, status, grading, monkeypatch):
    """Catches a class in which nobody earns a point, and a refusal where there is no box."""
    monkeypatch.setattr(selection, "choose", lambda asked: Isolation(kind))
    monkeypatch.setattr(packages, "unseen", lambda: {"torch": "/home/me", "rich": "/home/me"})
    done = grading.run()
    assert done.returncode == status
    assert ("A box does not see torch, rich, found here in /home/me." in done.stderr) == (status == 2)


def test_a_stop_is_a_sentence(grading, monkeypatch):
    def stop(jobs, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(grade, "_run_jobs", stop)
    done = grading.run()
    assert done.returncode == 130 and "Stopped. What is graded is kept" in done.stdout and done.stderr == ""


def test_what_is_missing_to_grade_is_named_with_the_command_that_installs_it(grading, monkeypatch, tmp_path):
    monkeypatch.setattr(grade, "find_spec", lambda name: None if name in ("torch", "nbclient") else name)
    done = grading.run("--gradescope", "results.json")
    assert done.returncode == 2 and grading.jobs == []
    assert "nbclient and torch must be installed" in json.loads((tmp_path / "results.json").read_text())["output"]
    assert "To grade, nbclient and torch must be installed, in the course's folder: .venv/bin/pip" in done.stderr


@pytest.mark.parametrize(
    ("options", "jobs", "called"),
    [
        ({"workers": 6}, 1, ("in_this_process", 1)),
        ({"workers": 1}, 2, ("in_this_process", 2)),
        ({"workers": 4}, 2, ("in_threads", 2, 4)),
        ({"workers": 1, "scheduler": "tls://x", "certificates": "tls"}, 2, ("on_workers", 2, "tls://x", "tls")),
    ],
)
def test_notebooks_are_graded_where_and_as_many_at_once_as_was_asked_for(options, jobs, called, monkeypatch):
    """Catches a cluster that nobody uses, and threads for a single notebook."""
    begun = []
    for name in ("in_this_process", "in_threads", "on_workers"):
        monkeypatch.setattr(scheduling, name, lambda jobs, *rest, name=name: begun.append((name, len(jobs), *rest)))
    grade._run_jobs(["a job"] * jobs, **{"scheduler": "", "certificates": None} | options)
    assert begun == [called]


def test_what_the_command_line_says_of_workers_reaches_the_grader(grading, tmp_path, monkeypatch):
    """Catches an option that nobody reads."""
    monkeypatch.setattr(grade, "cores", lambda: 6)
    grading.run("--certificates", "tls", "--scheduler", "tls://x")
    assert grading.options == {"workers": 6, "scheduler": "tls://x", "certificates": Path("tls")}
    shutil.rmtree(tmp_path / "submissions" / "bob")
    grading.run("--workers", "4", "--student", "cy")
    assert (
        grading.options == {"workers": 4, "scheduler": "", "certificates": None}
        and grading.table()[0]["student"] == "cy"
    )


def test_an_autograder_is_packed_with_a_seed_and_told_to_be_kept(monkeypatch, tmp_path):
    """Catches the same hidden cases at every course, and a zip that is not written."""
    seeds = []
    monkeypatch.setattr(gradescope, "autograder", lambda seed: seeds.append(seed) or b"PK")
    done = checker("autograder", cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.startswith("autograder.zip: upload it")
    assert (tmp_path / "autograder.zip").read_bytes() == b"PK"
    for _ in range(3):
        checker("autograder", "-o", "b.zip", cwd=tmp_path)
    assert len(set(seeds)) == 4 and all(0 <= seed < 2**31 for seed in seeds) and (tmp_path / "b.zip").exists()
    checker("autograder", "--seed", "0", cwd=tmp_path)
    assert seeds[-1] == 0


def test_an_autograder_that_cannot_be_packed_is_a_sentence(monkeypatch, tmp_path):
    def fail(seed):
        raise Unreadable("It is too [large].")

    monkeypatch.setattr(gradescope, "autograder", fail)
    done = checker("autograder", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "error  It is too [large].\n") and not any(tmp_path.iterdir())


def test_a_class_is_forgotten_when_it_is_confirmed(monkeypatch, tmp_path):
    """Catches a term's grades lost to one key."""
    folder = Folder(tmp_path / "graded")
    folder.prepare()
    (folder.path / "grades.csv").write_text("x")
    questions = []
    monkeypatch.setattr(grade.typer, "confirm", lambda question: questions.append(question))
    assert checker("forget", folder.path).returncode == 1 and folder.path.exists()
    assert str(folder.path) in questions[0]
    files = sum(path.is_file() for path in folder.path.rglob("*"))
    done = checker("forget", folder.path, "--yes")
    assert (done.returncode, done.stdout) == (0, f"{folder.path}: {files} files deleted.\n")
    assert not folder.path.exists() and len(questions) == 1


def test_a_folder_that_is_no_class_is_not_forgotten(tmp_path):
    done = checker("forget", tmp_path, "--yes")
    assert done.returncode == 2 and tmp_path.exists() and class_folder.MARK not in done.stdout
    assert done.stderr.startswith(f"error  {tmp_path} is not a folder that")
