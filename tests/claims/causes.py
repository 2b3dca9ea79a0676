"""The causes that an analysis names: `tests/claims/causes/<notebook>.yml`, with two lists.

    causes:
      - says: "A larger $\\beta$ keeps the policy nearer"
        run: [ppo, "PPO, beta 1", full stops]
        control: [ppo, "PPO, beta 0.1", full stops]
        threshold: 7
        higher: control
        differs: beta
        shares: [kl_in, learning_rate, steps, whiten_advantages]
    no_cause:
      - says: "The eight labels differ in their first token, so"
        because: "A property of the labels, by which sums are rearranged."

`says` is a part of the sentence. `run` is what the sentence is about, `control` the condition that would have come out
like it if the cause were another. Each is a recorded sweep, a condition and a measure, of which every seed counts, or a
pattern of a line that the notebook prints, as in `tests/claims/origins.py`. A measure that is a list or a dict is
followed by the place in it. All numbers of the `higher` one lie above the threshold and all of the other below it.

`differs` is the one setting in which the two differ, `shares` are settings that a reader would suspect and that are
equal. Both are read from the settings that a sweep records (`benchmarks/sweeps/settings.py`); where one condition was
measured in two ways, `differs` is `measure`. What a notebook prints has no recorded settings: there `differs` says it in
words, at least four, and people hold it against the cell. Two more rules hold of what is recorded:

    methods     where the two differ in a method (METHODS), each is at the best of at least three learning rates, its own
    measures    a measure that the paid reward alone fixes is no evidence besides that reward

`no_cause` lists sentences with a causal word that are no claim about what was run.

    python -m tests.claims.causes     reports the sentences with a causal word that stand in neither list
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import reduce
from math import prod
from pathlib import Path
from statistics import correlation
from typing import Literal

import yaml

from benchmarks.sweeps.settings import Settings, differences
from checker.reading.layout import sections
from checker.reading.notebook import Notebook, read
from shared.recorded import Recorded, recorded
from tests.claims.origins import numbers_in, sections_of, together
from tests.claims.reading import SENTENCE_ENDS, value_of

FOLDER = Path(__file__).parent / "causes"
NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
CAUSAL = re.compile(
    r"\b(?:because|since|so that|therefore|hence|thus|causes?d?|due to|thanks to|owing to|reason|why)\b|[,;:.] so\b|^So\b",
    re.IGNORECASE | re.MULTILINE,
)
METHODS = {"way", "weight", "config", "loss_type"}  # settings that name a method, where their values are names
MEASURED_AT = re.compile(r" at (\d+)$")
FIXED = 0.9  # a rank correlation from which on a measure is the reward in other words
Source = str | list  # a pattern of a printed line, or a sweep, a condition, a measure and places in it


@dataclass(frozen=True)
class Cause:
    """A sentence with a cause, the condition it is about, and the control that could have refuted it."""

    says: str
    run: Source
    control: Source
    threshold: float
    higher: Literal["run", "control"]
    differs: str | list[str] = ""
    shares: list[str] = field(default_factory=list)


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


def settings_of(source: list) -> Settings:
    """The recorded settings of a condition. A run that went on behind its measure counts as one that ended there."""
    sweep, condition, measure, *_ = source
    settings = recorded(sweep).settings[condition]
    measured_at = MEASURED_AT.search(str(measure))
    return {
        path: min(value, int(measured_at[1])) if measured_at and path.split(".")[-1] == "steps" else value
        for path, value in settings.items()
    }


def what_differs(cause: Cause) -> set[str]:
    """The settings in which run and control differ; the measure among them. Of what is printed, the words of the entry."""
    if isinstance(cause.run, str) or isinstance(cause.control, str):
        return named(cause)
    found = differences(settings_of(cause.run), settings_of(cause.control))
    if compares_methods(cause):
        found = {
            path for path in found if path.split(".")[-1] != "learning_rate"
        }  # each has the one that is best for it
    return found | ({"measure"} if cause.run[2:] != cause.control[2:] else set())


def named(cause: Cause) -> set[str]:
    """The settings that an entry names. ValueError for two that are no trade: their product is another in each."""
    if isinstance(cause.differs, str):
        return {cause.differs}
    costs = {prod(settings_of(source)[path] for path in cause.differs) for source in (cause.run, cause.control)}
    if len(cause.differs) != 2 or len(costs) != 1:
        raise ValueError(f"{cause.differs} differ at another cost in each, {costs}: that is more than one difference.")
    return set(cause.differs)


def not_shared(cause: Cause) -> list[str]:
    """The settings that should be shared and are not recorded of both, or not equal."""
    if isinstance(cause.run, str) or isinstance(cause.control, str):
        return []
    run, control = settings_of(cause.run), settings_of(cause.control)
    return [path for path in cause.shares if path not in run or run[path] != control.get(path)]


def compares_methods(cause: Cause) -> bool:
    """True if the one difference is the name of a method, as of a weight or of a whole way to learn."""
    sources = (cause.run, cause.control)
    if (
        isinstance(cause.differs, list)
        or cause.differs not in METHODS
        or any(isinstance(source, str) for source in sources)
    ):
        return False
    return all(isinstance(settings_of(source).get(cause.differs), str) for source in sources)


def rates_of(source: list) -> dict[float, float]:
    """The mean of a measure by learning rate, over the conditions of its sweep that differ from this one in it alone."""
    sweep, _, *places = source
    own = settings_of(source)
    found = {}
    for name in recorded(sweep).conditions:
        settings = settings_of([sweep, name, *places])
        apart = differences(own, settings)
        rate = [value for path, value in settings.items() if path.split(".")[-1] == "learning_rate"]
        if len(rate) == 1 and all(path.split(".")[-1] == "learning_rate" for path in apart):
            numbers = numbers_of([sweep, name, *places], None)
            found[rate[0]] = sum(numbers) / len(numbers)
    return found


def is_at_its_best(source: list) -> bool:
    """True if three learning rates or more were tried and this one has the highest mean."""
    rates = rates_of(source)
    numbers = numbers_of(source, None)
    return len(rates) >= 3 and max(rates.values()) == sum(numbers) / len(numbers)


def fixed_by_reward(sweep: Recorded, measure: str) -> bool:
    """True if the paid reward orders all runs of a sweep as the measure does, forwards or backwards."""
    pairs = [(run[sweep.reward], run[measure]) for run in sweep.runs if sweep.reward and measure in run]
    if measure == sweep.reward or len(pairs) < 6:
        return False
    return abs(_rank_correlation(*zip(*pairs))) >= FIXED


def _rank_correlation(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    ranks = [[sorted(values).index(value) for value in values] for values in (one, other)]
    return correlation(*ranks) if all(len(set(values)) > 1 for values in ranks) else 0.0


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
