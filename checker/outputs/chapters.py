"""The chapters of the course in reading order: `notebooks/chapters.yml`, the one list of them.

Of a notebook's title, times, goals and claim its own header tells; of its exercises its cells. What else lists, tests and
pages have to know of it stands in that file.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from checker.reading.notebook import Unreadable

CHAPTERS = Path("notebooks", "chapters.yml")
INTERVAL = "interval"
REWARDS = {"baseline reward": INTERVAL, "fine-tuned reward": INTERVAL}


@dataclass(frozen=True)
class Chapter:
    """The record of a chapter.

    name: of its notebook, and of what belongs to it elsewhere: its folder of the catalogue, its sweep, its questions.
    short: its name in the sidebar, "" where the title fits there.
    teaches, measured, before, after: its row of the README's table; the gallery shows the last three as well.
    key_numbers: the numbers of Cell 7 that a fresh run must bear out, and how far it may lie from the saved outputs: a
        distance, or "interval", which is twice the 95 % interval printed behind the number (`checker/outputs/drift.py`).
    model: "none" where no language model is in it.    trains: "nothing" where no longer run could be wanted.
    reward: "earlier" where none is written, as it is that of an earlier chapter.
    begins: "slowly" where Cells 2 to 5 take seconds.    hinted: False while exercises lack hints.
    cuts: (text, what stands in its place, how often it occurs) that make a run of seconds of the notebook, for tests.
    """

    name: str
    teaches: str
    measured: str
    before: str
    after: str
    short: str = ""
    key_numbers: dict[str, float | str] = field(default_factory=REWARDS.copy)
    model: Literal["", "none"] = ""
    trains: Literal["", "nothing"] = ""
    reward: Literal["", "earlier"] = ""
    begins: Literal["", "slowly"] = ""
    hinted: bool = True
    cuts: list[tuple[str, str, int]] = field(default_factory=list)

    @property
    def notebook(self) -> Path:
        """The worked notebook, from the project's folder on."""
        return Path("notebooks", f"{self.name}.ipynb")


def chapters(project: Path) -> list[Chapter]:
    """The chapters of a course in reading order; none where it has no list of them.

    Raises:
        Unreadable: see `chapters_in`.
    """
    path = project / CHAPTERS
    return chapters_in(path.read_text(encoding="utf-8")) if path.is_file() else []


def chapters_in(text: str) -> list[Chapter]:
    """The chapters of a list's text.

    Raises:
        Unreadable: an entry lacks a line or has one that means nothing.
    """
    import yaml

    try:
        return [_chapter(name, **entry) for name, entry in (yaml.safe_load(text) or {}).items()]
    except (yaml.YAMLError, TypeError, AttributeError) as error:
        raise Unreadable(
            f"{CHAPTERS} is not a list of chapters as checker/outputs/chapters.py has it: {error}"
        ) from None


def _chapter(name: str, *, cuts: list[list] = (), **entry) -> Chapter:
    return Chapter(name, **entry, cuts=[(found, put, *(times or [1])) for found, put, *times in cuts])
