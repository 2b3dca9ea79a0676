"""The causes that an analysis names: `tests/claims/causes/<notebook>.yml`, with two lists.

    causes:
      - says: "Without whitening the ranges of the two places overlap"
        run: [ppo, "PPO, beta 0.1 in the reward", full stops]
        control: [ppo_whitening, "beta 0.01 in the reward", full stops]
        threshold: 7.5
        higher: control
    no_cause:
      - says: "The eight labels differ in their first token, so"
        because: "A property of the labels, by which sums are rearranged."

`says` is a part of the sentence. `run` is what the sentence is about, `control` the condition that would have come out
like it if the cause were another. Each is a recorded sweep, a condition and a measure, of which every seed counts, or a
pattern of a line that the notebook prints, as in `tests/claims/origins.py`. A measure that is a list or a dict is
followed by the place in it. All numbers of the `higher` one lie above the threshold and all of the other below it.

`no_cause` lists sentences with a causal word that are no claim about what was run.

    python -m tests.claims.causes     reports the sentences with a causal word that stand in neither list
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Literal

import yaml

from checker.reading.layout import sections
from checker.reading.notebook import Notebook, read
from shared.recorded import recorded
from tests.claims.origins import numbers_in, sections_of, together
from tests.claims.reading import SENTENCE_ENDS, value_of

FOLDER = Path(__file__).parent / "causes"
NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
CAUSAL = re.compile(
    r"\b(?:because|since|so that|therefore|hence|thus|causes?d?|due to|thanks to|owing to|reason|why)\b|[,;:.] so\b|^So\b",
    re.IGNORECASE | re.MULTILINE,
)
Source = str | list  # a pattern of a printed line, or a sweep, a condition, a measure and places in it


@dataclass(frozen=True)
class Cause:
    """A sentence with a cause, the condition it is about, and the control that could have refuted it."""

    says: str
    run: Source
    control: Source
    threshold: float
    higher: Literal["run", "control"]


@dataclass(frozen=True)
class NoCause:
    """A sentence with a causal word, and why nothing was to be run for it."""

    says: str
    because: str


def causes_of(notebook: str) -> list[Cause]:
    return [Cause(**entry) for entry in _file_of(notebook).get("causes", [])]


def exempt_in(notebook: str) -> list[NoCause]:
    return [NoCause(**entry) for entry in _file_of(notebook).get("no_cause") or []]


def _file_of(notebook: str) -> dict:
    path = FOLDER / f"{notebook}.yml"
    return yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else {}


def text_of(notebook: Notebook) -> str:
    """The Markdown of Cells 7 and 8, a blank line between two cells."""
    parts = sections(notebook)
    return "\n\n".join(cell.source for number in (7, 8) for cell in parts[number] if not cell.is_code)


def numbers_of(source: Source, notebook: Notebook) -> list[float]:
    """The numbers of a run or a control: of every seed of a recorded sweep, or the one of a printed line.

    Raises ValueError for a pattern that no line fits, or to which lines give different numbers.
    """
    if isinstance(source, str):
        found = numbers_in(source, together(sections_of(notebook).values()).prints)
        if len(found) != 1:
            raise ValueError(f"{len(found) or 'no'} numbers in a line that prints {source!r}; one is needed.")
        return [value_of(written)[0] for written in found]
    sweep, condition, *places = source
    return [float(reduce(lambda found, place: found[place], places, run)) for run in recorded(sweep).of(condition)]


def bears_out(run: list[float], control: list[float], cause: Cause) -> bool:
    """True if the threshold lies between the two, with the higher one above it."""
    above, below = (run, control) if cause.higher == "run" else (control, run)
    return bool(above and below) and min(above) > cause.threshold > max(below)


def unlisted(path: Path) -> Iterator[str]:
    """The sentences of Cells 7 and 8 with a causal word that stand in neither list."""
    listed = [entry.says for entry in (*causes_of(path.stem), *exempt_in(path.stem))]
    text = text_of(read(path))
    ends = [0, *(match.end() for match in SENTENCE_ENDS.finditer(text)), len(text)]
    for begin, end in zip(ends, ends[1:]):
        sentence = text[begin:end]
        if CAUSAL.search(sentence) and not sentence.rstrip().endswith("?") and not any(s in sentence for s in listed):
            yield " ".join(sentence.split())


def main() -> None:
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        for sentence in unlisted(path):
            print(f"{path.stem}: {sentence}")


if __name__ == "__main__":
    main()
