"""Many notebooks at once: their reports, worked out on all cores."""

import multiprocessing
import os
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from importlib import import_module
from itertools import chain, islice

from checker.checking.check import Report, check, unreadable
from checker.reading.inventory import Entry
from checker.rules import RULES, Rule

FEW = 24  # notebooks for which starting further processes takes longer than checking
OURS = frozenset(rule.code for rule in RULES)


def check_all(found: Iterable[Entry], **options) -> Iterator[Report]:
    """The report on each entry, in order; `options` are those of `check`."""
    found = iter(found)
    first = list(islice(found, FEW))
    one = partial(_check_one, **options)
    if len(first) < FEW or cores() == 1 or _alone():
        yield from map(one, chain(first, found))
        return
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    added = [(rule.check.__module__, rule.code) for rule in _added()]
    everything = [*first, *found]
    done = 0
    try:
        with ProcessPoolExecutor(cores(), initializer=_with_rules, initargs=(added,)) as pool:
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


def _added() -> list[Rule]:
    """The rules that a course has appended to ours."""
    return [rule for rule in RULES if rule.code not in OURS]


def _alone() -> bool:
    """True if other processes would lack a course's rules: they begin afresh and cannot import these by name."""
    if multiprocessing.get_start_method() == "fork":
        return False
    modules = [(rule, sys.modules.get(rule.check.__module__)) for rule in _added()]
    return any(module is None or rule not in vars(module).values() for rule, module in modules)


def _with_rules(added: list[tuple[str, str]]) -> None:
    """Give another process the course's own rules, (module, code), which their modules hold."""
    for module, code in added:
        held = vars(import_module(module)).values()  # which may append the rule itself
        if not any(rule.code == code for rule in RULES):
            RULES.append(next(value for value in held if isinstance(value, Rule) and value.code == code))
