"""A finding: one thing that a rule has to say about a notebook."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Literal

Level = Literal["error", "warning", "note", "question"]
GRAVEST_FIRST = ("error", "warning", "note", "question")
COUNTED = ("error", "warning")  # what tables count as findings


@dataclass(frozen=True)
class Finding:
    """One finding.

    code: stable, for `--ignore` and `checker explain`.
    level: error makes the check fail; a question is not asserted: it counts nowhere, and is told last.
    cell: its number in the file, from 0; None for the whole notebook.
    found: what was found, or asked.                       advice: what to do, or why it is asked.
    place: the cell as a person would name it, "Cell 5: One GRPO step"; "" for the whole notebook.
    """

    code: str
    level: Level
    cell: int | None
    found: str
    advice: str
    place: str = ""

    @property
    def sentence(self) -> str:
        """The finding, as a sentence."""
        return sentence(self.found)

    def as_dict(self) -> dict:
        return asdict(self)


def sentence(found: str) -> str:
    """The finding with its full stop, which an error's own words may have already, or its question mark."""
    return found if found.endswith(("?", ".")) else f"{found}."


def alike(findings: Iterable[Finding]) -> list[list[Finding]]:
    """The findings, those of one level and code together; the gravest first and questions last."""
    together: dict[tuple[str, str], list[Finding]] = {}
    for finding in sorted(findings, key=lambda finding: GRAVEST_FIRST.index(finding.level)):
        together.setdefault((finding.level, finding.code), []).append(finding)
    return list(together.values())


def further_places(together: list[Finding]) -> list[str]:
    """The places, each once, where findings like the first one are, its own left out."""
    first, *others = together
    return list(dict.fromkeys(finding.place for finding in others if finding.place != first.place))
