"""A whole class: what was handed in is collected, graded where that is not done yet, and written down."""

import csv
import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from checker.grading.collect.apart import TooMuch, apart
from checker.grading.collect.roster import Roster
from checker.grading.collect.similarity import THRESHOLD, Text, pairs, text_in, text_of
from checker.grading.collect.uploads import (
    NOTHING_DONE,
    Aside,
    Collected,
    Handed,
    collect,
    differ_by_number,
    edition,
    latest,
    undecided,
    unlike,
)
from checker.grading.disputes import exercise_in
from checker.grading.judge.sheets import Sheet, sheet_for
from checker.grading.judge.submission import DIGITS, Job, Settings, points_of
from checker.grading.table.class_folder import Folder, file_name
from checker.grading.table.class_statistics import PAGE as STATISTICS
from checker.grading.table.class_statistics import page as statistics_page
from checker.grading.table.feedback import feedback
from checker.grading.table.gradebooks import FOLDER as GRADEBOOKS
from checker.grading.table.gradebooks import GRADESCOPE, Gradebook, by_address, filled
from checker.grading.table.grades import TABLE, write
from checker.grading.table.gradescope import handing_back
from checker.grading.table.judging import QUESTIONS, Submitted, questions
from checker.grading.table.judging import page as question_page
from checker.grading.table.lateness import Lateness, LateRule
from checker.grading.table.overview import INDEX, index, row, ways, with_neighbours
from checker.grading.table.students import Line, add_forms
from checker.pages.templates import template
from checker.points.forms import Form
from checker.points.rubric import for_a_cell
from checker.points.totals import refused, shown
from checker.reading.notebook import Unreadable, parse

ABSENT = "No notebook was handed in."
PERHAPS_ABSENT = (
    "No notebook was found under this name, and of something that was handed in it is not known whose it is."
)
TO_PLATFORM = "feedback.zip"
USUAL = 60.0  # seconds that a notebook takes, where none was graded yet
Grader = Callable[[list[Job]], Iterable[tuple[Job, dict]]]


@dataclass(frozen=True)
class Class:
    """A class: keys, roster, how to tell whose a notebook is, and whether pages go without names.

    only_student: the one who handed in everything; "" for a class.    late_rule: None where late days take nothing off.
    assigned: the notebooks that count; none for all.                  rules: a line on these, for the index.
    """

    sheets: list[Sheet]
    settings: Settings
    roster: Roster = Roster()
    pattern: str = ""
    due: datetime | None = None
    only_student: str = ""
    anonymous: bool = False
    late_rule: LateRule | None = None
    assigned: tuple[str, ...] = ()
    rules: str = ""

    def lateness(self, student: str, days: int | None, late: bool) -> Lateness | None:
        """The late days of a student, and the rule. days: by the platform, None where it says none; late: by its mark."""
        if self.late_rule is None:
            return None
        known = {one.id: one for one in self.roster.students}.get(student)
        if known is not None and known.days_late is not None:
            days = known.days_late
        if days is None and not late:
            days = 0
        free = known.free_days if known is not None and known.free_days is not None else self.late_rule.free
        return Lateness(self.late_rule, days, free)

    def shown(self, student: str) -> str:
        """The name under which a student's pages go."""
        if not self.anonymous:
            return student
        return "student-" + hashlib.sha256(f"{self.settings.seed} {student}".encode()).hexdigest()[:8]


@dataclass
class Work:
    """The work of grading a class: jobs with their students, and the files that were set aside.

    late: students of whom something was late.      missing: those of the roster of whom nothing is known to be there.
    """

    jobs: dict[str, tuple[Handed, Job]]
    aside: list[Aside]
    late: set[str]
    missing: list[str]

    @property
    def absence(self) -> str:
        """The sentence on those who are missing. Nobody is told to be absent while something lies there that may be theirs."""
        return PERHAPS_ABSENT if any(aside.unknown for aside in self.aside) else ABSENT


