"""Grading one notebook: judge its functions by hidden cases, run it from top to bottom, add up the points.

The rule for points stands first, since it is all that a student asks about. Then come the steps of `grade`:

judge        the notebook                     -> a verdict on each of its functions
run          the notebook                     -> its outputs, and what stopped it
result_of    verdicts and outputs             -> points, findings and the page, as JSON

For instance an exercise that asks for the square of x and is worth 2 points:

    handed in                      hidden cases                                 share    points
    def square(x): return x * x    all are right                                1        2
    def square(x): return 3 * x    some are right (`oracle/partial_credit.py`)  0.25     0.5 = 0.25 x 2
    no `square` any more           none is asked                                none     0

A student's file can be made to hang or to fill the memory. So it is read in a process of its own: `apart(f, x)` is f(x),
computed there (`collect/apart.py`). Student's code runs in boxes: processes without network, with limits (`box/`).
"""

import atexit
import hashlib
import json
import math
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path

from checker import __version__
from checker.checking.check import check
from checker.editions.course import NEEDED
from checker.grading.box.limits import Limits
from checker.grading.box.walls import ROOT, Isolation
from checker.grading.collect.apart import apart
from checker.grading.judge.boxed_functions import MOST_CASES, BoxedFunction, Grader
from checker.grading.judge.hidden_cases import programs, verdicts
from checker.grading.judge.missing_exercises import removed_exercises
from checker.grading.judge.reference_process import HiddenCases, HiddenVerdict, ReferenceProcess
from checker.grading.judge.whole_notebook import Executed, execute
from checker.grading.judge.worked_notebooks import WorkedNotebook
from checker.pages.rendering import render
from checker.points.items import Check, Item
from checker.reading.notebook import notebook_of
from checker.reading.syntax.statements import Definitions, Modules, definitions

FORMAT = 3  # of a result; what is written in another one is graded again
CACHE = "__pycache__"  # not a part of the course
GONE_QUESTION = "missing: the question is not in the notebook any more. Look whether it is answered elsewhere."
GONE_EXERCISE = "missing: the exercise is not in the notebook any more."
NOT_RUN = "X001"  # "the cell was not run", which is no remark where the grader runs none
DIGITS = 20  # hexadecimal ones of a result's name
ONE_AT_A_TIME = threading.Lock()  # else two threads begin a key each


def points_earned(points: float, shares: list[float]) -> float:
    """The points of an exercise: what it is worth times the mean share of its checks, rounded down to hundredths.

        points    shares     mean    earned
        2         1/4        1/4     0.5
        3         1, 1/2     3/4     2.25
        1         2/3        2/3     0.66      0.67 would be more than it earned

    shares: of each check the part of its hidden cases that is right, less what any answer gets (`oracle/partial_credit.py`).
    """
    mean = sum(exact(share) for share in shares) / len(shares)
    if mean == 1:
        return points  # in full, even where that is no number of hundredths
    return math.floor(100 * exact(points) * mean) / 100


def exact(number: float) -> Fraction:
    """The fraction that a float stands for. As floats 100 * 0.29 is 28.999999999999996: rounded down, a hundredth is lost."""
    return Fraction(number).limit_denominator(MOST_CASES)


def _graded_item(item: Item, by_check: dict[Check, HiddenVerdict], missing: bool) -> dict:
    """An exercise or question with its points, by the first line that holds.

        hidden cases judged its functions     `points_earned`
        missing, a question                   None: a person looks whether it is answered elsewhere
        missing, code                         0
        worth no points                       0
        anything else, such as a question     None: a person judges

    missing: it is no longer in the notebook. Its points still count among the possible ones.
    """
    judged = [by_check[check] for check in item.checks if check in by_check]
    if judged:
        return _judged_item(item, judged, missing)
    if missing and item.written:
        return _item(item, None, GONE_QUESTION, missing=True)
    if missing:
        return _item(item, 0.0, GONE_EXERCISE, missing=True, finding=True)
    if not item.points:
        return _item(item, 0.0, "worth no points")
    return _item(item, None, "graded by the instructor")


