"""A whole class: what was handed in is collected, graded where that is not done yet, and written down."""

import csv
import hashlib
import io
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from checker.forms import Form
from checker.grading.collecting import Aside, Collected, Handed, apart, collect, edition, latest, undecided, unlike
from checker.grading.feedback import feedback
from checker.grading.lines import Line, add_forms
from checker.grading.one import Job, Settings
from checker.grading.roster import Roster
from checker.grading.sheets import Sheet, sheet_for
from checker.grading.similar import THRESHOLD, pairs, text_of
from checker.grading.storing import Folder, file_name
from checker.grading.sums import refused
from checker.grading.tables import write
from checker.notebook import Unreadable, parse
from checker.pages.templates import template
from checker.rubric import for_a_cell

Grader = Callable[[list[Job]], Iterable[tuple[Job, dict]]]


@dataclass(frozen=True)
class Class:
    """What is known of a class: keys, roster, how to tell whose a notebook is, and whether pages go without names.

    whose: the one student whose everything is; "" for a class.
    """

    sheets: list[Sheet]
    settings: Settings
    roster: Roster = Roster()
    pattern: str = ""
    due: datetime | None = None
    whose: str = ""
    anonymous: bool = False

    def shown(self, student: str) -> str:
        """The name under which a student's pages go."""
        if not self.anonymous:
            return student
        return "student-" + hashlib.sha256(f"{self.settings.seed} {student}".encode()).hexdigest()[:8]


@dataclass
class Work:
    """What is to be done: jobs with the students they are of, and what was set aside.

    late: students of whom something was late.      missing: those of the roster who handed in nothing.
    """

    jobs: dict[str, tuple[Handed, Job]] = field(default_factory=dict)
    aside: list[Aside] = field(default_factory=list)
    late: set[str] = field(default_factory=set)
    missing: list[str] = field(default_factory=list)


def plan(paths: list[Path], scratch: Path, of: Class) -> Work:
    """The jobs for what was handed in, one for each student and notebook, by the digests of their results.

    Raises:
        Unreadable: one of the paths is not there. (Of an empty class all pages would be deleted.)
    """
    for path in paths:
        if not path.exists():
            raise Unreadable(f"{path} is not there. Nothing was graded, and nothing of an earlier run was changed.")
    found = collect(paths, scratch, of.roster, of.pattern, of.due, of.whose)
    work = Work(aside=found.aside)
    several: dict[tuple[str, str], list[tuple[Handed, Sheet, str]]] = {}
    for handed, sheet, text in _with_sheets(found, of.sheets):
        several.setdefault((handed.student, sheet.name), []).append((handed, sheet, text))
    for (student, notebook), uploads in several.items():
        unlike_each_other = len(uploads) > 1 and apart(handed.name for handed, _, _ in uploads if not edition(handed))
        chosen = None if unlike_each_other else latest([handed for handed, _, _ in uploads])
        for handed, sheet, text in uploads:
            if handed is chosen:
                job = Job(of.shown(student), handed.name, text, sheet, of.settings)
                work.jobs[job.digest] = (handed, job)
            elif chosen is None:
                why = unlike if unlike_each_other else undecided
                work.aside.append(why(handed, notebook, [other for other, _, _ in uploads]))
            else:
                reason = f"{student} handed in {notebook} under another name too: {chosen.place} is graded."
                work.aside.append(Aside(handed.place, reason))
    work.late = {handed.student for handed, _ in work.jobs.values() if handed.late}
    known = {handed.student for handed, _ in work.jobs.values()} | {aside.student for aside in work.aside}
    work.missing = [student.id for student in of.roster.students if student.id not in known]
    return work


def _with_sheets(found: Collected, sheets: list[Sheet]) -> Iterator[tuple[Handed, Sheet, str]]:
    for handed in found.handed:
        try:
            content = parse(handed.file)
            yield handed, sheet_for(content, handed.name, sheets), json.dumps(content)
        except Unreadable as error:
            remark = f"{handed.name} was not graded: {error}"
            found.aside.append(Aside(handed.place, str(error), handed.student, remark))