def plan(paths: list[Path], scratch: Path, this_class: Class) -> Work:
    """The jobs for what was handed in, one for each student and notebook, by the digests of their results.

    Raises:
        Unreadable: one of the paths is not there. (Of an empty class all pages would be deleted.)
    """
    for path in paths:
        if not path.exists():
            raise Unreadable(f"{path} is not there. {NOTHING_DONE}")
    found = collect(paths, scratch, this_class.roster, this_class.pattern, this_class.due, this_class.only_student)
    jobs: dict[str, tuple[Handed, Job]] = {}
    several: dict[tuple[str, str], list[tuple[Handed, Sheet, str]]] = {}
    for handed, sheet, text in _with_sheets(found, this_class.sheets):
        several.setdefault((handed.student, sheet.name), []).append((handed, sheet, text))
    others = {
        key: several.pop(key) for key in list(several) if this_class.assigned and key[1] not in this_class.assigned
    }
    for (student, notebook), uploads in several.items():
        # lab-1 and lab-2 may be two notebooks. Where their metadata is lost, none is graded rather than the wrong one.
        unlike_each_other = len(uploads) > 1 and differ_by_number(
            handed.name for handed, _, _ in uploads if not edition(handed)
        )
        chosen = None if unlike_each_other else latest([handed for handed, _, _ in uploads])
        for handed, sheet, text in uploads:
            if handed is chosen:
                job = Job(this_class.shown(student), handed.name, text, sheet, this_class.settings)
                jobs[job.digest] = (handed, job)
            elif chosen is None:
                why = unlike if unlike_each_other else undecided
                found.aside.append(why(handed, notebook, [other for other, _, _ in uploads]))
            else:
                reason = f"{student} handed in {notebook} under another name too: {chosen.place} is graded."
                found.aside.append(Aside(handed.place, reason))
    served = {handed.student for handed, _ in jobs.values()}
    for (student, notebook), uploads in others.items():
        for handed, _, _ in uploads:
            remark = "" if student in served else f"{handed.name} was not graded: it is not assigned."
            reason = f"{notebook} is not assigned: class.yml names {', '.join(this_class.assigned)}."
            found.aside.append(Aside(handed.place, reason, student if remark else "", remark))
    late = {handed.student for handed, _ in jobs.values() if handed.late}
    known = {handed.student for handed, _ in jobs.values()} | {aside.student for aside in found.aside}
    missing = [student.id for student in this_class.roster.students if student.id not in known]
    return Work(jobs, found.aside, late, missing)


def _with_sheets(found: Collected, sheets: list[Sheet]) -> Iterator[tuple[Handed, Sheet, str]]:
    for handed in found.handed:
        try:
            metadata, text = apart(_opened, handed.file)
            yield handed, sheet_for({"metadata": metadata}, handed.name, sheets), text
        except Unreadable as error:
            remark = f"{handed.name} was not graded: {error}"
            found.aside.append(Aside(handed.place, str(error), handed.student, remark))


def _opened(file: Path) -> tuple[object, str]:
    """A notebook's metadata, and all of it as JSON of today's format."""
    content = parse(file)
    return content.get("metadata"), json.dumps(content)


def waiting(work: Work, folder: Folder, again: Iterable[str] = ()) -> tuple[list[Job], float]:
    """The notebooks that have no result yet, and how many seconds one of those that have one took to run."""
    known = {digest: folder.result(digest) for digest in work.jobs}
    new = [job for digest, (handed, job) in work.jobs.items() if known[digest] is None or handed.student in again]
    took = [result["seconds"] for result in known.values() if result is not None]
    return new, sum(took) / len(took) if took else USUAL


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
        _keep(folder, job, result)
        yield work.jobs[job.digest][0], result, False


def regraded(
    work: Work, folder: Folder, grader: Grader, exercise: str, changed: list[str]
) -> Iterator[tuple[Handed, dict, bool]]:
    """Every notebook's result of an earlier run, with one exercise judged anew; in full where there was no earlier one.

    After a check was mended nothing else of the class changes, although the course is another one now.

    Args:
        changed: takes a sentence for each student whose points are others now.
    """
    earlier = folder.earlier()
    waiting = []
    alone = {}
    for handed, job in work.jobs.values():
        before = earlier.get(_upload(job))
        if before is None:
            waiting.append(job)
        elif exercise_in(job.sheet, exercise) is None:
            folder.keep(job.digest, before)
            yield handed, before, True
        else:
            functions = replace(job, settings=replace(job.settings, whole=False))
            alone[functions.digest] = (job, before)
            waiting.append(functions)
    for judged, result in grader(waiting):
        job, before = alone.get(judged.digest, (judged, None))
        handed = work.jobs[job.digest][0]
        if before is not None and result["ungraded"]:
            yield handed, result, False
            continue
        if before is not None:
            item = exercise_in(job.sheet, exercise)
            result, told = _with_anew(before, result, item.key)
            changed += [f"{handed.student}, {job.sheet.name}, {exercise}: {told}"] if told else []
        _keep(folder, job, result)
        yield handed, result, False


def _with_anew(before: dict, now: dict, key: str) -> tuple[dict, str]:
    """An earlier result with one exercise of a newer one, and how its points changed; "" where they did not."""
    new = next(item for item in now["items"] if item["key"] == key)
    by_key = {item["key"]: item for item in before["items"]}
    old = by_key.get(key, {"earned": None})
    items = list((by_key | {key: new}).values())
    was, now_is = ("none yet" if item["earned"] is None else shown(item["earned"]) for item in (old, new))
    told = "" if was == now_is else f"{was} before, {now_is} now."
    return before | {"items": items, "course": now["course"]} | points_of(items), told