def _judged_item(item: Item, judged: list[HiddenVerdict], missing: bool) -> dict:
    """An exercise with the verdicts on its checks. One without hidden cases has no verdict and no part in the points."""
    earned = points_earned(item.points, [verdict.earned for verdict in judged])
    wrong = [verdict for verdict in judged if not verdict.passed]
    text = "\n".join(dict.fromkeys(verdict.text for verdict in wrong)) or judged[0].text
    mistakes = [*dict.fromkeys(mistake for verdict in wrong for mistake in verdict.mistakes)]
    finding = any(verdict.finding for verdict in judged)
    return _item(item, earned, text, missing=missing, finding=finding, mistakes=mistakes)


def _item(item: Item, earned: float | None, verdict: str, **marks) -> dict:
    """An exercise with what it earned: None where a person has to judge.

    marks: whether it is `missing`; whether it is a `finding`, to be looked at; the known `mistakes` in it.
    """
    return {
        "key": item.key,
        "name": item.name,
        "section": item.section,
        "wanted": item.wanted,
        "field": item.field,
        "written": item.written,
        "points": item.points,
        "earned": earned,
        "verdict": verdict,
        "missing": False,
        "finding": False,
        "mistakes": [],
    } | marks


def points_of(items: list[dict]) -> dict[str, float]:
    """The sums in a result: what was earned, and what could have been. What waits for a person is in neither."""
    return {
        "earned": sum(item["earned"] or 0 for item in items),
        "possible": sum(item["points"] for item in items if item["earned"] is not None),
    }


@dataclass(frozen=True)
class Settings:
    """The settings of the whole class. seed: of the hidden cases. whole: whether notebooks are run as well."""

    seed: int
    isolation: Isolation
    whole: bool = True


@dataclass(frozen=True)
class Job:
    """One notebook to grade.

    student: as the pages call who handed it in.    name: of the file.    text: what is in it.
    worked_notebook: the one that it is graded by.    modules: the student's own that lie beside it.
    limits: of its boxes.
    """

    student: str
    name: str
    text: str
    worked_notebook: WorkedNotebook
    settings: Settings
    modules: Modules = ()
    limits: Limits = Limits()

    @property
    def notebook(self) -> str:
        """The name of its worked notebook, such as dots.ipynb, whatever the student's file is called."""
        return self.worked_notebook.name

    @property
    def digest(self) -> str:
        """The name of its result, a hash of everything that the result depends on."""
        parts = [FORMAT, __version__, course()]
        parts += [self.student, self.name, self.text, self.worked_notebook.digest]
        parts += [self.settings.seed, self.settings.whole, self.modules]
        parts += [self.settings.isolation.kind, asdict(self.limits)]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:DIGITS]


def grade(job: Job) -> dict:
    """The result of a notebook, as JSON: points for each exercise, what stopped it, findings, outputs and page.

    Raises:
        BoxFailed: a box failed, by no fault of the submission.
        TooMuch: to read the notebook, or what it shows, takes more time or memory than it may.
    """
    references = _references(job.settings.seed)
    by_check = judge(job, references)
    executed = run(job)
    return result_of(job, by_check, executed)


def judge(job: Job, references: ReferenceProcess) -> dict[Check, HiddenVerdict]:
    """The verdicts on a notebook's functions.

    references: the process that holds the right solutions and the hidden cases.
    """
    cases = references.cases(check.name for check in job.worked_notebook.checks)
    names_of_cases = replace(cases, pickled="")  # the process that reads what students wrote is not sent the cases

    def programs_for(wrong: frozenset[str], numbers: Mapping[str, float]) -> dict[Check, BoxedFunction]:
        return apart(_programs, job.text, job.modules, job.worked_notebook, names_of_cases, wrong, numbers)

    return verdicts(programs_for, Grader(references, job.settings.isolation, job.limits))


def run(job: Job) -> Executed:
    """The notebook after it ran from top to bottom; as it was handed in, where whole notebooks are not run."""
    content = json.loads(job.text)
    if not job.settings.whole:
        return Executed(content, "", 0.0, 0)
    return execute(notebook_of(content), content, job.settings.isolation, job.limits, job.modules)


