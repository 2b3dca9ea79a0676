"""A comparison of a notebook's saved outputs with those of a fresh run.

The numbers that a notebook's text quotes are those of its saved run. Of a fresh one the key numbers should lie near
them, or the outputs are of yesterday's code. Which numbers these are, and how near, says the record of a chapter
(`chapters.py`; see CONTRIBUTING: house words).

The same code on the same machine gives the same numbers. Another machine rounds otherwise, and then training is another
draw of the same experiment. So the printed 95 % interval is taken twice as wide, to both sides of the saved number: once
for the saved draw, once for the fresh one. Where runs of one setting differ by more than that, or no interval is
printed, the record has a distance.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from checker.outputs.chapters import INTERVAL, REWARDS, chapters
from checker.reading.convert import plain
from checker.reading.layout import sections
from checker.reading.notebook import Notebook

PROJECT = Path(__file__).parents[2]
SLACK = 2.0  # of the saved interval; see above
NUMBER = r"([-+]?\d+\.\d+)"


@dataclass(frozen=True)
class KeyNumber:
    """A number that Cell 7 prints, and the ends of the interval printed behind it, None without one."""

    value: float
    interval: tuple[float, float] | None

    def allows(self, distance: float | str) -> tuple[float, float] | None:
        """The interval in which a fresh number may lie; None where nothing gives one."""
        if distance != INTERVAL:
            return self.value - distance, self.value + distance
        if self.interval is None:
            return None
        low, high = self.interval
        return self.value - SLACK * (self.value - low), self.value + SLACK * (high - self.value)


def wanted(notebook: Notebook) -> dict[str, float | str]:
    """The names of a notebook's key numbers, each with its distance or "interval"; of one that is no chapter its rewards."""
    return _of_chapters().get(notebook.path.stem, REWARDS)


def key_numbers(notebook: Notebook, names: Iterable[str]) -> dict[str, KeyNumber]:
    """Those of the named numbers that the notebook's Cell 7 prints, by name: of each the first that has an
    interval, else the first."""
    text = plain("\n".join(cell.text_output for cell in sections(notebook).get(7, [])))
    found = {}
    for name in names:
        words = r"\s+".join(map(re.escape, name.split()))
        number = rf"(?<!\w){words}\s+{NUMBER}"
        interval = rf"\s+\(?\s*(?:95 % interval )?{NUMBER} to +{NUMBER}"
        match = re.search(number + interval, text) or re.search(number, text)
        if match:
            value, *ends = map(float, match.groups())
            found[name] = KeyNumber(value, tuple(ends) or None)
    return found


def drifted(saved: Notebook, fresh: Notebook) -> list[str]:
    """A sentence for each key number of the saved outputs that the fresh ones do not bear out."""
    distances = wanted(saved)
    measured = key_numbers(fresh, distances)
    found = []
    for name, was in key_numbers(saved, distances).items():
        bounds = was.allows(distances[name])
        if bounds is None:
            continue
        now = measured.get(name)
        if now is None:
            found.append(f'Cell 7 prints no number behind "{name}" any more; the saved outputs say {was.value:.3f}.')
        elif not bounds[0] <= now.value <= bounds[1]:
            allowed = f"{bounds[0]:.3f} to {bounds[1]:.3f}"
            found.append(f'"{name}" is {now.value:.3f}; the saved outputs say {was.value:.3f} and allow {allowed}.')
    return found


@cache
def _of_chapters() -> dict[str, dict[str, float | str]]:
    return {chapter.name: chapter.key_numbers for chapter in chapters(PROJECT)}
