"""The limits of whole notebooks: what the worked one takes on this machine, times a factor.

The worked notebook runs in a box like any other, once for a class and an edition of the course. A slow or busy machine so
gives everybody more time.
"""

import hashlib
import json
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from checker.grading.box.limits import MEGABYTE, Limits
from checker.grading.judge.one_notebook import DIGITS, Job, Settings, course, run
from checker.grading.judge.worked_notebooks import WorkedNotebook
from checker.reading.files import write_beside

TIMES_THE_SECONDS = 4  # a machine that grades is busy, one notebook on each core
TIMES_THE_MEMORY = 2
LEAST = Limits(wall=60, memory=1_000 * MEGABYTE)
ROOM = Limits(wall=1_800, cpu=3_600, memory=12_000 * MEGABYTE)  # of the worked run itself


@dataclass(frozen=True)
class Taken:
    """The seconds and the bytes of memory that a worked notebook took. None where it did not come to its end, or never ran."""

    seconds: float | None
    memory: int | None

    @property
    def limits(self) -> Limits:
        """The limits of a student's notebook; the usual ones where the worked one tells nothing."""
        if self.seconds is None:
            return Limits()
        wall = max(LEAST.wall, TIMES_THE_SECONDS * self.seconds)
        memory = max(LEAST.memory, TIMES_THE_MEMORY * self.memory)
        return Limits(wall=round(wall), cpu=round(2 * wall), memory=memory)

    def __str__(self) -> str:
        may = f"a student's may take {self.limits.wall:.0f} s and {self.limits.memory / MEGABYTE:,.0f} MB"
        if self.seconds is None:
            return f"the worked notebook does not come to its end on this machine; {may}"
        took = f"{self.seconds:.0f} s and {self.memory / MEGABYTE:,.0f} MB"
        return (
            f"the worked notebook takes {took} here; {may} ({TIMES_THE_SECONDS} and {TIMES_THE_MEMORY} times as much)"
        )


def measure(
    notebooks: Iterable[WorkedNotebook], settings: Settings, place: Path, threads: int, tell: Callable[[str], None]
) -> None:
    """Run worked notebooks, each once, of which it is not known what they take on this machine.

    place: the file in which it is kept, so that no later run of a class has other limits.
    threads: how many run at once, as many as will when the class is graded.    tell: is given a sentence on each.
    """
    known = _read(place)
    new = {key: worked for worked in notebooks if (key := _key(worked, settings)) not in known}
    with ThreadPoolExecutor(threads) as pool:
        for (key, worked), taken in zip(new.items(), pool.map(partial(_taken, settings), new.values())):
            known[key] = taken
            tell(f"{worked.name}: {taken}.")
            write_beside(place, json.dumps({key: [one.seconds, one.memory] for key, one in known.items()}))


def measured(worked: WorkedNotebook, settings: Settings, place: Path) -> Taken:
    """Return what a worked notebook takes on this machine, as far as the file of `measure` knows."""
    return _read(place).get(_key(worked, settings), Taken(None, None))


def _read(place: Path) -> dict[str, Taken]:
    """The content of a file; {} where there is none, or a damaged one."""
    try:
        return {key: Taken(*both) for key, both in json.loads(place.read_text(encoding="utf-8")).items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _taken(settings: Settings, worked: WorkedNotebook) -> Taken:
    """Run a worked notebook as a student's is run."""
    whole = replace(settings, whole=True)
    done = run(Job("the worked notebook", worked.name, json.dumps(worked.content), worked, whole, limits=ROOM))
    return Taken(None, None) if done.stopped else Taken(done.seconds, done.memory)


def _key(worked: WorkedNotebook, settings: Settings) -> str:
    return hashlib.sha256(f"{worked.digest} {course()} {settings.isolation.kind}".encode()).hexdigest()[:DIGITS]
