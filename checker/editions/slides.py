"""Slides for a lecture out of worked notebooks: each question that a chapter asks before a result, then what came out.

Quarto's revealjs makes them from one file: `quarto render slides.qmd`; so does `pandoc -t revealjs -s slides.qmd`. Nothing is
written for slides alone: a question is the notebook's line **Guess.**, the answer its outputs and the paragraph below them.
"""

import base64
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from checker.pages.cells import alternative
from checker.reading.layout import title_of
from checker.reading.notebook import CHECK_RECORD, Cell, Notebook

GUESS = re.compile(r"^(?:> *)?\*\*Guess\.\*\* (.+)$", re.MULTILINE)
HEADING = re.compile(r"^#{1,4} (.+)$", re.MULTILINE)
OTHER = ("#", "<", ">", "```")  # how what is no paragraph begins
LIST_OR_TABLE = re.compile(r"- |\||\d+\. ")
MOST_LINES = 14  # of a printed output; a slide has no room for more
HEADER = """---
title: "{title}"
theme: white
format:
  revealjs:
    smaller: true
---
"""


@dataclass
class Question:
    """A question of a chapter: its heading, its words, the cells that print what came out, and the paragraph below."""

    heading: str
    words: str
    results: list[Cell] = field(default_factory=list)
    answer: str = ""


def questions(notebook: Notebook) -> list[Question]:
    """The questions of a notebook that have a result."""
    found: list[Question] = []
    open_question: Question | None = None
    heading = ""
    for cell in notebook.cells:
        if cell.is_code:
            if open_question and cell.outputs:
                open_question.results.append(cell)
            continue
        if open_question and open_question.results:
            open_question.answer = _first_paragraph(cell.source)
            open_question = None
        heading = (HEADING.findall(cell.source) or [heading])[-1]
        for words in GUESS.findall(cell.source):
            open_question = Question(heading, words)
            found.append(open_question)
    return [question for question in found if question.results]


def _first_paragraph(text: str) -> str:
    """The first paragraph of a text, with the list or the table that goes on with it."""
    parts = text.strip().split("\n\n")
    for number, part in enumerate(parts):
        if not part.startswith(OTHER):
            goes_on = parts[number + 1 : number + 2]
            return "\n\n".join([part, *(more for more in goes_on if LIST_OR_TABLE.match(more))])
    return ""


def slides(notebooks: Iterable[Notebook], title: str, pictures: str) -> tuple[str, dict[str, bytes]]:
    """The slides as Quarto's Markdown, and the pictures by their names.

    pictures: the folder of the pictures, as the text names it.
    """
    parts = [HEADER.format(title=title)]
    files: dict[str, bytes] = {}
    for notebook in notebooks:
        parts.append(f"# {title_of(notebook)}\n")
        for question in questions(notebook):
            heading = f"## {question.heading}\n"
            parts += [heading, question.words + "\n"]
            printed = [shown for cell in question.results for shown in _printed(cell)]
            if printed:
                parts += [heading, *printed]
            for cell in question.results:
                for number, picture in enumerate(_pictures(cell)):
                    name = f"{notebook.path.stem}-{cell.number}-{number}.png"
                    files[name] = picture
                    alt = alternative(cell, number).replace('"', "'")
                    parts += [heading, f'![]({pictures}/{name}){{.r-stretch fig-alt="{alt}"}}\n']
            parts += [heading, question.answer + "\n"]
    return "\n".join(parts), files


def _printed(cell: Cell) -> Iterator[str]:
    """The tables and the texts that a cell printed, as Markdown; what a check says is the student's alone."""
    for output in cell.outputs:
        if CHECK_RECORD in output.data or output.image:
            continue
        if "text/html" in output.data:
            yield f"```{{=html}}\n{output.data['text/html'].strip()}\n```\n"
        elif output.text.strip():
            lines = output.text.strip("\n").split("\n")
            kept = [*lines[:MOST_LINES], *(["..."] if len(lines) > MOST_LINES else [])]
            yield "```text\n" + "\n".join(kept) + "\n```\n"


def _pictures(cell: Cell) -> Iterator[bytes]:
    return (base64.b64decode(output.data["image/png"]) for output in cell.outputs if "image/png" in output.data)
