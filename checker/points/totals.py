"""The sums of points, by section and in all: one place, so that table, feedback and Gradescope say the same numbers.

An exercise is earned by checks, or given by a person on the form of the student's page; until then its points wait.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from checker.points.forms import Form
from checker.points.rubric import load


@dataclass(frozen=True)
class Sum:
    """The points of some exercises. possible: with those that wait; waiting: those that a person has still to give."""

    earned: float = 0.0
    possible: float = 0.0
    waiting: float = 0.0

    def __str__(self) -> str:
        """ "17 of 19 points", and what is still to be given."""
        said = f"{shown(self.earned)} of {shown(self.possible)} points"
        return f"{said}, {shown(self.waiting)} of them still to be given" if self.waiting else said


def summed(items: Iterable[dict]) -> Sum:
    """The sum of a result's exercises."""
    items = list(items)
    return Sum(
        sum(item["earned"] for item in items if item["earned"] is not None),
        sum(item["points"] for item in items),
        sum(item["points"] for item in items if item["earned"] is None),
    )


def sections(items: Iterable[dict]) -> dict[str, list[dict]]:
    """The exercises by the section they stand in, both in the notebook's order."""
    found: dict[str, list[dict]] = {}
    for item in items:
        found.setdefault(item["section"], []).append(item)
    return found


def with_given(items: Iterable[dict], form: Form | None) -> list[dict]:
    """The exercises with the points that a person gave on the form in the place of those that no check gives."""
    return [item if form is None else _given(item, form) for item in items]


def refused(items: Iterable[dict], form: Form) -> list[str]:
    """The fields of a form that hold points that they cannot have, or that no page has: they do not count."""
    items = list(items)
    asked = {item["field"]: item["points"] for item in items if item["earned"] is None}
    scores = {name: form.scores.get(name) for name in asked}
    beyond = [
        f"{name} is worth {shown(asked[name])} and has {shown(score)} points"
        for name, score in scores.items()
        if score is not None and not counts(score, asked[name])
    ]
    return beyond + [
        f"{name} is given {min(_levels()[name])} to {max(_levels()[name])} and has {shown(score)} points"
        if name in _levels()
        else f"{name!r} is no field of a form, and has {shown(score)} points"
        for name, score in _of_no_exercise(items, form).items()
        if not _is_level(name, score)
    ]


def counts(score: float | None, points: float) -> bool:
    """True for a score that was given and that an exercise of so many points can have."""
    return score is not None and 0 <= score <= points


def by_rubric(items: Iterable[dict], form: Form) -> dict[str, float]:
    """The scores of a form that the rubric has, by its criteria."""
    return {name: score for name, score in _of_no_exercise(items, form).items() if _is_level(name, score)}


def _of_no_exercise(items: Iterable[dict], form: Form) -> dict[str, float]:
    fields = {item["field"] for item in items}
    return {name: score for name, score in form.scores.items() if score is not None and name not in fields}


def _is_level(name: str, score: float) -> bool:
    """True if the rubric has a criterion of this name, and for it points as these."""
    levels = _levels().get(name, ())
    return bool(levels) and min(levels) <= score <= max(levels)


@cache
def _levels() -> dict[str, tuple[int, ...]]:
    """The levels of the rubric by its criteria."""
    return {criterion.name: tuple(criterion.levels) for criterion in load()}


def shown(number: float) -> str:
    """Points as people write them: 3, 2.5."""
    return f"{number:.2f}".rstrip("0").rstrip(".")


def _given(item: dict, form: Form) -> dict:
    if item["earned"] is not None:
        return item
    score = form.scores.get(item["field"])
    comment = form.comments.get(item["field"], "")
    if not counts(score, item["points"]):
        return item | {"verdict": comment or item["verdict"]}
    return item | {"earned": score, "by_hand": True, "verdict": comment or "given by the instructor"}