def _keep(folder: Folder, job: Job, result: dict) -> None:
    """Keep a result for the runs to come, but one that may be another the next time."""
    if not result.get("passing"):
        folder.keep(job.digest, result | {"upload": _upload(job)})


def _upload(job: Job) -> str:
    """A name for what was handed in and the cases it is judged by, which stays when the course changes."""
    parts = [job.student, job.name, job.text, job.settings.seed, job.settings.whole]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:DIGITS]


def write_class(
    this_class: Class,
    work: Work,
    results: list[tuple[Handed, dict]],
    forms: list[Form],
    folder: Folder,
    gradebooks: Iterable[Gradebook] = (),
) -> list[str]:
    """Write pages, feedback, the table and what was set aside; sentences on what the instructor should know.

    Args:
        gradebooks: the platforms' tables that are to be filled as well.

    Raises:
        Unreadable: nothing at all was collected, and an earlier run's grades are there.
    """
    if not results and (folder.path / TABLE).exists():
        why = f" The first of what was found is {work.aside[0].place}: {work.aside[0].reason}" if work.aside else ""
        raise Unreadable(
            f"No notebook of anybody was found, so that the grades in {folder.path} stay as they are.{why}"
        )
    lines = {student.id: Line(student.id) for student in this_class.roster.students}
    for handed, result in results:
        line = lines.setdefault(handed.student, Line(handed.student))
        line.results[result["notebook"]] = result
    for student in work.late:
        lines[student].remarks.append("Late.")
    _set_lateness(this_class, lines, work)
    for aside in work.aside:
        line = lines.setdefault(aside.student, Line(aside.student)) if aside.student else None
        if line is not None:
            line.unread = True
        if line is not None and aside.remark not in line.remarks:
            line.remarks.append(aside.remark)
    for student in work.missing:
        lines[student].remarks.append(work.absence)
        lines[student].unread = work.absence != ABSENT
    # A form carries the name that its page showed, which need not be the student's.
    by_shown = {this_class.shown(student): student for student in lines}
    owned = [_owned(form, by_shown) for form in forms]
    strangers = add_forms(lines.values(), owned)
    if this_class.anonymous:
        rows = [["shown as", "student"], *([shown, student] for shown, student in sorted(by_shown.items()))]
        folder.write_table("names.csv", _csv(rows))
    not_graded = [[aside.place, aside.reason] for aside in work.aside]
    not_graded += [[handed.place, result["ungraded"]] for handed, result in results if result["ungraded"]]
    folder.write_table("not-graded.csv", _csv([["file", "reason"], *not_graded]))
    kept = write(folder, list(lines.values()))
    _write_feedback(this_class, lines.values(), work, folder, kept)
    _write_pages(this_class, sorted(lines.values(), key=lambda line: this_class.shown(line.student)), work, folder)
    folder.write(STATISTICS, statistics_page(lines.values()))
    unknown = [
        f"{form.path}: {form.student or 'nobody'} is not in this class. It was not counted." for form in strangers
    ]
    unclear = [line.student for line in lines.values() if line.lateness and line.lateness.days is None]
    if unclear:
        said = (
            "late, and the platform does not say by how many days. Write it into the roster, in a column `days late`."
        )
        unknown.append(f"{', '.join(unclear)}: {said}")
    filled_in = _write_gradebooks(this_class, lines.values(), folder, kept, gradebooks)
    return [*unknown, *_beyond(lines.values()), *filled_in]


def _beyond(lines: Iterable[Line]) -> list[str]:
    """A sentence on each field of a form that holds impossible points."""
    return [
        f"{form.path}: {said}. Mend it on the page: it was not counted."
        for line in lines
        for notebook, form in line.forms.items()
        for said in (
            refused(line.results[notebook]["items"], form)
            if notebook in line.results
            else [f"no {notebook} of {line.student} was graded"]
        )
    ]


def write_similar(this_class: Class, work: Work, folder: Folder, threshold: float = THRESHOLD) -> int:
    """Write the page of similar notebooks, for the instructor alone; how many pairs there are."""
    groups = []
    for sheet in this_class.sheets:
        together: dict[str, list[Job]] = {}  # a group hands in once
        for handed, job in work.jobs.values():
            if job.sheet is sheet:
                together.setdefault(handed.place, []).append(job)
        texts = [_text_of(", ".join(job.student for job in jobs), jobs[0].text) for jobs in together.values()]
        known = [text_of("", sheet.handed_out), text_of("", sheet.worked)]
        if texts:
            groups.append((sheet.name, pairs(texts, known, threshold)))
    folder.write("similar.html", template("similar.html.j2").render(groups=groups, threshold=threshold))
    return sum(len(found) for _, found in groups)


