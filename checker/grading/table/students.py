"""A student's results, filled forms and remarks, and their sum."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from checker.grading.table.lateness import Lateness
from checker.points.forms import Form
from checker.points.totals import by_rubric, summed, with_given


@dataclass
class Line:
    """All that is known of one student: results and filled forms, each by notebook; remarks such as "missing".

    unread: whether something was handed in that was not graded, so that the total is a person's to say.
    lateness: by the class's rule for late days, None without one.
    """

    student: str
    results: dict[str, dict] = field(default_factory=dict)
    forms: dict[str, Form] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    unread: bool = False
    lateness: Lateness | None = None

    def items(self, notebook: str) -> list[dict]:
        """A notebook's exercises, with the points that a person gave."""
        return with_given(self._of_checks(notebook), self.forms.get(notebook))

    def criteria(self, notebook: str) -> dict[str, float]:
        """The rubric's scores of a notebook by their criteria."""
        form = self.forms.get(notebook)
        return by_rubric(self._of_checks(notebook), form) if form else {}

    @property
    def earned(self) -> float:
        """The points that checks give."""
        return sum(result["earned"] for result in self.results.values())

    @property
    def ungraded(self) -> bool:
        """True if grading failed for one of the notebooks, so that no sum is known."""
        return any(result.get("ungraded") for result in self.results.values())

    @property
    def by_hand(self) -> float:
        """The points that a person gives, for exercises without a check."""
        given = [item for notebook in self.results for item in self.items(notebook) if item.get("by_hand")]
        return summed(given).earned

    @property
    def rubric(self) -> dict[str, float]:
        """The points by the rubric's criteria, of each graded notebook with a form."""
        return {notebook: sum(self.criteria(notebook).values()) for notebook in self.forms if notebook in self.results}

    @property
    def waits(self) -> bool:
        """True if a person has still to give points."""
        return any(summed(self.items(notebook)).waiting for notebook in self.results)

    @property
    def late(self) -> float:
        """The points that late days take off, as a negative number."""
        return -self.lateness.taken(self._given) if self.lateness else 0.0

    def total(self, correction: str) -> float:
        """All of it, with what late days take off and the instructor's correction."""
        return self._given + self.late + number(correction)

    @property
    def _given(self) -> float:
        return self.earned + self.by_hand + sum(self.rubric.values())

    def points(self, notebook: str, correction: str) -> float | None:
        """The points for a platform's gradebook: of one notebook with its part of what late days take off, or with "" the total.

        None where nothing of it was handed in, or not all could be graded: then it is a person's to say.
        """
        if notebook:
            result = self.results.get(notebook)
            if result is None or result.get("ungraded"):
                return None
            part = summed(self.items(notebook)).earned + sum(self.criteria(notebook).values())
            return round(part + self.late * part / self._given, 2) if self._given else part
        if not self.results or self.ungraded or (self.unread and not correction):
            return None
        return self.total(correction)

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