def result_of(job: Job, by_check: dict[Check, HiddenVerdict], executed: Executed) -> dict:
    """The result of what was judged and run."""
    removed = apart(_removed, job.text, job.worked_notebook)
    items = [_graded_item(item, by_check, item.key in removed) for item in job.worked_notebook.items]
    asked = zip(job.worked_notebook.items, items)
    by_hand = [item for item, graded in asked if graded["earned"] is None and item.points]
    not_asked = () if job.settings.whole else (NOT_RUN,)
    with tempfile.TemporaryDirectory() as folder:
        shown = json.dumps(executed.content)
        findings, page = apart(_page, job.student, job.notebook, shown, by_hand, not_asked, Path(folder))
    return _result(
        job,
        items,
        stopped=executed.stopped,
        seconds=round(executed.seconds, 1),
        memory=executed.memory,
        findings=findings,
        page=page,
    )


def failed(job: Job, reason: str, transient: bool = False) -> dict:
    """The result of a notebook that could not be graded: no number, and the reason, for the instructor to see.

    transient: the reason may be gone the next time, so the notebook is then graded again.
    """
    items = [_item(item, None, f"not graded: {reason}") for item in job.worked_notebook.items]
    return _result(job, items, stopped=reason, ungraded=reason, transient=transient)


def _result(job: Job, items: list[dict], **found) -> dict:
    result = {
        "format": FORMAT,
        "course": course(),
        "student": job.student,
        "notebook": job.notebook,
        "name": job.name,
        "items": items,
        **points_of(items),
        "stopped": "",
        "seconds": 0.0,
        "memory": 0,
        "findings": [],
        "page": "",
        "ungraded": "",
        "transient": False,
    }
    return encodable(result | found)


def encodable(value):
    """JSON whose texts can be written as UTF-8: half a character, which a submission may print, is replaced."""
    return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


@cache
def course() -> str:
    """A hash of all by which notebooks run and are judged: programs, rubric, templates, model, recorded runs."""
    found = hashlib.sha256()
    files = (path for name in NEEDED for path in (ROOT / name).rglob("*") if path.is_file())
    for path in sorted(path for path in files if CACHE not in path.parts):
        found.update(f"{path.relative_to(ROOT).as_posix()} {path.stat().st_size}\n".encode())
        found.update(path.read_bytes())
    return found.hexdigest()


def forget_references() -> None:
    """Forget the process that knows what is right, which may have ended: the next notebook starts a new one."""
    _begun.cache_clear()


def _references(seed: int) -> ReferenceProcess:
    """The process that holds the right solutions, one for all threads."""
    with ONE_AT_A_TIME:
        return _begun(seed)


@lru_cache(maxsize=1)
def _begun(seed: int) -> ReferenceProcess:
    references = ReferenceProcess(seed)
    atexit.register(references.close)
    return references


def _programs(
    text: str, modules: Modules, worked: WorkedNotebook, cases: HiddenCases, wrong: frozenset[str], numbers: Mapping
) -> dict[Check, BoxedFunction]:
    return programs(_definitions(text, modules), worked, cases, wrong, numbers)


@lru_cache(maxsize=1)
def _definitions(text: str, modules: Modules) -> Definitions:
    """The definitions in a notebook, which its second try asks for again."""
    return definitions(notebook_of(json.loads(text)), modules)


def _removed(text: str, worked: WorkedNotebook) -> frozenset[str]:
    return removed_exercises(worked, json.loads(text))


def _page(
    student: str, notebook: str, content: str, by_hand: list[Item], not_asked: tuple[str, ...], folder: Path
) -> tuple[list[dict], str]:
    """The findings on a notebook as it ran, and its page with the instructor's form."""
    target = folder / notebook
    target.write_text(content, encoding="utf-8")
    report = replace(check(target, ignore=not_asked, beside=False), name=f"{student}/{notebook}")
    page = render(target, folder / "page", "builtin", report=report, by_hand=by_hand)
    return [finding.as_dict() for finding in report.findings], page.read_text(encoding="utf-8")
