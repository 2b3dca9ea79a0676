"""A graded class, written down: the table, pages for the instructor and for students, the platforms' gradebooks."""

import csv
import io
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from checker.grading.classes import Class
from checker.grading.collect.apart import TooMuch, apart
from checker.grading.collect.similarity import THRESHOLD, Text, pairs, text_in, text_of
from checker.grading.judge.one_notebook import Job
from checker.grading.lines import give, lines_of, unclear
from checker.grading.results import Graded
from checker.grading.table.class_folder import Folder, file_name
from checker.grading.table.class_statistics import PAGE as STATISTICS
from checker.grading.table.class_statistics import page as statistics_page
from checker.grading.table.feedback import feedback
from checker.grading.table.gradebooks import FOLDER as GRADEBOOKS
from checker.grading.table.gradebooks import GRADESCOPE, Gradebook, by_address, filled
from checker.grading.table.grades import TABLE, Corrections, write
from checker.grading.table.gradescope import handing_back
from checker.grading.table.judging import QUESTIONS, Submitted, questions
from checker.grading.table.judging import page as question_page
from checker.grading.table.overview import INDEX, index, row, ways, with_neighbours
from checker.grading.table.students import Line
from checker.grading.work import ClassWork
from checker.pages.templates import template
from checker.points.forms import Form
from checker.points.rubric import for_a_cell
from checker.reading.notebook import Unreadable

TO_PLATFORM = "feedback.zip"


def write_class(
    this_class: Class,
    work: ClassWork,
    results: list[Graded],
    forms: list[Form],
    folder: Folder,
    gradebooks: Iterable[Gradebook] = (),
) -> list[str]:
    """Write pages, feedback, the table and what was not graded; sentences on what the instructor should know.

    Args:
        gradebooks: the platforms' tables that are to be filled as well.

    """
    by_student = lines_of(this_class, work, results)
    remarks = give(this_class, by_student, forms)
    lines = sorted(by_student.values(), key=lambda line: this_class.pseudonym_of(line.student))
    _write_lists(this_class, lines, work, results, folder)
    corrections = write(folder, lines)
    _write_feedback(this_class, lines, work, folder, corrections)
    _write_pages(this_class, lines, work, folder)
    folder.write(STATISTICS, statistics_page(lines))
    return [*remarks, *unclear(lines), *_write_gradebooks(this_class, lines, folder, corrections, gradebooks)]


def refuse_an_empty_class(work: ClassWork, folder: Folder) -> None:
    """Raises Unreadable where nothing at all was collected, and an earlier run's grades are there."""
    if not work.jobs and (folder.path / TABLE).exists():
        first = next(iter(work.ungraded), None)
        why = f" The first of what was found is {first.place}: {first.reason}" if first else ""
        raise Unreadable(
            f"No notebook of anybody was found, so that the grades in {folder.path} stay as they are.{why}"
        )


def _write_lists(
    this_class: Class, lines: Iterable[Line], work: ClassWork, results: Iterable[Graded], folder: Folder
) -> None:
    """Write what was not graded, and who is who where pages go without names."""
    not_graded = [[one.place, one.reason] for one in work.ungraded]
    not_graded += [[one.submission.place, one.result["ungraded"]] for one in results if one.result["ungraded"]]
    folder.write_table("not-graded.csv", _csv([["file", "reason"], *not_graded]))
    if this_class.rules.anonymous:
        names = [[this_class.pseudonym_of(line.student), line.student] for line in lines]
        folder.write_table("names.csv", _csv([["shown as", "student"], *names]))


def write_similar(this_class: Class, work: ClassWork, folder: Folder, threshold: float = THRESHOLD) -> int:
    """Write the page of similar notebooks, for the instructor alone; how many pairs there are."""
    groups = []
    for worked in this_class.worked_notebooks:
        together: dict[str, list[Job]] = {}  # a group hands in once
        for submission, job in work.jobs:
            if job.worked_notebook is worked:
                together.setdefault(submission.place, []).append(job)
        texts = [_text_of(", ".join(job.student for job in jobs), jobs[0]) for jobs in together.values()]
        known = [text_of("", worked.handed_out), text_of("", worked.content)]
        if texts:
            groups.append((worked.name, pairs(texts, known, threshold)))
    folder.write("similar.html", template("similar.html.j2").render(groups=groups, threshold=threshold))
    return sum(len(found) for _, found in groups)


