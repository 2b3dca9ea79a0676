"""What a student has: results, filled forms, remarks, and what all of it comes to."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from checker.forms import Form
from checker.grading.sums import by_rubric, summed, with_given


@dataclass
class Line:
    """What is known of one student: results and filled forms, each by notebook; remarks such as "missing"."""

    student: str
    results: dict[str, dict] = field(default_factory=dict)
    forms: dict[str, Form] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def items(self, notebook: str) -> list[dict]:
        """A notebook's exercises, with the points that a person gave."""
        return with_given(self._of_checks(notebook), self.forms.get(notebook))

    def criteria(self, notebook: str) -> dict[str, float]:
        """The rubric's scores of a notebook by their criteria."""
        form = self.forms.get(notebook)
        return by_rubric(self._of_checks(notebook), form) if form else {}

    @property
    def earned(self) -> float:
        """By checks."""
        return sum(result["earned"] for result in self.results.values())

    @property
    def ungraded(self) -> bool:
        """Whether grading failed for one of the notebooks, so that no sum is known."""
        return any(result.get("ungraded") for result in self.results.values())

    @property
    def by_hand(self) -> float:
        """By a person, for exercises that no check earns."""
        given = [item for notebook in self.results for item in self.items(notebook) if item.get("by_hand")]
        return summed(given).earned

    @property
    def rubric(self) -> dict[str, float]:
        """By the rubric's criteria, of each notebook with a form."""
        return {notebook: sum(self.criteria(notebook).values()) for notebook in self.forms}

    def total(self, correction: str) -> float:
        """All of it, with the instructor's correction."""
        return self.earned + self.by_hand + sum(self.rubric.values()) + number(correction)

    def _of_checks(self, notebook: str) -> list[dict]:
        return self.results.get(notebook, {"items": []})["items"]


def add_forms(lines: Iterable[Line], forms: Iterable[Form]) -> list[Form]:
    """Put the rubric's points to the students; the forms that belong to nobody here come back."""
    by_student = {line.student: line for line in lines}
    strangers = []
    for form in forms:
        line = by_student.get(form.student)
        if line is None:
            strangers.append(form)
        else:
            line.forms[form.notebook] = form
    return strangers


def number(text: str) -> float:
    """The points of a correction, with a comma or a point; 0 for none."""
    return float(text.replace(",", ".").removeprefix("'")) if text else 0.0
