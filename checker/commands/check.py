"""`checker check`: what is wrong with notebooks."""

import tempfile
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from checker.checking.batch import check_all
from checker.checking.check import Report
from checker.checking.formats import as_json
from checker.checking.summary import account, summarise
from checker.checking.terminal import FAIL, UNREADABLE, row, show
from checker.commands.options import Ignored, MaxOutput, nothing_found, silenced
from checker.reading import inventory
from checker.reading.convert import MAX_OUTPUT


class Format(StrEnum):
    text = "text"
    json = "json"


def check_command(
    paths: Annotated[
        list[Path], typer.Argument(help="Notebooks, folders, zips, or converted .md and .txt files.", readable=False)
    ],
    ignore: Ignored = (),
    format: Annotated[Format, typer.Option(help="How to say it.")] = Format.text,
    max_output: MaxOutput = MAX_OUTPUT,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="All findings, of every notebook.")] = False,
) -> None:
    """Say what is wrong with notebooks, and exit with 1 when something is (2 when a file cannot be read)."""
    console = Console(highlight=False, soft_wrap=True)
    reports = []
    with tempfile.TemporaryDirectory() as scratch:
        found = inventory.take(paths, Path(scratch))
        several = len(found.entries) > 1
        for report in check_all(found.entries, ignore=silenced(ignore), max_output=max_output):
            reports.append(report)
            if format is Format.text and (verbose or not several):
                show(report, console, verbose)
            elif format is Format.text:
                console.print(row(report))
    if format is not Format.text:
        print(as_json(reports, found))
    elif several:
        summarise(reports, found, console, verbose)
    else:
        account(found, console, verbose)
    if not reports:
        nothing_found(paths)
    raise typer.Exit(exit_status(reports))


def exit_status(reports: list[Report]) -> int:
    """0 when all pass, 2 when a file could not be read, else 1."""
    statuses = {report.status for report in reports}
    if "unreadable" in statuses:
        return UNREADABLE
    return FAIL if "fail" in statuses else 0
