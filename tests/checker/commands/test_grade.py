"""`checker grade`, `checker autograder` and `checker forget`: what is asked of grading, and what is told of it.

Nothing is graded here: see tests/checker/grading/. The functions in the place of those that do keep what they are given.
"""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from checker.commands import grade
from checker.grading import classes, disputes, results, writing
from checker.grading.box import packages, selection
from checker.grading.box.isolation import BoxFailed
from checker.grading.box.walls import Isolation
from checker.grading.classes import Work
from checker.grading.collect.uploads import Aside
from checker.grading.judge import scheduling, sheets
from checker.grading.table import class_folder, gradebooks, gradescope
from checker.grading.table.class_folder import Folder
from checker.points import forms
from checker.reading.notebook import Unreadable
from tests.checker.command_line import checker

LAST = f"{Path('graded/grades.csv')}  (`checker undo graded` takes this run back)"


def job_of(student: str):
    return SimpleNamespace(student=student), SimpleNamespace(sheet=SimpleNamespace(name="dots.ipynb"), of=student)


def result_of(earned: float, stopped: str = "", ungraded: str = "") -> dict:
    found = {"notebook": "dots.ipynb", "items": [], "earned": earned, "possible": 4.0}
    return found | {"stopped": stopped, "ungraded": ungraded}


@pytest.fixture
def grading(monkeypatch, tmp_path):
    """The parts of grading, each with what it gives and what it was given. `run` calls the command."""
    it = SimpleNamespace(
        work=Work({"1": job_of("ann"), "2": job_of("bob")}, aside=[], late=set(), missing=[]),
        found=[("ann", result_of(2.5), False), ("bob", result_of(4.0), True)],
        changed=[],
        remarks=[],
        alike=0,
        forms=([], [], []),
        gradebooks=[],
        kind="none",
        given={},
    )

    def keep(name, result):
        def called(*arguments, **options):
            it.given[name] = (*arguments, *options.values())
            return result()

        return called

    def found():
        return [(SimpleNamespace(student=student), result, before) for student, result, before in it.found]

    def regraded(work, folder, grader, exercise, changed):
        it.given["regraded"] = (work, folder.path, exercise)
        changed.extend(it.changed)
        return found()

    monkeypatch.setattr(selection, "choose", lambda kind: Isolation(it.kind))
    monkeypatch.setattr(packages, "unseen", dict)
    monkeypatch.setattr(sheets, "read_sheets", keep("sheets", lambda: ["a sheet"]))
    monkeypatch.setattr(gradebooks, "read_gradebooks", keep("gradebooks", lambda: it.gradebooks))
    monkeypatch.setattr(disputes, "require", keep("require", lambda: None))
    monkeypatch.setattr(classes, "plan", keep("plan", lambda: it.work))
    monkeypatch.setattr(results, "graded", keep("graded", found))
    monkeypatch.setattr(results, "regraded", regraded)
    monkeypatch.setattr(writing, "write_class", keep("class", lambda: it.remarks))
    monkeypatch.setattr(writing, "write_similar", keep("similar", lambda: it.alike))
    monkeypatch.setattr(forms, "read_forms", keep("forms", lambda: it.forms))
    it.run = lambda *arguments: checker("grade", "submissions", *arguments, cwd=tmp_path)
    it.folder = tmp_path / "graded"
    it.folder.mkdir()
    it.rules = (it.folder / "class.yml").write_text
    it.rules("seed: 7")
    return it


def test_a_class_is_graded_as_the_command_line_says_and_told_in_lines(grading):
    """Catches a notebook that is counted as graded before, and a table whose place nobody is told."""
    done = grading.run()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"{Path('graded/class.yml')}: Assigned: all notebooks of the course. No due date; late days cost nothing.",
        "Isolation: none: submissions ran with all rights of whoever started this. Seed of the hidden cases: 7.",
        "2 notebooks of 2 students, 2 to be graded: about 1 minutes.",
        "   1/2  ann  dots.ipynb  2.5 of 4",
        "2 notebooks, 1 graded before. 0 students without one.",
        LAST,
    ]
    assert grading.given["sheets"] == ((Path("notebooks"),),) and grading.given["gradebooks"] == ([], [])
    submissions, scratch, this_class = grading.given["plan"]
    assert submissions == [Path("submissions")] and scratch != Path("graded")
    assert this_class.sheets == ["a sheet"] and this_class.settings.seed == 7 and this_class.settings.whole
    work, folder, _, again = grading.given["graded"]
    assert work is grading.work and folder.path == Path("graded") and again == []
    written = grading.given["class"]
    assert written[:2] == (this_class, work)
    assert [(handed.student, result["earned"]) for handed, result in written[2]] == [("ann", 2.5), ("bob", 4.0)]
    assert grading.given["similar"][:2] == (this_class, work) and grading.given["similar"][2].path == Path("graded")


