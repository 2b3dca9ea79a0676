"""Pieces of the site that are made from the course's own files: the gallery of notebooks, "Watch it learn".

A page asks for one by an empty block with its name, `::: {#gallery}` ... `:::`; what stands between is for readers of the
source. The built-in site puts the piece there, and `site/pieces.lua` does the same for Quarto, from a file that
`checker site` writes.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from checker.claims import header_of
from checker.files import write_beside
from checker.layout import title_of
from checker.notebook import Notebook, Unreadable, read
from checker.pages import cells
from checker.pages.builtin import picture_of
from checker.pages.templates import HERE, template
from checker.results import rewards

BLOCK = re.compile(r"^::: \{#(gallery|watch)\}[ \t]*\n.*?^:::[ \t]*$", re.DOTALL | re.MULTILINE)
RECORD = Path("benchmarks") / "watch.json"
FOR_QUARTO = Path("build") / "pieces"  # read by site/pieces.lua
SCRIPTS = {"watch": "watch.js"}
STILL = 3  # the look that is shown first: right and wrong answers stand side by side


@dataclass(frozen=True)
class Card:
    """What the gallery says of a notebook, all of it from the notebook: its header, its pictures, its Cell 7.

    needs: titles of the notebooks to read before.    reaches: reward before and after, None where Cell 7 shows none.
    """

    link: str
    title: str
    description: str = ""
    minutes: str = ""
    level: str = ""
    needs: list[str] = field(default_factory=list)
    goals: list[str] = field(default_factory=list)
    reaches: tuple[float, float] | None = None
    picture: str = ""
    alternative: str = ""


def marked(source: str) -> str:
    """Markdown of a page, with a mark for each piece that it asks for."""
    return BLOCK.sub(lambda block: f"\n{_mark(block[1])}\n", source)


def asked_for(html: str) -> list[str]:
    """The names of the pieces whose marks a page has."""
    return [name for name in MAKERS if _mark(name) in html]


def filled(html: str, project: Path, sources: list[Path]) -> str:
    """A page with the pieces in the places of their marks."""
    for name in asked_for(html):
        html = html.replace(f"<p>{_mark(name)}</p>", piece(name, project, sources))
    return html


def _mark(name: str) -> str:
    return f"[[{name}]]"


def piece(name: str, project: Path, sources: list[Path]) -> str:
    """A piece as HTML with its style, without its script. `sources` are the site's pages in reading order."""
    return MAKERS[name](project, sources)


def write_for_quarto(project: Path, sources: list[Path]) -> None:
    """Write every piece, with its script, where Quarto's filter looks for it."""
    for name in MAKERS:
        text = piece(name, project, sources)
        if name in SCRIPTS:
            text += f"<script>{(HERE / SCRIPTS[name]).read_text(encoding='utf-8')}</script>\n"
        write_beside(project / FOR_QUARTO / f"{name}.html", text)


def gallery(project: Path, sources: list[Path]) -> str:
    """The notebooks in reading order."""
    notebooks = {source: read(project / source) for source in sources if source.suffix == ".ipynb"}
    titles = {source.stem: title_of(notebook) for source, notebook in notebooks.items()}
    cards = [card(source, notebook, titles) for source, notebook in notebooks.items()]
    return template("gallery.html.j2").render(cards=cards, css=_css("gallery.css"))


def card(source: Path, notebook: Notebook, titles: dict[str, str]) -> Card:
    """The card of one notebook. What its header does not say is left out.

    titles: of all notebooks, by the names under which `builds-on` lists them.
    """
    header = header_of(notebook)
    course = header.get("course")
    course = course if isinstance(course, dict) else {}
    before, after = rewards(notebook)
    picture, alternative = _last_picture(notebook)
    return Card(
        link=source.with_suffix(".html").as_posix(),
        title=title_of(notebook),
        description=_text(header.get("description")),
        minutes=_text(course.get("minutes")),
        level=_text(course.get("level")),
        needs=[titles.get(name, name) for name in _texts(course.get("builds-on"))],
        goals=_texts(course.get("goals")),
        reaches=None if before is None or after is None else (before, after),
        picture=picture,
        alternative=alternative,
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _last_picture(notebook: Notebook) -> tuple[str, str]:
    """The last picture, which shows what came of it, as a `data:` address, and its text; "" twice without one."""
    found = ("", "")
    for cell in notebook.code_cells:
        pictures = [picture for picture in map(picture_of, cell.outputs) if picture]
        if pictures:
            found = (pictures[-1], cells.alternative(cell, len(pictures) - 1))
    return found


def watch(project: Path, sources: list[Path]) -> str:
    """The recorded run, to be looked at step by step; without scripts it shows one step."""
    try:
        text = (project / RECORD).read_text(encoding="utf-8")
        record = json.loads(text)
    except (OSError, ValueError) as error:
        raise Unreadable(f"{RECORD} cannot be read ({error}). `python -m benchmarks.watch` makes it again.") from error
    data = text.replace("<", "\\u003c")  # nothing in it ends the element that holds it
    return template("watch.html.j2").render(record=record, data=data, first=STILL, css=_css("watch.css"))


def _css(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


MAKERS: dict[str, Callable[[Path, list[Path]], str]] = {"gallery": gallery, "watch": watch}
