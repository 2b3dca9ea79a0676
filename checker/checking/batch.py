"""Many notebooks at once: their reports, worked out on all cores."""

import os
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, islice

from checker.checking.check import Report, check, unreadable
from checker.reading.inventory import Entry

FEW = 24  # notebooks for which starting further processes takes longer than checking


def check_all(found: Iterable[Entry], **options) -> Iterator[Report]:
    """The report on each entry, in order; `options` are those of `check`."""
    found = iter(found)
    first = list(islice(found, FEW))
    one = partial(_check_one, **options)
    if len(first) < FEW or cores() == 1:
        yield from map(one, chain(first, found))
        return
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    everything = [*first, *found]
    done = 0
    try:
        with ProcessPoolExecutor(cores()) as pool:
            for report in pool.map(one, everything, chunksize=8):
                yield report
                done += 1
    except BrokenProcessPool:  # a process was killed, for want of memory most likely: the rest one by one
        yield from map(one, everything[done:])


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _check_one(entry: Entry, **options) -> Report:
    if entry.error is not None:
        return unreadable(entry.name, entry.error)
    return check(entry.file, name=entry.name, beside=entry.beside, **options)
