"""The page that a student gets: points, verdicts, what to mend. It holds nothing of anybody else."""

from checker.findings import sentence
from checker.grading.tables import Line
from checker.pages.templates import css, template


def feedback(line: Line, name: str) -> str:
    """The page of one student, under the name that pages go by."""
    results = [line.results[name] for name in sorted(line.results)]
    return template("feedback.html.j2").render(
        student=name,
        results=results,
        rubric=line.rubric,
        remarks=line.remarks,
        css=css(),
        shown=shown,
        sentence=sentence,
    )


def shown(number: float) -> str:
    """Points as people write them: 3, 2.5."""
    return f"{number:.2f}".rstrip("0").rstrip(".")
