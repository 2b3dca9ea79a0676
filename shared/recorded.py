"""Runs that were made beforehand and written down, so that a notebook can compare more seeds than it has time for.

    python -m benchmarks.sweeps gradients     makes benchmarks/sweeps/gradients.json again

A notebook trains one seed before your eyes and reads the others with `recorded`; `Recorded.origin` and
`Recorded.command` say where they come from and belong into the output beside every figure that was read.
"""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from shared.engine.named import EMBEDDED, name_of

SWEEPS = Path(__file__).resolve().parent.parent / "benchmarks" / "sweeps"
# What a column of a table is called, and the field of the records, or what is taken from one, that it holds.
Measures = Mapping[str, str | Callable[[dict], float]]
IN_WORDS = {3: "three", 5: "five"}


@dataclass(frozen=True)
class Recorded:
    """A sweep: one record for each condition and seed.

    chapter: the notebook it belongs to.     command: what makes it again.
    code: the project's version and the commit it ran on.     date: the day, as 2026-01-31.
    threads: how many the runs had; numbers repeat exactly only at the same.
    runs: each with `condition`, `seed`, `seconds` and what was measured.
    settings: of each condition by their names, as `benchmarks/sweeps/settings.py` reads them.
    reward: the measure that the training itself pays for, if one is.
    model: the model that was trained, by its name in the course.
    """

    chapter: str
    command: str
    code: str
    date: str
    threads: int
    runs: tuple[dict, ...]
    settings: dict[str, dict] = field(default_factory=dict)
    reward: str = ""
    model: str = EMBEDDED

    @property
    def conditions(self) -> list[str]:
        """The names of the conditions, in the order in which they were run."""
        return list(dict.fromkeys(run["condition"] for run in self.runs))

    @property
    def seeds(self) -> list[int]:
        return sorted({run["seed"] for run in self.runs})

    @property
    def _number_of_seeds(self) -> str:
        return f"{IN_WORDS.get(len(self.seeds), len(self.seeds))} seeds"

    @property
    def origin(self) -> str:
        """The origin of the records in one line, how many runs, on what and when; `command` makes them again."""
        seconds = sum(run["seconds"] for run in self.runs)
        return (
            f"{_of_another_model(self.model)}{len(self.runs)} runs, seeds {', '.join(map(str, self.seeds))}, {seconds:.0f} processor seconds, {self.date}, "
            f"code {self.code}"
        )

    def of(self, condition: str) -> list[dict]:
        """The runs of a condition, one for each seed. KeyError, naming those there are, when there is none."""
        found = [run for run in self.runs if run["condition"] == condition]
        if not found:
            raise KeyError(f"There is no condition {condition!r}; there are {', '.join(self.conditions)}.")
        return found

    def spread(self, condition: str, measure: str | Callable[[dict], float]) -> tuple[float, float, float]:
        """Mean, lowest and highest over the seeds, of a field of the records or of what a function takes from one."""
        values = [run[measure] if isinstance(measure, str) else measure(run) for run in self.of(condition)]
        return sum(values) / len(values), min(values), max(values)

    def row(self, head: str, condition: str, measures: Measures, seeds: str = "") -> dict:
        """A row of a table: the condition under `head`, the mean of each measure by its name, and the range of the last.

        seeds: the name of the column that has the lowest and highest of the last measure over the seeds; "" for their
            number, as in "five seeds".
        """
        spreads = {name: self.spread(condition, measure) for name, measure in measures.items()}
        means = {name: mean for name, (mean, _, _) in spreads.items()}
        *_, (_, *ends) = spreads.values()
        return {head: condition} | means | {seeds or self._number_of_seeds: tuple(ends)}

    def told(self, condition: str, measure: str | Callable[[dict], float], decimals: int = 3) -> str:
        """The same as a table has it: mean (lowest to highest)."""
        mean, low, high = (f"{value:.{decimals}f}" for value in self.spread(condition, measure))
        return f"{mean} ({low} to {high})"


def _of_another_model(model: str) -> str:
    """A warning where COURSE_MODEL asks for another model than the one that the runs were made with; else ""."""
    asked = name_of(os.environ.get("COURSE_MODEL") or model)
    made = "THE EMBEDDED MODEL" if model == EMBEDDED else model
    return "" if asked == model else f"NOT OF {asked}, BUT OF {made}: "


def recorded(chapter: str, folder: Path = SWEEPS) -> Recorded:
    """The sweep of a chapter. FileNotFoundError, saying which command makes it, when there is none."""
    path = folder / f"{chapter}.json"
    if not path.is_file():
        raise FileNotFoundError(
            f"{path.name} is not in {folder.name}/: run `python -m benchmarks.sweeps {chapter}` in the project's "
            "folder, or restore the file with git."
        )
    content = json.loads(path.read_text(encoding="utf-8"))
    content["runs"] = tuple(content["runs"])
    return Recorded(**content)