def graded(
    work: Work, folder: Folder, grader: Grader, again: Iterable[str] = ()
) -> Iterator[tuple[Handed, dict, bool]]:
    """Every notebook's result, and whether it was there already; each new one is kept as soon as it is there.

    Args:
        again: students whose notebooks are graded anew.
    """
    again = set(again)
    waiting = []
    for digest, (handed, job) in work.jobs.items():
        result = None if handed.student in again else folder.result(digest)
        if result is None:
            waiting.append(job)
        else:
            yield handed, result, True
    for job, result in grader(waiting):
        if not result.get("passing"):
            folder.keep(job.digest, result)
        yield work.jobs[job.digest][0], result, False


def write_class(
    of: Class, work: Work, results: list[tuple[Handed, dict]], forms: list[Form], folder: Folder
) -> list[str]:
    """Write pages, feedback, the table and what was set aside; sentences on what the instructor should know."""
    lines = {student.id: Line(student.id) for student in of.roster.students}
    for handed, result in results:
        line = lines.setdefault(handed.student, Line(handed.student))
        line.results[result["notebook"]] = result
    for student in work.late:
        lines[student].remarks.append("Late.")
    for aside in work.aside:
        line = lines.setdefault(aside.student, Line(aside.student)) if aside.student else None
        if line is not None and aside.remark not in line.remarks:
            line.remarks.append(aside.remark)
    for student in work.missing:
        lines[student].remarks.append("No notebook was handed in.")
    by_shown = {of.shown(student): student for student in lines}
    owned = [_owned(form, by_shown) for form in forms]
    strangers = add_forms(lines.values(), owned)
    if of.anonymous:
        rows = [["shown as", "student"], *([shown, student] for shown, student in sorted(by_shown.items()))]
        folder.write("names.csv", _csv(rows))
    not_graded = [[aside.place, aside.reason] for aside in work.aside]
    not_graded += [[handed.place, result["ungraded"]] for handed, result in results if result["ungraded"]]
    folder.write("not-graded.csv", _csv([["file", "reason"], *not_graded]))
    _write_pages(of, lines.values(), folder, write(folder, list(lines.values())))
    unknown = [
        f"{form.path}: {form.student or 'nobody'} is not in this class. It was not counted." for form in strangers
    ]
    return [*unknown, *_beyond(lines.values())]


def _beyond(lines: Iterable[Line]) -> list[str]:
    """A sentence on each field of a form with points that cannot be."""
    return [
        f"{form.path}: {said}. Mend it on the page: it was not counted."
        for line in lines
        for notebook, form in line.forms.items()
        for said in refused(line.results.get(notebook, {"items": []})["items"], form)
    ]


def write_similar(of: Class, work: Work, folder: Folder, threshold: float = THRESHOLD) -> int:
    """Write the page of similar notebooks, for the instructor alone; how many pairs there are."""
    groups = []
    for sheet in of.sheets:
        together: dict[str, list[Job]] = {}  # a group hands in once
        for handed, job in work.jobs.values():
            if job.sheet is sheet:
                together.setdefault(handed.place, []).append(job)
        texts = [
            text_of(", ".join(job.student for job in jobs), json.loads(jobs[0].text)) for jobs in together.values()
        ]
        known = [text_of("", sheet.handed_out), text_of("", sheet.worked)]
        if texts:
            groups.append((sheet.name, pairs(texts, known, threshold)))
    folder.write("similar.html", template("similar.html.j2").render(groups=groups, threshold=threshold))
    return sum(len(found) for _, found in groups)


def _write_pages(of: Class, lines: Iterable[Line], folder: Folder, kept: dict[str, tuple[str, str, str]]) -> None:
    """Write pages and feedback; those of an earlier run that are not among them go, such as pages with names."""
    written = set()
    for line in lines:
        shown = of.shown(line.student)
        for notebook, result in line.results.items():
            if result["page"]:
                inside = f"pages/{file_name(shown)}/{file_name(Path(notebook).stem)}.html"
                written.add(folder.write(inside, result["page"]))
        written.add(
            folder.write(f"feedback/{file_name(shown)}.html", feedback(line, shown, kept.get(line.student, ("",))[0]))
        )
    for name in ("pages", "feedback"):
        for page in (folder.path / name).rglob("*.html"):
            if page not in written:
                page.unlink()


def _owned(form: Form, by_shown: dict[str, str]) -> Form:
    """The form with its student's own name, where its page went without."""
    return replace(form, student=by_shown.get(form.student, form.student))


def _csv(rows: Iterable[list[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([[for_a_cell(cell) for cell in row] for row in rows])
    return out.getvalue()
