"""A challenge: settings are handed in, and those stand first that reach a held-out reward with the fewest completions.

What is handed in is data, a file of `--result`, and is read inside a box, which bounds its time and memory. The task, the
seeds and the rows are the challenge's: nobody knows them before, and all have the same. Completions are counted there too.
A run is measured now and then, so that its number is known up to the gap between two measurements.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from checker.editions.course import NEEDED
from checker.grading.box.isolation import Outcome, run_submission
from checker.grading.box.limits import Limits
from checker.grading.box.walls import ROOT, Isolation, box
from checker.grading.table.class_folder import file_name
from checker.reading.notebook import Unreadable
from checker.reading.text import one_line

OWN = "(the task's own settings)"
LARGEST = 5_000_000  # bytes of a file
LONGEST_REMARK = 300  # characters
MODULE = "challenged"  # what a task of the instructor's is called inside


@dataclass(frozen=True)
class Challenge:
    """Everything that all who take part have alike.

    task: a task of the course, or a file of Python that has a `RECIPE`.
    goal: of the held-out reward; the whole 95 % interval must lie at or above it.
    budget, every: completions of a run at the most, and from one measurement to the next at the least.
    seeds: of a run each: they draw its rows of both splits, their order and its completions.
    """

    task: str
    goal: float
    budget: int
    every: int
    seeds: tuple[int, ...]

    @property
    def apart_by_chance(self) -> float:
        """The chance, at the most, that two alike settings do not tie: all runs of one are then before all of the other."""
        return 2 / math.comb(2 * len(self.seeds), len(self.seeds))


@dataclass(frozen=True)
class Run:
    """A run reached the goal after more than `low` completions and at most `high`; inf for one that did not reach it."""

    low: int
    high: float
    seconds: float
    remark: str = ""


@dataclass(frozen=True)
class Entry:
    """Settings that were handed in, with a run for each seed."""

    name: str
    runs: tuple[Run, ...]

    @property
    def reached(self) -> int:
        return sum(run.high < math.inf for run in self.runs)

    @property
    def ranked(self) -> bool:
        """Settings that miss the goal with one of the seeds have no rank: a lucky seed would make up for the others."""
        return self.reached == len(self.runs)

    @property
    def median(self) -> float:
        return statistics.median(run.high for run in self.runs)

    def before(self, other: "Entry") -> bool:
        """True if every run needed fewer completions than every run of the other."""
        return self.ranked and max(run.high for run in self.runs) <= min(run.low for run in other.runs)


def handed_in(folder: Path) -> dict[str, str]:
    """The text of each file of settings in a folder, by the name of the file.

    Raises Unreadable: there is none, or one is too large.
    """
    found = {}
    for path in sorted(folder.glob("*.json")):
        if path.is_symlink() or not path.is_file():
            continue
        if path.stat().st_size > LARGEST:
            raise Unreadable(f"{one_line(path.name)} has more than {LARGEST // 10**6} MB, unlike any file of --result.")
        found[file_name(path.stem)] = path.read_text(encoding="utf-8", errors="replace")
    if not found:
        raise Unreadable(f"There is no file *.json in {folder}: each student hands in one of --result.")
    return found


def run_once(settings: str | None, seed: int, challenge: Challenge, isolation: Isolation, limits: Limits) -> Run:
    """Train in a box with the settings and a seed. Raises BoxFailed if the box failed, by no fault of the settings."""
    shown = [(ROOT / name, name) for name in NEEDED]
    task = challenge.task
    if task.endswith(".py"):
        shown.append((Path(task).resolve(), f"{MODULE}.py"))
        task = MODULE
    job = {"do": "challenge", "settings": settings, "task": task, "seed": seed}
    job |= {"goal": challenge.goal, "budget": challenge.budget, "every": challenge.every}
    return run_from(run_submission(box(isolation, shown, limits), job), challenge)


def run_from(outcome: Outcome, challenge: Challenge) -> Run:
    """The run that a box tells of. One that does not reach the goal counts as one that used up the budget.

    Raises Unreadable: the model reaches the goal before it is trained.
    """
    measured = [record for record in outcome.records if "drawn" in record]
    below = 0
    for record in measured:
        if record["low"] >= challenge.goal:
            if record["drawn"] == 0:
                raise Unreadable(f"Untrained, the model has {record['reward']:.3f} already: give a higher --reward.")
            return Run(below, record["drawn"], outcome.seconds)
        below = record["drawn"]
    why = next((str(record["ended"]) for record in outcome.records if "ended" in record), "it ended its box")
    best = max((record["reward"] for record in measured), default=math.nan)
    remark = outcome.stopped or why or f"the best measurement was {best:.3f}"
    return Run(challenge.budget, math.inf, outcome.seconds, one_line(remark)[:LONGEST_REMARK])


def table(entries: Sequence[Entry]) -> pd.DataFrame:
    """A line for each entry, those first that reached the goal most often, then those with the smallest median.

    A rank is 1 more than the number of entries that are before this one. Ranked entries tie where neither is before the
    other.
    """
    lines = []
    for entry in sorted(entries, key=lambda entry: (-entry.reached, entry.median, entry.name)):
        rivals = [other for other in entries if other is not entry and other.ranked and entry.ranked]
        tied = [other.name for other in rivals if not (other.before(entry) or entry.before(other))]
        line = {
            "rank": str(1 + sum(other.before(entry) for other in rivals)) if entry.ranked else "-",
            "settings": entry.name,
            "median": entry.median,
            "more than": min(run.low for run in entry.runs),
            "at most": max(run.high for run in entry.runs),
            "reached": f"{entry.reached} of {len(entry.runs)}",
            "tied with": ", ".join(tied),
            "seconds": round(statistics.mean(run.seconds for run in entry.runs)),
            "remark": next((run.remark for run in entry.runs if run.remark), ""),
        }
        lines.append(line)
    return pd.DataFrame(lines)