def _text_of(students: str, job: Job) -> Text:
    """A notebook as it is compared; an empty one where it cannot be read within the limits, which grading says too."""
    try:
        return apart(text_in, students, job.text, job.modules)
    except TooMuch:
        return Text(students, (), {})


def _write_gradebooks(
    this_class: Class, lines: list[Line], folder: Folder, corrections: Corrections, gradebooks: Iterable[Gradebook]
) -> list[str]:
    """Write the platforms' tables with the points in them; sentences on what the instructor should know."""
    said = []
    for gradebook in gradebooks:
        points: dict[str, dict[str, float]] = {}
        for wanted in gradebook.wanted:
            given = {
                line.student: line.points(wanted.notebook, corrections.get(line.student, ("",))[0]) for line in lines
            }
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
    this_class: Class, lines: Iterable[Line], work: ClassWork, folder: Folder, corrections: Corrections
) -> None:
    """Write a page for each student, and a zip of them as a platform takes it back. corrections: by student."""
    places = {submission.student: submission.back for submission, _ in work.jobs if submission.back}
    packed = io.BytesIO()
    written = set()
    for line in lines:
        shown = this_class.pseudonym_of(line.student)
        text = feedback(line, shown, corrections.get(line.student, ("",))[0])
        written.add(folder.write(f"feedback/{file_name(shown)}.html", text))
        if line.student in places:
            with zipfile.ZipFile(packed, "a", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr(places[line.student], text)
    _remove_others(folder, "feedback", written)
    (folder.path / TO_PLATFORM).unlink(missing_ok=True)
    if places:
        folder.write(TO_PLATFORM, packed.getvalue())


def _write_pages(this_class: Class, lines: list[Line], work: ClassWork, folder: Folder) -> None:
    """Write the instructor's pages: of each notebook, of each question, and the index of all."""
    rows = []
    texts = {}
    without = []
    for line in lines:
        shown = this_class.pseudonym_of(line.student)
        remarks = " ".join(line.remarks)
        if not line.results:
            without.append((shown, remarks))
        for notebook, result in line.results.items():
            page = f"pages/{file_name(shown)}/{file_name(Path(notebook).stem)}.html" if result["page"] else ""
            rows.append(row(shown, page, result, line.items(notebook), remarks))
            texts[page] = result["page"]
    asked = questions(_submitted(this_class, lines, work, {(one.student, one.notebook): one.page for one in rows}))
    secret = folder.secret()
    written = {folder.write(INDEX, index(rows, without, asked, secret, str(this_class.rules)))}
    for one, before, after in ways(rows):
        written.add(folder.write(one.page, with_neighbours(texts[one.page], one, before, after, secret)))
    for question, before, after in zip(asked, [None, *asked[:-1]], [*asked[1:], None]):
        written.add(folder.write(f"{QUESTIONS}/{question.link}", question_page(question, before, after, secret)))
    _remove_others(folder, "pages", written)
    _remove_others(folder, QUESTIONS, written)


def _submitted(
    this_class: Class, lines: Iterable[Line], work: ClassWork, pages: dict[tuple[str, str], str]
) -> Iterator[Submitted]:
    """The graded notebooks with what stands in them. pages: their addresses, by whose they are and by their names."""
    jobs = {(submission.student, job.notebook): job for submission, job in work.jobs}
    for line in lines:
        for notebook, result in line.results.items():
            if result["ungraded"]:
                continue
            job = jobs[line.student, notebook]
            page = pages[this_class.pseudonym_of(line.student), notebook]
            form = line.forms.get(notebook)
            yield Submitted(this_class.pseudonym_of(line.student), job.worked_notebook, job.text, result, form, page)


def _remove_others(folder: Folder, name: str, written: set[Path]) -> None:
    """Delete the pages of an earlier run that are not among those of this one, such as pages with names."""
    for page in (folder.path / name).rglob("*.html"):
        if page not in written:
            page.unlink()


def _csv(rows: Iterable[list[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([[for_a_cell(cell) for cell in row] for row in rows])
    return out.getvalue()
