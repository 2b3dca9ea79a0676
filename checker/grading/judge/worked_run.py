"""The limits of whole notebooks: what the worked one takes on this machine, times a factor.

The worked notebook runs in a box like any other, once for a class and an edition of the course. A slow or busy machine so
gives everybody more time.
"""

import hashlib
import json
from collections.abc import Callable, Collection
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
    """The seconds and the bytes of memory that a worked notebook took. None where it did not come to its end."""

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


def taken_by(
    notebooks: Collection[WorkedNotebook], settings: Settings, place: Path, threads: int, tell: Callable[[str], None]
) -> dict[str, Taken]:
    """Return what worked notebooks take on this machine, by their digests, as far as it is known.

    Args:
        place: the file in which it is kept, so that no later run of a class has other limits.
        threads: how many run at once, as many as will when the class is graded; 0: none runs now.
        tell: is given a sentence on each notebook that was run now.
    """
    known = _read(place)
    new = [worked for worked in notebooks if threads and _key(worked, settings) not in known]
    with ThreadPoolExecutor(threads or 1) as pool:
        for worked, taken in zip(new, pool.map(partial(_taken, settings), new)):
            known[_key(worked, settings)] = taken
            tell(f"{worked.name}: {taken}.")
            write_beside(place, json.dumps({key: [one.seconds, one.memory] for key, one in known.items()}))
    return {worked.digest: known[key] for worked in notebooks if (key := _key(worked, settings)) in known}


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
