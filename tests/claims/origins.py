"""The origins of the numbers of an analysis: `tests/claims/<notebook>.yml`, a list of entries such as

    - says: "went from {} to {}, in {} steps of"
      prints: ["baseline reward {}", "fine-tuned reward {}"]
      sets: ["STEPS, PROMPTS_PER_STEP, LEARNING_RATE = {}"]

`says` is a part of the analysis with {} for each of its numbers. Each {} is answered in order by a pattern of
`prints`, a line of an output, then by one of `sets`, a line of code: {} is the number meant with its sign, # any other
number, and ... any text. Where the text says "a fall of 3.8" of an output -3.8, the pattern has the minus: "gain -{}".
A number in a sentence that names a cell ("0.10 (Cell 5)") must stand in that cell. For any other, every line above that
fits the pattern must have the same number, the nearest as well as the farthest. One that no output can hold has
`because` instead, a sentence with the reason or the source.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import yaml

from checker.reading.layout import sections
from checker.reading.notebook import Cell, Notebook
from tests.claims.reading import DIGITS, SIGN, Claim, cells_named, claims

FOLDER = Path(__file__).parent
PIECES = re.compile(r"(\{\}|#|\.\.\.|\s+)")
PATTERN_OF = {"{}": rf"({SIGN}{DIGITS})(?:\s*%)?", "#": rf"[-+−]?{DIGITS}", "...": r".*?"}


@dataclass(frozen=True)
class Origin:
    """One entry of the file."""

    says: str
    prints: list[str] = field(default_factory=list)
    sets: list[str] = field(default_factory=list)
    because: str = ""


@dataclass(frozen=True)
class Section:
    """One of a notebook's sections, Cell 0 to Cell 8, or several together: the lines that it prints, and its code."""

    prints: tuple[str, ...]
    sets: tuple[str, ...]


@dataclass(frozen=True)
class Meant:
    """A number of the analysis: the claim, None for a number that is none, and the cells that its sentence names."""

    claim: Claim | None
    cells: tuple[int, ...]


def origins_of(notebook: str) -> list[Origin]:
    """The entries for a notebook, by its name without the ending; none where there is no file."""
    path = FOLDER / f"{notebook}.yml"
    return [Origin(**entry) for entry in yaml.safe_load(path.read_text(encoding="utf-8"))] if path.exists() else []


def sections_of(notebook: Notebook) -> dict[int, Section]:
    """The lines that each section of a notebook prints and those that it sets, by the section's number."""
    return {
        number: together(_section(cell) for cell in cells if cell.is_code)
        for number, cells in sections(notebook).items()
    }


def faults(analysis: str, above: dict[int, Section], origins: list[Origin]) -> list[str]:
    """The contradictions between an analysis, the sections of its notebook and the entries, a sentence each."""
    claimed = {claim.starts: claim for claim in claims(analysis)}
    looked_at = {(): together(above.values())}
    found = []
    answered = set()
    for origin in origins:
        places = places_of(origin, analysis)
        if not places:
            found.append(f"The analysis does not say {origin.says!r} any more: mend or remove the entry.")
        for starts in places:
            answered.update(starts)
            meant = [Meant(claimed.get(start), cells_named(analysis, start)) for start in starts]
            for cells in {one.cells for one in meant} - set(looked_at):
                looked_at[cells] = together(above[number] for number in cells if number in above)
            found += answers(origin, meant, looked_at)
    missing = [claim for start, claim in claimed.items() if start not in answered]
    return found + [f"Where does {c.written} come from ({context(c, analysis)})? No entry says so." for c in missing]


def places_of(origin: Origin, analysis: str) -> list[list[int]]:
    """The start of each number of `says`, for each place where the analysis says it."""
    matches = re.finditer(pattern(origin.says), analysis)
    return [[match.start(i) for i in range(1, match.re.groups + 1)] for match in matches]


def answers(origin: Origin, meant: list[Meant], looked_at: dict[tuple[int, ...], Section]) -> list[str]:
    """The faults of one entry at one place. looked_at: the lines of the cells, by the cells that a sentence may name."""
    if origin.because:
        return []
    patterns = [(p, "prints") for p in origin.prints] + [(p, "sets") for p in origin.sets]
    if len(patterns) != len(meant):
        return [f"{origin.says!r} has {len(meant)} numbers and {len(patterns)} origins."]
    found = []
    for one, (wanted, verb) in zip(meant, patterns):
        values = numbers_in(wanted, getattr(looked_at[one.cells], verb))
        where = f" in Cell {' and '.join(map(str, one.cells))}, which the sentence names" if one.cells else ""
        if len(values) != 1:
            count = len(values) or "no"
            found.append(f"{origin.says!r}: {count} numbers in a line that {verb} {wanted!r}{where}; one is needed.")
        elif one.claim and not one.claim.agrees_with(*values):
            found.append(f"{origin.says!r}: {one.claim.written} is claimed, and the line {wanted!r} has {min(values)}.")
    return found


@cache
def numbers_in(wanted: str, lines: tuple[str, ...]) -> frozenset[str]:
    """Every number meant by a pattern in these lines; kept, since the tests ask again for each digit that they change."""
    return frozenset(match.group(1) for line in lines for match in re.finditer(pattern(wanted), line))


@cache
def pattern(text: str) -> str:
    """The regular expression of a pattern: white space of any width, and what {}, # and ... stand for."""
    pieces = (piece for piece in PIECES.split(text) if piece)
    return "".join(r"\s+" if piece.isspace() else PATTERN_OF.get(piece, re.escape(piece)) for piece in pieces)


def context(claim: Claim, analysis: str) -> str:
    """A few words around a claim, for the reader to find it."""
    return "..." + " ".join(analysis[max(0, claim.starts - 40) : claim.starts + 30].split()) + "..."


def printed(cell: Cell) -> str:
    """A cell's outputs as a reader sees them, without pictures, whose text is only the name of their class."""
    return "".join(output.text + "\n" for output in cell.outputs if not output.image)


def together(parts: Iterable[Section]) -> Section:
    """The lines of several sections, one after the other."""
    parts = list(parts)
    return Section(
        tuple(line for part in parts for line in part.prints), tuple(line for part in parts for line in part.sets)
    )


def _section(cell: Cell) -> Section:
    return Section(tuple(printed(cell).split("\n")), tuple(cell.source.split("\n")))