def test_what_a_person_has_to_look_at_is_told(grading):
    """Catches a notebook without points that nobody hears of, and "1 files"."""
    grading.work = replace(grading.work, aside=[Aside("x.pdf", "It is none.")], missing=["cy"])
    grading.found = [
        ("ann", result_of(2.0, stopped="Cell 5 stopped."), False),
        ("bob", result_of(0.0, ungraded="The box failed."), False),
        ("eve", result_of(0.0, ungraded="Another."), False),
    ]
    grading.alike, grading.remarks = 1, ["Too many points."]
    grading.gradebooks = [SimpleNamespace(path=Path("in/canvas.csv"), platform=SimpleNamespace(name="Canvas"))]
    done = grading.run()
    assert done.returncode == 0
    assert [line.strip() for line in done.stdout.splitlines()[3:]] == [
        "1/2  ann  dots.ipynb  2 of 4  Cell 5 stopped.",
        "2/2  bob  dots.ipynb  not graded: The box failed.",
        "3/2  eve  dots.ipynb  not graded: Another.",
        "3 notebooks, 0 graded before. 1 student without one. No notebook was handed in.",
        f"Not graded: 1 file. {Path('graded/not-graded.csv')} says why.",
        f"Alike: 1 pair of notebooks. Read {Path('graded/similar.html')} before you judge.",
        f"{Path('graded/gradebooks/canvas.csv')}: to be imported into Canvas.",
        LAST,
    ]
    first, second = done.stderr.splitlines()
    assert first == "note  Too many points."
    assert second.startswith("warning  2 notebooks not graded, by no fault of the student's, so ")
    assert second.endswith("without a number in the table. The first: The box failed.")


def test_forms_of_earlier_runs_count_and_what_is_wrong_with_forms_is_said(grading, monkeypatch):
    """Catches points by hand that are lost at the next run, which is not given the forms again."""
    kept = []
    monkeypatch.setattr(Folder, "keep_forms", lambda folder, given: kept.append(given))
    monkeypatch.setattr(Folder, "forms", lambda folder: ["all", *kept])
    grading.forms = (["given"], ["The later counts."], ["x is no form."])
    done = grading.run("--forms", "pages")
    assert grading.given["forms"] == (Path("pages"), Folder(grading.folder).secret(), False) and kept == [["given"]]
    assert grading.given["class"][3] == ["all", ["given"]]
    assert done.stderr.splitlines() == ["warning  x is no form.", "note  The later counts."]
    assert "forms" in grading.given and grading.run().stderr == "" and kept[-1] == []


def test_an_exercise_is_judged_anew_for_everybody(grading):
    grading.changed = ["ann: 2 points, before 1."]
    done = grading.run("--exercise", "kl", "--column", "dots.ipynb=Dots", "--gradebook", "c.csv")
    assert done.returncode == 0 and "ann: 2 points, before 1.\n" in done.stdout
    assert grading.given["require"] == (["a sheet"], "kl")
    assert grading.given["regraded"] == (grading.work, Path("graded"), "kl") and "graded" not in grading.given
    assert grading.given["gradebooks"] == ([Path("c.csv")], ["dots.ipynb=Dots"])


def test_a_student_who_handed_in_nothing_cannot_be_graded_again(grading):
    done = grading.run("--again", "cy")
    assert done.returncode == 2 and "--again cy: no notebook of this student is here." in done.stderr
    grading.run("--again", "ann")
    assert grading.given["graded"][3] == ["ann"]


TEXT = "\n\n".join(f"piece {number}" for number in range(9)) + "\n"


def test_a_disputed_exercise_is_shown_and_written_and_nothing_is_graded(grading, monkeypatch):
    """Catches a dispute of another student's notebook, and a class that is graded anew by a look at it."""
    asked = []

    def of_students(jobs, students, exercise):
        return [(handed, job) for handed, job in jobs if handed.student in students and exercise == "kl"]

    monkeypatch.setattr(disputes, "of_students", of_students)
    monkeypatch.setattr(disputes, "dispute", lambda job, exercise: asked.append((job.of, exercise)) or TEXT)
    done = grading.run("--again", "bob", "--exercise", "kl")
    assert done.returncode == 0 and asked == [("bob", "kl")] and "graded" not in grading.given
    (place,) = (grading.folder / disputes.FOLDER).iterdir()
    assert place.read_text() == TEXT and place.name.startswith("bob_dots_kl")
    shown = done.stdout.partition("piece 0")[2]
    assert "piece 4" in shown and "piece 5" not in shown
    told = done.stdout.splitlines()[-1]
    assert told.startswith(f"{Path('graded', disputes.FOLDER, place.name)}: all of it.")
    assert grading.given["plan"][0] == [Path("submissions")] and grading.given["plan"][2].sheets == ["a sheet"]
    assert "no notebook of this student" in grading.run("--again", "cy", "--exercise", "kl").stderr


