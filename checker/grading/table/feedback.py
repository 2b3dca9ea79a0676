"""The page that a student gets: points, verdicts, what to mend. It holds nothing of anybody else."""

from checker.findings import sentence
from checker.grading.lines import Line, number
from checker.grading.sums import sections, shown, summed
from checker.pages.templates import css, template


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
    parts = [f"{shown(line.earned)} by checks"]
    if line.forms:
        parts += [f"{shown(line.by_hand)} by hand", f"{shown(sum(line.rubric.values()))} by the rubric"]
    if correction:
        parts.append(f"{shown(number(correction))} by correction")
    return f"{shown(line.total(correction))} points in all: {', '.join(parts)}."
