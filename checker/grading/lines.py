"""The lines of a class's table: of each student results, points given by hand, late days and remarks."""

from collections.abc import Iterable
from dataclasses import replace

from checker.grading.classes import Class
from checker.grading.results import Graded
from checker.grading.table.lateness import lateness_of
from checker.grading.table.students import Line, add_forms
from checker.grading.work import ClassWork
from checker.points.forms import Form
from checker.points.totals import refused


def lines_of(this_class: Class, work: ClassWork, results: Iterable[Graded]) -> dict[str, Line]:
    """The lines of all students: those of the roster first, then whoever else handed something in."""
    lines = {student.id: Line(student.id) for student in this_class.roster.students}
    for one in results:
        line = lines.setdefault(one.submission.student, Line(one.submission.student))
        line.results[one.result["notebook"]] = one.result
    for student in work.late:
        lines[student].remarks.append("Late.")
    days = days_late(work)
    for student, line in lines.items():
        late = student in work.late
        line.lateness = lateness_of(student, days.get(student), late, this_class.rules.late, this_class.roster)
    for one in work.ungraded:
        if not one.student:
            continue
        line = lines.setdefault(one.student, Line(one.student))
        line.unread = True
        if one.remark not in line.remarks:
            line.remarks.append(one.remark)
    for student in work.missing:
        lines[student].remarks.append(work.absence)
        lines[student].unread = work.has_unclaimed
    return lines


def days_late(work: ClassWork) -> dict[str, int]:
    """The late days of each student by the platform, where it counts them: those of the latest of several notebooks."""
    days: dict[str, int] = {}
    for submission, _ in work.jobs:
        if submission.days_late is not None:
            days[submission.student] = max(submission.days_late, days.get(submission.student, 0))
    return days


def give(this_class: Class, lines: dict[str, Line], forms: Iterable[Form]) -> list[str]:
    """Give the students the points of forms; sentences on those that are nobody's, and on points that cannot be."""
    # A form carries the name that its page showed, which need not be the student's.
    by_shown = {this_class.pseudonym_of(student): student for student in lines}
    owned = [replace(form, student=by_shown.get(form.student, form.student)) for form in forms]
    strangers = add_forms(lines.values(), owned)
    said = [f"{form.path}: {form.student or 'nobody'} is not in this class. It was not counted." for form in strangers]
    for line in lines.values():
        for notebook, form in line.forms.items():
            wrong = [f"no {notebook} of {line.student} was graded"]
            if notebook in line.results:
                wrong = refused(line.results[notebook]["items"], form)
            said += [f"{form.path}: {one}. Mend it on the page: it was not counted." for one in wrong]
    return said


def unclear(lines: Iterable[Line]) -> list[str]:
    """A sentence on the students who are late by an unknown number of days, if there are any."""
    students = [line.student for line in lines if line.lateness and line.lateness.days is None]
    said = "late, and the platform does not say by how many days. Write it into the roster, in a column `days late`."
    return [f"{', '.join(students)}: {said}"] if students else []
