"""The exercises for which a person gives points on the form of a page: written answers, and those without a check."""

from collections.abc import Iterable
from dataclasses import dataclass
from textwrap import dedent

from checker.points.items import Item, items_of
from checker.reading.exercises import Exercise, exercises
from checker.reading.notebook import Notebook
from checker.reading.text import LONGEST, quoted

MOST_POINTS = 100  # of an exercise; more is a slip, or somebody's joke


@dataclass(frozen=True)
class Field:
    """One field of the form.

    name: under which its points are saved.    points: what it is worth.    section: where it stands.
    cell: the number of its cell, None where the notebook has it no more.    filled_in: what the student put there.
    written: whether that is words, and no code.    wording: the question in full, "" for code.
    """

    name: str
    points: float
    section: str
    cell: int | None = None
    filled_in: str = ""
    written: bool = False
    wording: str = ""

    @property
    def anchor(self) -> str:
        """Its cell on the student's page; "" where there is none."""
        return "" if self.cell is None else f"cell-{self.cell}"

    @property
    def answer(self) -> str:
        """The student's answer, as plain text."""
        return quoted(self.filled_in) if self.written else dedent(self.filled_in)[:LONGEST]


def without_a_check(notebook: Notebook, content: dict) -> list[Item]:
    """The exercises that no check of the notebook itself is about, and that are worth something."""
    return [item for item in items_of(notebook, content) if not item.checks and 0 < item.points <= MOST_POINTS]


def fields(items: Iterable[Item], content: dict) -> list[Field]:
    """The fields for these exercises, whose answers stand in a notebook's JSON: it may lack ids, or an exercise."""
    there = [(number, exercise) for number, cell in enumerate(content["cells"]) for exercise in exercises([cell])]
    return [_field(item, there) for item in items]


def _field(item: Item, there: list[tuple[int, Exercise]]) -> Field:
    same_place = [pair for pair in there if pair[1].key == item.key]
    same_question = [pair for pair in there if pair[1].what == item.wanted]
    number, exercise = next(iter([*same_place, *same_question]), (None, None))
    if exercise is None:
        return Field(item.field, item.points, item.section)
    filled_in = exercise.filled_in
    return Field(item.field, item.points, item.section, number, filled_in, exercise.written, exercise.wording)
