"""The words of the commands in a terminal, and the statuses they exit with."""

import sys

from rich.console import Console
from rich.markup import escape

from checker.checking.check import Report
from checker.reading.convert import plain
from checker.rules.findings import Finding, alike, further_places

FAIL = 1  # a notebook does not pass
UNREADABLE = 2  # a file cannot be read, or the command was called wrongly
INTERRUPTED = 130  # Ctrl-C, as shells have it
MOST_LINES = 26  # of findings about one notebook: with the verdict and the bars they fit a screen
NAMED = 3  # further places of one finding that are named
MORE = " ... (--verbose names them all)"
INDENT = " " * 15
MARKS = {
    "error": "[red]error[/red]  ",
    "warning": "[yellow]warning[/yellow]",
    "note": "[cyan]note[/cyan]   ",
    "question": "[cyan]asks[/cyan]   ",
}
VERDICTS = {
    "pass": "[bold green]pass[/bold green]",
    "fail": "[bold red]fail[/bold red]",
    "unreadable": "[bold red]unreadable[/bold red]",
}


def show(report: Report, console: Console, verbose: bool = False) -> None:
    """The verdict line and, under it, the findings: all of them, or as many as fit a screen, the gravest first."""
    console.print(headline(report))
    if report.outputs_cut:
        console.print(
            f"  [dim]{many(report.outputs_cut, 'output')} cut in the text that is handed in, {report.characters_cut:,}"
            " characters less[/dim]"
        )
    room = None if verbose else MOST_LINES
    shown = 0
    for findings in _told_together(report, verbose):
        lines = _lines(findings)
        if room is not None and shown and len(lines) > room:
            break
        room = None if room is None else room - len(lines)
        shown += len(findings)
        console.print("\n".join(lines))
    if rest := len(report.findings) - shown:
        console.print(f"  and {many(rest, 'further finding')}: --verbose shows them")
    for bar in report.where_they_went:
        console.print(f"  [dim]{escape(bar)}[/dim]")


def headline(report: Report) -> str:
    """The verdict and the facts in one line."""
    line = f"{VERDICTS[report.status]}  {escape(report.name)}"
    if report.status == "unreadable":
        return line
    return f"{line}  [dim]{', '.join(report.facts)}[/dim]"


def row(report: Report) -> str:
    """A notebook among many: the verdict, its characters and how much was found, in one line."""
    if report.status == "unreadable":
        return f"{VERDICTS[report.status]}  {escape(report.name)}  {escape(report.findings[0].advice)}"
    facts = [f"{report.characters:,} of {report.limit:,} characters"]
    facts += [many(count, level) for level in ("error", "warning") if (count := report.count(level))]
    if report.checks:
        facts.append(f"checks {report.checks_passed} of {report.checks}")
    return f"{VERDICTS[report.status]}  {escape(report.name)}  [dim]{', '.join(facts)}[/dim]"


def many(count: int, what: str) -> str:
    """A number of things, "1 error" or "2 errors"."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _told_together(report: Report, verbose: bool) -> list[list[Finding]]:
    """The findings, the gravest first; those of one code together unless each is to be told."""
    together = alike(report.findings)
    return [[finding] for findings in together for finding in findings] if verbose else together


def _lines(findings: list[Finding]) -> list[str]:
    """The first of these findings with its advice, and where the others are."""
    first = findings[0]
    where = f"{escape(first.place)}: " if first.place else ""
    advice = escape(first.advice).replace("\n", "\n" + INDENT)
    lines = [f"  {MARKS[first.level]} [bold]{first.code}[/bold] {where}{escape(first.sentence)}"]
    others = further_places(findings)
    if len(findings) > 1:
        named = f": {'; '.join(map(escape, others[:NAMED]))}{MORE if len(others) > NAMED else ''}" if others else ""
        lines.append(f"{INDENT}and {many(len(findings) - 1, 'other')} like it{named}")
    return [*lines, *f"{INDENT}{advice}".split("\n")]


def complain(sentence: str) -> None:
    """Say on stderr what is wrong."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(f"[red]error[/red]  {escape(sentence)}")


def note(sentence: str) -> None:
    """Say on stderr what is worth knowing, and is nobody's mistake."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(f"[cyan]note[/cyan]  {escape(sentence)}")


def warn(sentence: str) -> None:
    """Say on stderr what may be wrong."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(f"[yellow]warning[/yellow]  {escape(sentence)}")


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
