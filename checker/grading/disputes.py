"""A mark that is disputed: the hidden cases that a student's function failed, for the instructor alone.

The function runs in a box as in grading. The cases and what is right are put into words by a process of their own.
"""

import json
import subprocess
import sys
from collections.abc import Collection, Iterable
from dataclasses import replace

from checker.grading.box.walls import ROOT
from checker.grading.judge.one_notebook import Job, judge
from checker.grading.judge.reference_process import HiddenCases, HiddenVerdict, ReferenceProcess
from checker.grading.judge.worked_notebooks import WorkedNotebook
from checker.grading.work import Jobs
from checker.points.items import Check, Item
from checker.reading.notebook import Unreadable
from checker.reading.text import printable

FOLDER = "disputes"
DISPUTED = "checker.grading.judge.oracle.disputed"


class _Listening:
    """The process that knows what is right, with the outcomes on which it was first asked for a verdict.

    What a function gives in a second try may hold the worked solutions that lie in that box.
    """

    def __init__(self, references: ReferenceProcess):
        self.references = references
        self.outcomes: dict[str, list] = {}

    def cases(self, checks: Iterable[str]) -> HiddenCases:
        return self.references.cases(checks)

    def judge(self, check: str, outcomes: list) -> HiddenVerdict:
        self.outcomes.setdefault(check, outcomes)
        return self.references.judge(check, outcomes)


def exercise_in(worked: WorkedNotebook, name: str) -> Item | None:
    """The exercise of a notebook that has this name and checks that earn it; None where it has none."""
    return next((item for item in worked.items if item.name == name and item.checks), None)


def require(worked_notebooks: Iterable[WorkedNotebook], name: str) -> None:
    """Raises Unreadable where no notebook has such an exercise."""
    worked_notebooks = list(worked_notebooks)
    if not any(exercise_in(worked, name) for worked in worked_notebooks):
        known = sorted({item.name for worked in worked_notebooks for item in worked.items if item.checks})
        raise Unreadable(
            f"--exercise {name}: no notebook has a checked exercise of this name. There are {', '.join(known)}."
        )


def of_students(jobs: Jobs, students: Collection[str], name: str) -> Jobs:
    """The notebooks of some students that have an exercise.

    Raises:
        Unreadable: one of the students handed in no notebook that has it, so that there is nothing to show.
    """
    theirs = [(submission, job) for submission, job in jobs if submission.student in students]
    found = [(submission, job) for submission, job in theirs if exercise_in(job.worked_notebook, name)]
    for student in sorted(set(students) - {submission.student for submission, _ in found}):
        there = ", ".join(sorted(job.notebook for submission, job in theirs if submission.student == student))
        raise Unreadable(f"--again {student} --exercise {name}: the exercise is in none of this student's: {there}.")
    return found


def dispute(job: Job, name: str) -> str:
    """The cases that an exercise of a notebook failed, as a text.

    Raises:
        BoxFailed: a box did, and not the submission.
    """
    item = exercise_in(job.worked_notebook, name)
    settings = job.settings
    references = ReferenceProcess(settings.seed)
    listening = _Listening(references)
    try:
        judged = judge(replace(job, worked_notebook=replace(job.worked_notebook, items=(item,))), listening)
    finally:
        references.close()
    pieces = [f"{job.student}, {job.notebook}, {name}: the function as it was handed in, by itself."]
    for check, verdict in judged.items():
        pieces.append(verdict.text)
        failed = _failed(check, listening.outcomes.get(check.name, []), settings.seed)
        pieces += [_case(one) for one in failed]
        if not verdict.passed and not failed:
            pieces.append("No case was run, or the exercise has no reference: the sentence above is all there is.")
    if not judged:
        pieces.append("None of its checks has hidden cases: a person gives its points.")
    return printable("\n\n".join(pieces)) + "\n"


def _failed(check: Check, outcomes: list, seed: int) -> list[dict]:
    """The failed cases; none where the function was never called."""
    if not outcomes:
        return []
    asked = json.dumps({"check": check.name, "outcomes": outcomes})
    command = [sys.executable, "-m", DISPUTED, str(seed)]
    done = subprocess.run(command, input=asked, cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8", check=True)
    return json.loads(done.stdout)


def _case(failed: dict) -> str:
    lines = [f"Case {failed['case']}"]
    lines += [f"  {name} = {value}" for name, value in failed["arguments"]]
    lines += [f"  given  {failed['given']}", f"  right  {failed['right']}"]
    return "\n".join(lines)
