"""What the commands say in a terminal, and the statuses they exit with."""

import sys

from rich.console import Console
from rich.markup import escape

from checker.check import Report
from checker.convert import plain

FAIL = 1  # a notebook does not pass
UNREADABLE = 2  # a file cannot be read, or the command was called wrongly
INTERRUPTED = 130  # Ctrl-C, as shells have it
MARKS = {"error": "[red]error[/red]  ", "warning": "[yellow]warning[/yellow]", "note": "[cyan]note[/cyan]   "}
VERDICTS = {
    "pass": "[bold green]pass[/bold green]",
    "fail": "[bold red]fail[/bold red]",
    "unreadable": "[bold red]unreadable[/bold red]",
}


def show(report: Report, console: Console) -> None:
    """The verdict line and, under it, the findings."""
    line = f"{VERDICTS[report.status]}  {escape(report.name)}"
    if report.status != "unreadable":
        line += f"  [dim]{report.characters:,} of {report.limit:,} characters"
        if report.sections_present:
            line += f", {report.sections_present} of 9 cells"
        if report.baseline is not None and report.tuned is not None:
            line += f", reward {report.baseline:.3f} to {report.tuned:.3f}"
        line += "[/dim]"
    console.print(line)
    for finding in report.findings:
        where = "" if finding.cell is None else f"cell {finding.cell}: "
        advice = escape(finding.advice).replace("\n", "\n                 ")
        console.print(
            f"  {MARKS[finding.level]} [bold]{finding.code}[/bold] {where}{escape(finding.found)}.\n"
            f"               {advice}"
        )
    for bar in report.where_they_went:
        console.print(f"  [dim]{escape(bar)}[/dim]")


def complain(sentence: str) -> None:
    """Say on stderr what is wrong."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(f"[red]error[/red]  {escape(sentence)}")


def remark(sentence: str) -> None:
    """Say on stderr what is worth knowing and no error."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(f"[yellow]note[/yellow]   {escape(sentence)}")


class LiveLine:
    """One line of the terminal that a progress bar rewrites; nothing at all when the output is not a terminal."""

    def __init__(self, console: Console):
        self.shown = console.is_terminal
        self.width = console.width - 1

    def write(self, text: str) -> None:
        line = plain(text).strip().splitlines()
        if self.shown and line:
            sys.stdout.write("\r\x1b[2K" + line[-1][: self.width])
            sys.stdout.flush()

    def clear(self) -> None:
        if self.shown:
            sys.stdout.write("\r\x1b[2K")
            sys.stdout.flush()