def test_a_box_that_fails_in_a_dispute_is_nobodys_mistake(grading, monkeypatch):
    def fail(job, exercise):
        raise BoxFailed("no room")

    monkeypatch.setattr(disputes, "of_students", lambda jobs, students, exercise: list(jobs))
    monkeypatch.setattr(disputes, "dispute", fail)
    done = grading.run("--again", "ann", "--exercise", "kl")
    assert done.returncode == 2 and "ann: the box failed, by no fault of the function: no room" in done.stderr


def test_gradescope_gets_results_and_what_was_set_aside(grading, tmp_path, monkeypatch):
    """Catches a student who is told nothing: Gradescope shows this file and no terminal."""
    monkeypatch.setattr(gradescope, "results", lambda found, aside: json.dumps([found, [file.place for file in aside]]))
    grading.work = replace(grading.work, aside=[Aside("x.pdf", "It is none.")])
    grading.run("--gradescope", "results.json")
    found, aside = json.loads((tmp_path / "results.json").read_text())
    assert [result["earned"] for result in found] == [2.5, 4.0] and aside == ["x.pdf"]


def test_why_nothing_was_graded_is_said_to_gradescope_too(grading, tmp_path, monkeypatch):
    def unreadable(against):
        raise Unreadable("There is no [worked] notebook.")

    monkeypatch.setattr(sheets, "read_sheets", unreadable)
    done = grading.run("--gradescope", "results.json")
    assert (done.returncode, done.stderr) == (2, "error  There is no [worked] notebook.\n")
    told = json.loads((tmp_path / "results.json").read_text())
    assert told["score"] == 0 and "There is no [worked] notebook." in told["output"]
    assert grading.run().returncode == 2 and not (grading.folder / "grades.csv").exists()


@pytest.mark.parametrize(("kind", "status"), [("none", 0), ("bwrap", 2)])
def test_a_box_that_would_not_see_the_courses_packages_is_refused(kind, status, grading, monkeypatch):
    """Catches a class in which nobody earns a point, and a refusal where there is no box."""
    grading.kind = kind
    monkeypatch.setattr(packages, "unseen", lambda: {"torch": "/home/me", "rich": "/home/me"})
    done = grading.run("--isolation", "none")
    assert done.returncode == status
    assert ("A box does not see torch, rich, found here in /home/me." in done.stderr) == (status == 2)


def test_a_stop_is_a_sentence(grading, monkeypatch):
    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(results, "graded", stop)
    done = grading.run()
    assert done.returncode == 130 and "Stopped. What is graded is kept" in done.stdout and done.stderr == ""


def test_what_is_missing_to_grade_is_named_with_the_command_that_installs_it(grading, monkeypatch):
    monkeypatch.setattr(grade, "find_spec", lambda name: None if name in ("torch", "nbclient") else name)
    done = grading.run()
    assert done.returncode == 2 and "plan" not in grading.given
    assert "To grade, nbclient and torch must be installed, in the course's folder: .venv/bin/pip" in done.stderr


@pytest.mark.parametrize("given", [["ca"], ["ca", "key"], ["cert", "key"]])
def test_all_three_files_of_tls_are_needed(given, grading):
    done = grading.run(*[word for name in given for word in (f"--tls-{name}", f"{name}.pem")])
    assert done.returncode == 2 and "all three are needed" in done.stderr and "plan" not in grading.given


TLS = {"ca": "a.pem", "cert": "b.pem", "key": "c.pem"}


@pytest.mark.parametrize(
    ("options", "jobs", "called"),
    [
        ([], 1, ("in_this_process", 1)),
        (["--workers", "1"], 2, ("in_this_process", 2)),
        ([], 2, ("in_threads", 2, 6)),
        (["--workers", "4"], 2, ("in_threads", 2, 4)),
        (["--scheduler", "tls://x"], 1, ("on_workers", 1, "tls://x", {})),
        (
            ["--scheduler", "tls://x", *[word for name, file in TLS.items() for word in (f"--tls-{name}", file)]],
            2,
            ("on_workers", 2, "tls://x", TLS),
        ),
    ],
)
def test_notebooks_are_graded_where_and_as_many_at_once_as_was_asked_for(options, jobs, called, grading, monkeypatch):
    """Catches a cluster that nobody uses, and threads for a single notebook."""
    begun = []
    for name in ("in_this_process", "in_threads", "on_workers"):
        monkeypatch.setattr(
            scheduling, name, lambda jobs, *rest, name=name: begun.append((name, len(jobs), *rest)) or "results"
        )
    monkeypatch.setattr(grade, "cores", lambda: 6)
    grading.run(*options)
    assert grading.given["graded"][2](["a job"] * jobs) == "results" and begun == [called]


def test_settings_of_boxes_are_those_of_the_class(grading):
    grading.rules("seed: 1\nseconds: 5\nmegabytes: 7\nwhole notebooks: false\nanonymous: true")
    grading.run("--student", "ann")
    this_class = grading.given["plan"][2]
    assert (this_class.settings.limits.wall, this_class.settings.limits.memory) == (5, 7_000_000)
    assert not this_class.settings.whole and this_class.anonymous and this_class.only_student == "ann"


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
