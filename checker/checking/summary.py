"""A folder on one screen: verdicts, the most frequent findings, and the files that were not looked at."""

from collections import Counter

from rich.console import Console
from rich.markup import escape

from checker.checking.check import Report
from checker.checking.terminal import MARKS, many
from checker.reading.inventory import Inventory
from checker.reading.text import one_line
from checker.rules import READING, RULES

MOST_CODES = 8  # findings that are counted
MOST_NAMES = 6  # files that are named


def summarise(reports: list[Report], inventory: Inventory, console: Console, verbose: bool) -> None:
    """Print the summary of many reports."""
    passed = sum(report.status == "pass" for report in reports)
    unreadable = sum(report.status == "unreadable" for report in reports)
    said = f", {unreadable} cannot be read" if unreadable else ""
    console.print(f"\n[bold]{passed} of {len(reports)} notebooks pass[/bold]{said}.")
    _frequent(reports, console)
    account(inventory, console, verbose)


def _frequent(reports: list[Report], console: Console) -> None:
    """The number of notebooks that have each finding, the most frequent first, errors before the rest, questions last."""
    found = Counter(kind for report in reports for kind in {(f.level, f.code) for f in report.findings})
    names = {rule.code: rule.name for rule in (READING, *RULES)}
    ranked = sorted(found, key=lambda kind: (list(MARKS).index(kind[0]), -found[kind], kind))
    for level, code in ranked[:MOST_CODES]:
        console.print(f"  {found[level, code]:4d}  {MARKS[level]} [bold]{code}[/bold] {escape(names[code])}")
    if (rest := len(ranked) - MOST_CODES) > 0:
        console.print(f"        and {many(rest, 'further kind')}; `checker explain` lists them")


def account(inventory: Inventory, console: Console, verbose: bool = False) -> None:
    """Print the files that were not looked at and those handed in twice: their number, and their names where few."""
    reasons: dict[str, list[str]] = {}
    for skipped in inventory.skipped:
        reasons.setdefault(skipped.reason, []).append(skipped.name)
    for reason, names in sorted(reasons.items(), key=lambda pair: -len(pair[1])):
        console.print(f"[dim]not checked, {reason}: {_listed(names, verbose)}[/dim]")
    if inventory.twins:
        pairs = [f"{name} = {first}" for name, first in inventory.twins.items()]
        console.print(f"[dim]the same bytes twice: {_listed(pairs, verbose)}[/dim]")


def _listed(names: list[str], verbose: bool) -> str:
    shown = names if verbose else names[:MOST_NAMES]
    more = "" if len(shown) == len(names) else f", and {len(names) - len(shown):,} more (--verbose names them)"
    return escape(one_line(f"{len(names):,} ({', '.join(shown)}{more})"))
