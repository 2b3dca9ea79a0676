"""What a person gives points for, on the form at the end of a page: written answers, and exercises without a check."""

from collections.abc import Iterable
from dataclasses import dataclass
from textwrap import dedent

from checker import points
from checker.grading.items import Item, items_of
from checker.notebook import Notebook
from checker.quoting import LONGEST, quoted

MOST_POINTS = 100  # of an exercise; more is a slip, or somebody's joke


@dataclass(frozen=True)
class Field:
    """One field of the form.

    name: under which its points are saved.    points: what it is worth.    section: where it stands.
    anchor: its cell on the page, "" where the notebook has it no more.    answer: what the student put there.
    written: whether that is words, and no code.
    """

    name: str
    points: float
    section: str
    anchor: str
    answer: str
    written: bool


def without_a_check(notebook: Notebook, content: dict) -> list[Item]:
    """The exercises that no check of the notebook itself is about, and that are worth something."""
    return [item for item in items_of(notebook, content) if not item.checks and 0 < item.points <= MOST_POINTS]


def fields(items: Iterable[Item], content: dict) -> list[Field]:
    """The fields for these exercises, whose answers stand in a notebook's JSON: it may lack ids, or an exercise."""
    there = [
        (number, exercise) for number, cell in enumerate(content["cells"]) for exercise in points.exercises([cell])
    ]
    return [_field(item, there) for item in items]


def _field(item: Item, there: list[tuple[int, points.Exercise]]) -> Field:
    same_place = [pair for pair in there if pair[1].key == item.key]
    same_question = [pair for pair in there if pair[1].what == item.wanted]
    number, exercise = next(iter([*same_place, *same_question]), (None, None))
    if exercise is None:
        return Field(item.field, item.points, item.section, "", "", False)
    answer = quoted(exercise.filled_in) if exercise.written else dedent(exercise.filled_in)[:LONGEST]
    return Field(item.field, item.points, item.section, f"cell-{number}", answer, exercise.written)
