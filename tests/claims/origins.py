"""Where the numbers of an analysis come from: `tests/claims/<notebook>.yml`, a list of entries such as

    - says: "went from {} to {}, in {} steps of"
      prints: ["baseline reward {}", "fine-tuned reward {}"]
      sets: ["STEPS, PROMPTS_PER_STEP, LEARNING_RATE = {}"]

`says` is a part of the analysis with {} for each of its numbers. Each {} is answered in order by a pattern of
`prints`, a line of an output, then by one of `sets`, a line of code: {} is the number meant, # any other number, and
... any text. One that no output can hold has `because` instead, a sentence with the reason or the source.
"""

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import yaml

from tests.claims.reading import DIGITS, Claim, claims

FOLDER = Path(__file__).parent
PIECES = re.compile(r"(\{\}|#|\.\.\.|\s+)")
PATTERN_OF = {"{}": rf"[-+−]?({DIGITS})(?:\s*%)?", "#": rf"[-+−]?{DIGITS}", "...": r".*?"}


@dataclass(frozen=True)
class Origin:
    """One entry of the file."""

    says: str
    prints: list[str] = field(default_factory=list)
    sets: list[str] = field(default_factory=list)
    because: str = ""


def origins_of(notebook: str) -> list[Origin]:
    """The entries for a notebook, by its name without the ending; none where there is no file."""
    path = FOLDER / f"{notebook}.yml"
    return [Origin(**entry) for entry in yaml.safe_load(path.read_text(encoding="utf-8"))] if path.exists() else []


def faults(cells: list[dict], origins: list[Origin]) -> list[str]:
    """What is wrong between an analysis (the last of a notebook's cells), the outputs above it and the entries."""
    analysis = "".join(cells[-1]["source"])
    claimed = {claim.starts: claim for claim in claims(analysis)}
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    printed = tuple(line for output in outputs for line in text_of(output).split("\n"))
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    code = tuple(line for source in sources for line in source.split("\n"))
    found = []
    answered = set()
    for origin in origins:
        places = places_of(origin, analysis)
        if not places:
            found.append(f"The analysis does not say {origin.says!r} any more: mend or remove the entry.")
        for starts in places:
            answered.update(starts)
            found += answers(origin, [claimed.get(start) for start in starts], printed, code)
    missing = [claim for start, claim in claimed.items() if start not in answered]
    return found + [f"Where does {c.written} come from ({context(c, analysis)})? No entry says so." for c in missing]


def places_of(origin: Origin, analysis: str) -> list[list[int]]:
    """Where each of the numbers of `says` starts, for each place where the analysis says it."""
    matches = re.finditer(pattern(origin.says), analysis)
    return [[match.start(i) for i in range(1, match.re.groups + 1)] for match in matches]


def answers(origin: Origin, claimed: list[Claim | None], printed: tuple[str, ...], code: tuple[str, ...]) -> list[str]:
    """What is wrong with one entry at one place."""
    if origin.because:
        return []
    patterns = [(p, printed, "prints") for p in origin.prints] + [(p, code, "sets") for p in origin.sets]
    if len(patterns) != len(claimed):
        return [f"{origin.says!r} has {len(claimed)} numbers and {len(patterns)} origins."]
    found = []
    for claim, (wanted, lines, verb) in zip(claimed, patterns):
        values = numbers_in(wanted, lines)
        if len(values) != 1:
            found.append(
                f"{origin.says!r}: {len(values) or 'no'} numbers in a line that {verb} {wanted!r}; one is needed."
            )
        elif claim and not claim.agrees_with(*values):
            found.append(f"{origin.says!r}: {claim.written} is claimed, and the line {wanted!r} has {min(values)}.")
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


def text_of(output: dict) -> str:
    """An output as a reader sees it; "" for a picture, whose text is only the name of its class."""
    data = output.get("data", {})
    if any(kind.startswith("image/") for kind in data):
        return ""
    return "".join(output.get("text", "")) or "".join(data.get("text/plain", ""))