def _text_of(students: str, text: str) -> Text:
    """A notebook as it is compared; an empty one where it cannot be read within the limits, which grading says too."""
    try:
        return apart(text_in, students, text)
    except TooMuch:
        return Text(students, (), {})


def _set_lateness(this_class: Class, lines: dict[str, Line], work: Work) -> None:
    """Put to every student's line how late the latest of the notebooks is."""
    days: dict[str, int] = {}
    for handed, _ in work.jobs.values():
        if handed.days_late is not None:
            days[handed.student] = max(handed.days_late, days.get(handed.student, 0))
    for student, line in lines.items():
        line.lateness = this_class.lateness(student, days.get(student), student in work.late)


def _write_gradebooks(
    this_class: Class,
    lines: Iterable[Line],
    folder: Folder,
    kept: dict[str, tuple[str, str, str]],
    gradebooks: Iterable[Gradebook],
) -> list[str]:
    """Write the platforms' tables with the points in them; sentences on what the instructor should know."""
    said = []
    for gradebook in gradebooks:
        points: dict[str, dict[str, float]] = {}
        for wanted in gradebook.wanted:
            given = {line.student: line.points(wanted.notebook, kept.get(line.student, ("",))[0]) for line in lines}
            points[wanted.notebook] = {student: some for student, some in given.items() if some is not None}
        text, remarks = filled(gradebook, points, this_class.roster)
        folder.write(f"{GRADEBOOKS}/{gradebook.path.name}", text)
        if gradebook.platform is GRADESCOPE:
            addresses = by_address(gradebook, points[gradebook.wanted[0].notebook], this_class.roster)
            folder.write(f"{GRADEBOOKS}/{gradebook.path.stem}.zip", handing_back(addresses))
        said += remarks
    waiting = sum(line.waits for line in lines)
    if waiting and gradebooks:
        said.append(f"Of {waiting} students answers wait to be judged: the gradebook has a part of their points.")
    return said


def _write_feedback(
    this_class: Class, lines: Iterable[Line], work: Work, folder: Folder, kept: dict[str, tuple[str, str, str]]
) -> None:
    """Write a page for each student, and a zip of them as a platform takes it back. kept: the corrections by student."""
    places = {handed.student: handed.back for handed, _ in work.jobs.values() if handed.back}
    packed = io.BytesIO()
    written = set()
    for line in lines:
        shown = this_class.shown(line.student)
        text = feedback(line, shown, kept.get(line.student, ("",))[0])
        written.add(folder.write(f"feedback/{file_name(shown)}.html", text))
        if line.student in places:
            with zipfile.ZipFile(packed, "a", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr(places[line.student], text)
    _remove_others(folder, "feedback", written)
    if places:
        folder.write(TO_PLATFORM, packed.getvalue())


def _write_pages(this_class: Class, lines: list[Line], work: Work, folder: Folder) -> None:
    """Write the instructor's pages: of each notebook, of each question, and the index of all."""
    rows = []
    texts = {}
    without = []
    for line in lines:
        shown = this_class.shown(line.student)
        remarks = " ".join(line.remarks)
        if not line.results:
            without.append((shown, remarks))
        for notebook, result in line.results.items():
            page = f"pages/{file_name(shown)}/{file_name(Path(notebook).stem)}.html" if result["page"] else ""
            rows.append(row(shown, page, result, line.items(notebook), remarks))
            texts[page] = result["page"]
    asked = questions(_submitted(this_class, lines, work, {(one.student, one.notebook): one.page for one in rows}))
    secret = folder.secret()
    written = {folder.write(INDEX, index(rows, without, asked, secret, this_class.rules))}
    for one, before, after in ways(rows):
        written.add(folder.write(one.page, with_neighbours(texts[one.page], one, before, after, secret)))
    for question, before, after in zip(asked, [None, *asked[:-1]], [*asked[1:], None]):
        written.add(folder.write(f"{QUESTIONS}/{question.link}", question_page(question, before, after, secret)))
    _remove_others(folder, "pages", written)
    _remove_others(folder, QUESTIONS, written)


def _submitted(
    this_class: Class, lines: Iterable[Line], work: Work, pages: dict[tuple[str, str], str]
) -> Iterator[Submitted]:
    """The graded notebooks with what stands in them. pages: their addresses, by whose they are and by their names."""
    jobs = {(handed.student, job.sheet.name): job for handed, job in work.jobs.values()}
    for line in lines:
        for notebook, result in line.results.items():
            if result["ungraded"]:
                continue
            job = jobs[line.student, notebook]
            page = pages[this_class.shown(line.student), notebook]
            form = line.forms.get(notebook)
            yield Submitted(this_class.shown(line.student), job.sheet, job.text, result, form, page)


def _remove_others(folder: Folder, name: str, written: set[Path]) -> None:
    """Delete the pages of an earlier run that are not among those of this one, such as pages with names."""
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
