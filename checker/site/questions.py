"""Questions to test oneself, at the end of a notebook's page: `notebooks/questions/<name>.yml`.

    - question: Eight completions of one prompt all earn 1. What do they teach?     Markdown, with formulas and code
      options:
        - text: The advantages are all 0, so nothing.
          right: true
          why: Each reward is compared with the group's mean, and all of them are the mean.
        - text: ...
          why: ...

They stand on the page and not in the notebook, whose characters are spent. An option is a fold with its explanation in
it: nothing of a question needs a script.
"""

from dataclasses import dataclass
from pathlib import Path

from checker.pages.markdown import to_html
from checker.pages.templates import style, template
from checker.reading.notebook import Unreadable
from checker.reading.website import QUESTIONS

HEADING = "Test yourself"


@dataclass(frozen=True)
class Option:
    """An answer to choose and its explanation, in Markdown."""

    text: str
    why: str
    right: bool = False


@dataclass(frozen=True)
class Question:
    """A question in Markdown, and the answers to choose from; one of them is right."""

    question: str
    options: list[Option]


def questions(project: Path, source: Path) -> list[Question]:
    """The questions on a notebook; none where it has no file of them.

    Raises Unreadable where the file does not hold what this module's docstring shows.
    """
    import yaml

    path = project / source.parent / QUESTIONS / f"{source.stem}.yml"
    if not path.is_file():
        return []
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
        return [Question(one["question"], [Option(**option) for option in one["options"]]) for one in found]
    except (yaml.YAMLError, KeyError, TypeError) as error:
        raise Unreadable(
            f"{path} does not hold questions with options as checker/site/questions.py shows: {error}"
        ) from error


def as_html(some: list[Question]) -> str:
    """Questions as the end of a page; "" for none."""
    if not some:
        return ""
    return template("questions.html.j2").render(
        heading=HEADING, place=QUESTIONS, questions=some, shown=_shown, css=style("questions.css")
    )


def _shown(markdown: str) -> str:
    """Markdown as HTML; of a single paragraph what is in it."""
    html = to_html(markdown, QUESTIONS)[0].strip()
    inside = html.removeprefix("<p>").removesuffix("</p>")
    return html if "<p>" in inside else inside
