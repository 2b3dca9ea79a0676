"""The card of a notebook: its title, its picture and what its own header says of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from checker.outputs.claims import header_of, needs_of
from checker.pages import cells
from checker.pages.builtin import picture_of
from checker.reading.layout import sections, title_of
from checker.reading.notebook import Cell, Notebook


@dataclass(frozen=True)
class Card:
    """The gallery's card of a notebook, all of it from the notebook: its header and its pictures.

    minutes: to run it.    reading_minutes: as readers took.
    core_minutes, further_minutes: to write its code, the core's and what goes beyond it.
    answer_minutes: to write the answers of the core, as readers took.
    needs: titles of the notebooks to read before.    model: the one that a command has to fetch, "" for none.
    """

    link: str
    title: str
    description: str
    minutes: str
    reading_minutes: str
    core_minutes: str
    further_minutes: str
    answer_minutes: str
    level: str
    needs: list[str]
    model: str
    goals: list[str]
    picture: str
    alternative: str


def card(source: Path, notebook: Notebook, titles: dict[str, str]) -> Card:
    """The card of one notebook. What its header does not say is left out.

    titles: of all notebooks, by the names under which `builds-on` lists them.
    """
    header = header_of(notebook)
    course = header.get("course")
    course = course if isinstance(course, dict) else {}
    picture, alternative = _picture_of_result(notebook)
    return Card(
        link=source.with_suffix(".html").as_posix(),
        title=title_of(notebook),
        description=_text(header.get("description")),
        minutes=_text(course.get("minutes")),
        reading_minutes=_text(course.get("reading-minutes")),
        core_minutes=_text(course.get("core-minutes")),
        further_minutes=_text(course.get("further-minutes")),
        answer_minutes=_text(course.get("answer-minutes")),
        level=_text(course.get("level")),
        needs=[titles.get(name, name) for name in _texts(course.get("builds-on"))],
        model=needs_of(notebook),
        goals=_texts(course.get("goals")),
        picture=picture,
        alternative=alternative,
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _picture_of_result(notebook: Notebook) -> tuple[str, str]:
    """The first picture of Cell 7, which shows what came of it, else the notebook's last; "" twice without one.

    Returns:
        It as a `data:` address, and its text.
    """
    of_result = _pictures(sections(notebook).get(7, []))
    return of_result[0] if of_result else (_pictures(notebook.code_cells) or [("", "")])[-1]


def _pictures(some: Iterable[Cell]) -> list[tuple[str, str]]:
    """The pictures of cells, each with its text."""
    found = []
    for cell in some:
        pictures = [picture for picture in map(picture_of, cell.outputs) if picture]
        found += [(picture, cells.alternative(cell, number)) for number, picture in enumerate(pictures)]
    return found
