"""The page that a student gets: points, verdicts, what to mend. It holds nothing of anybody else."""

from checker.grading.table.students import Line, number
from checker.pages.templates import css, template
from checker.points.totals import sections, shown, summed
from checker.rules.findings import sentence


def feedback(line: Line, name: str, correction: str = "") -> str:
    """The page of one student, under the name that pages go by. correction: as the table has it."""
    return template("feedback.html.j2").render(
        student=name,
        line=line,
        remarks=line.remarks,
        results=[line.results[name] for name in sorted(line.results)],
        whole=_whole(line, correction) if line.results else "",
        sections=sections,
        summed=summed,
        css=css(),
        shown=shown,
        sentence=sentence,
    )


def _whole(line: Line, correction: str) -> str:
    """The total of the table, and what it is made of."""
    if line.ungraded:
        return "No total yet: what could not be graded, by no fault of yours, is tried again."
    if line.unread and not correction:
        return "No total yet: not all that you handed in could be graded."
    parts = [f"{shown(line.earned)} by checks"]
    if line.forms:
        parts += [f"{shown(line.by_hand)} by hand", f"{shown(sum(line.rubric.values()))} by the rubric"]
    if line.late:
        parts.append(f"{shown(line.late)} for being {line.lateness}")
    if correction:
        parts.append(f"{shown(number(correction))} by correction")
    return f"{shown(line.total(correction))} points in all: {', '.join(parts)}."
