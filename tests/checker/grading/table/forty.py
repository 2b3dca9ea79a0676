"""A class of any size whose notebooks were never run: for tests of what is written down about a class."""

import csv
import json
import random
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from checker.grading.box.walls import Isolation
from checker.grading.classes import Class
from checker.grading.collect.roster import Roster, Student
from checker.grading.judge import one_notebook
from checker.grading.judge.one_notebook import Job, Settings
from checker.grading.judge.worked_notebooks import WorkedNotebook, read_worked_notebook
from checker.grading.results import graded
from checker.grading.table.class_folder import Folder
from checker.grading.work import collected
from checker.grading.writing import write_class
from checker.points.forms import Form
from checker.reading.markers import BLANK_ANSWER
from tests.checker.conftest import code, markdown

PAGE = '<main id="results"><!-- neighbours --></main>'
STEP = """# Cell 5: One GRPO step
def kl(x):
    # student code here
    # TODO: the k3 estimate (2 points, 5 minutes)
    return x * x
    # end student code
check.kl(kl)"""
ANALYSIS = """# Cell 8: Analysis

**Success.** Did training help on held-out rows, and by how *much*?

<!-- student answer: 3 points -->
The reward rose from **0.1** to 0.9 on rows that it never saw.
<!-- end student answer -->

**Your experiment.** Claim, control, conclusion.

| points | for |
|---|---|
| 2 | a claim |

<!-- student answer: 6 points -->
More seeds.
<!-- end student answer -->"""
HOSTILE = (
    "<script>window.stolen = 1</script><img src=x onerror='window.stolen = 2'>"
    "<img src='https://example.org/spy.png'><iframe src='https://example.org'></iframe>"
    "<style>article { display: none }</style></div></article></main><input value='mine'>"
    "<form action='https://example.org'><button>Give 3 points</button></form>[click](javascript:alert(1))"
)
ANSWERS = (
    "It went from 0.0 to 0.98, and the greedy answer is the plain number.",
    "Yes.\n\n- before: 0.1\n- after: **0.9**\n\n$$\\hat A_i = \\frac{r_i - \\bar r}{\\sigma}$$",
    "| step | reward |\n|---|---|\n| 0 | 0.1 |\n| 80 | 0.9 |\n\nMost of it in the first `20` steps.",
    BLANK_ANSWER,
    HOSTILE,
)


def worked_notebook(folder: Path) -> WorkedNotebook:
    """A small worked notebook: one exercise with a check, two questions that a person judges."""
    folder.mkdir(parents=True, exist_ok=True)
    cells = [code(STEP) | {"id": "cell-05"}, markdown(ANALYSIS) | {"id": "cell-08"}]
    path = folder / "dots.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}))
    return read_worked_notebook(path)


def hand_in(folder: Path, student: str, worked: WorkedNotebook, answers: list[str]) -> None:
    """Put the notebook of a student, with these answers, where it is handed in."""
    content = json.loads(json.dumps(worked.handed_out))
    left = iter(answers)
    for cell in content["cells"]:
        pieces = "".join(cell["source"]).split(BLANK_ANSWER)
        cell["source"] = "".join(piece + next(left) for piece in pieces[:-1]) + pieces[-1]
    place = folder / student / worked.name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(content))


def items_of(job, earned, verdict="so"):
    """The exercises of a job's notebook as if each with a check had earned this; the others wait for a person."""
    return [one_notebook._item(item, earned if item.checks else None, verdict) for item in job.worked_notebook.items]


@dataclass
class Points:
    """A grader that gives checks these points by student, else the usual ones, and keeps the jobs.

    ungraded: the reason, by student, why nothing is graded.    transient: whether that may be gone the next time.
    """

    usual: float | None = 1.0
    page: str = PAGE
    ungraded: dict[str, str] = field(default_factory=dict)
    transient: bool = True
    points: dict[str, float] = field(default_factory=dict)
    jobs: list[Job] = field(default_factory=list)

    def __call__(self, jobs):
        for job in jobs:
            self.jobs.append(job)
            items = items_of(job, self.points.get(job.student, self.usual))
            page = self.page.replace("results", f"results of {job.student}")
            ungraded = self.ungraded.get(job.student, "")
            transient = self.transient and bool(ungraded)
            yield job, one_notebook._result(job, items, page=page, ungraded=ungraded, transient=transient)


def not_run(jobs, pages=3):
    """A grader that runs nothing: an exercise with a check earns what chance gives, the others wait for a person.

    pages: how many of the notebooks get one, for each takes a tenth of a second.
    """
    for number, job in enumerate(jobs):
        chance = random.Random(job.student)
        items = [
            one_notebook._item(item, chance.choice([0.0, item.points / 2, item.points]), "right.")
            if item.checks
            else one_notebook._item(item, None, "graded by the instructor")
            for item in job.worked_notebook.items
        ]
        by_hand = [item for item in job.worked_notebook.items if not item.checks and item.points]
        with tempfile.TemporaryDirectory() as folder:
            given = (job.student, job.notebook, job.text, by_hand, (one_notebook.NOT_RUN,), Path(folder))
            page = one_notebook._page(*given)[1] if number < pages else ""
        yield job, one_notebook._result(job, items, page=page)


@dataclass
class Forty:
    """A class in a folder, written down as often as asked."""

    folder: Folder
    this_class: Class
    submissions: Path

    def rows(self, name="grades.csv") -> list[dict[str, str]]:
        """The lines of one of the class's tables."""
        return list(csv.DictReader((self.folder.path / name).open(encoding="utf-8-sig")))

    def write(self, forms: list[Form] = (), grader=not_run, gradebooks=()) -> list[str]:
        """Grade what was handed in and write all of it down."""
        self.folder.prepare()
        self.folder.keep_forms(forms)
        work = collected([self.submissions], self.this_class)
        results = list(graded(work, self.folder, grader))
        return write_class(self.this_class, work, results, self.folder.forms(), self.folder, gradebooks)


def class_of(number: int, folder: Path, worked: WorkedNotebook, answers=ANSWERS) -> Forty:
    """A class of so many students, all of whom handed in, with these answers in turn."""
    names = [f"student{place:02d}" for place in range(1, number + 1)]
    questions = sum(item.written for item in worked.items)
    for place, name in enumerate(names):
        own = [answers[(place + question) % len(answers)] for question in range(questions)]
        hand_in(folder / "submissions", name, worked, own)
    roster = Roster(tuple(Student(name, (name,)) for name in names))
    settings = Settings(7, Isolation("none"), whole=False)
    return Forty(Folder(folder / "graded"), Class([worked], settings, roster), folder / "submissions")
