"""Rules against what would break the rendered page."""

import os
import re
from collections.abc import Iterator
from urllib.parse import unquote

from markdown_it.token import Token

from checker.outputs.claims import header_of
from checker.reading.prose.spans import outside
from checker.rules.base import Remark, Submission, rule

LINK = re.compile(r"(!?)\[[^\[\]]*\]\(\s*<?([^)\s>]{1,500})")
YES = ("true", "yes", "on")
SETTINGS = re.compile(r"\s*---[ \t]*\n[ \t]*[\w-]+:.*\n(?:(?![ \t]*\n).*\n)*?---")  # without an empty line
LOCAL = re.compile(r"file:|[A-Za-z]:[\\/]|/(?!/)|~|\\\\")
ELSEWHERE = re.compile(r"\w+:|//|#")


def _outside_fences(source: str, tokens: list[Token]) -> tuple[str, int | None]:
    """A text without its fenced blocks, and the line of a fence that is never closed (None when all are)."""
    lines = source.split("\n")
    opened = None
    for fence in tokens:
        if fence.type == "fence":
            begin, end = fence.map
            last = lines[end - 1].strip(" >\t") if end - begin > 1 else ""
            if len(last) < len(fence.markup) or last.strip(fence.markup[0]):
                opened = begin + 1
            lines[begin:end] = [""] * (end - begin)
    return "\n".join(lines), opened


def _markdown(submission: Submission):
    for cell, text in submission.texts:
        yield cell, *_outside_fences(cell.source, text.tokens)


@rule(
    "R001",
    "warning",
    why="Everything below an open fence is shown as code.",
    wrong="```python\nx = 1",
    right="```python\nx = 1\n```",
)
def fence_not_closed(submission: Submission) -> Iterator[Remark]:
    for cell, _, opened in _markdown(submission):
        if opened is not None:
            yield (
                cell.number,
                f"the code fence of line {opened} is not closed",
                "Add a closing line of the same ticks.",
            )


@rule(
    "R002",
    "warning",
    why="A formula with one delimiter missing is shown as text, or swallows what follows.",
    wrong="$$ A_i = r_i - \\bar r",
    right="$$ A_i = r_i - \\bar r $$",
)
def mathematics_not_closed(submission: Submission) -> Iterator[Remark]:
    for cell, text, _ in _markdown(submission):
        text = outside(text).replace(r"\$", "")
        for opening, closing in (("$$", "$$"), (r"\[", r"\]"), (r"\(", r"\)"), (r"\begin{", r"\end{")):
            first = text.count(opening)
            second = text.count(closing)
            if (opening == closing and first % 2) or first != second:
                yield (
                    cell.number,
                    f"a formula is opened by {opening} and not closed",
                    f"Close it with {closing}.",
                )


@rule(
    "R003",
    "warning",
    why=("A line of --- directly under text makes a heading of it; between two of them text is taken for YAML."),
    wrong="---\ntitle: Analysis\n---",
    right="Leave an empty line around ---, and put YAML in Cell 0 only.",
)
def yaml_in_the_text(submission: Submission) -> Iterator[Remark]:
    for cell, text, _ in _markdown(submission):
        if SETTINGS.match(text):
            yield (
                cell.number,
                "a block between two lines of --- is read as YAML and not shown",
                "Put it into Cell 0, or use another kind of line.",
            )


@rule(
    "R004",
    "warning",
    why="A picture or link to a file on your disk is not there for anyone else.",
    wrong="![curve](C:/Users/me/curve.png)",
    right="Draw the picture in a code cell; it is then part of the notebook.",
)
def local_file(submission: Submission) -> Iterator[Remark]:
    for cell, text, _ in _markdown(submission):
        for picture, target in LINK.findall(outside(text)):
            if LOCAL.match(target):
                yield (
                    cell.number,
                    f"a link to a local file: {target[:60]}",
                    "Use a web address, or make the picture in a code cell.",
                )
            elif picture and submission.beside and not ELSEWHERE.match(target):
                if not os.path.isfile(submission.notebook.path.parent / unquote(target)):
                    yield (
                        cell.number,
                        f"the image {target[:60]} is not there",
                        "Draw it in a code cell, or hand it in beside the notebook.",
                    )


@rule(
    "R005",
    "warning",
    why="Quarto then runs the notebook while it makes the page, and writes the new outputs into the file.",
    wrong="execute:\n  enabled: true",
    right="Leave `execute` out: the page shows the outputs that are saved, and `make report` runs the notebook.",
)
def quarto_is_asked_to_run_it(submission: Submission) -> Iterator[Remark]:
    execute = header_of(submission.notebook).get("execute")
    if isinstance(execute, dict) and str(execute.get("enabled")).lower() in YES:
        yield 0, "the header asks Quarto to run the notebook (execute: enabled: true)", "Take these two lines out."


@rule(
    "R006",
    "warning",
    why="Part of the text cannot be read on the page, or is shown as it was written.",
    wrong="$\\mymacro{x}$",
    right="$\\mathbf{x}$",
)
def not_shown_as_meant(submission: Submission) -> Iterator[Remark]:
    yield from _remarks(submission, lost=True)


@rule(
    "R007",
    "note",
    why="Quarto alone shows it as it was meant; the checker's page and Jupyter show its words.",
    wrong="```{mermaid}\ngraph LR; prompt --> completion\n```",
    right="A figure that a code cell draws, and paragraphs.",
)
def quartos_own(submission: Submission) -> Iterator[Remark]:
    yield from _remarks(submission, lost=False)


def _remarks(submission: Submission, lost: bool) -> Iterator[Remark]:
    """The remarks of the page's parser on texts that are lost on it, or on those that it shows in another form."""
    for cell, remark in submission.remarks:
        if remark.is_lost == lost:
            yield cell.number, remark.found, remark.advice


RULES = [
    fence_not_closed,
    mathematics_not_closed,
    yaml_in_the_text,
    local_file,
    quarto_is_asked_to_run_it,
    not_shown_as_meant,
    quartos_own,
]
