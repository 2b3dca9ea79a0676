"""Run a notebook from top to bottom in a fresh kernel, check it, render it: what `checker report` does.

The notebook given is never written to, unless that is asked for. The executed copy, its Markdown and its page go under
`build/`. While it runs, the cells are counted off and the notebook's own progress bars are shown live; neither ends up
in the outputs.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from checker.check import Report, check
from checker.claims import MEASURES, NOT_SHOWN
from checker.convert import to_markdown
from checker.drift import drifted
from checker.files import write_beside
from checker.kernel import fresh_kernel
from checker.notebook import Unreadable, notebook_of, parse, read
from checker.pages.site import render
from checker.terminal import FAIL, INTERRUPTED, UNREADABLE, LiveLine, show

OF_OTHER_CODE = (
    "has saved outputs that today's code does not bear out, as said under drift. Save them again with --in-place, and"
    " mend what the text says of them."
)


@dataclass(frozen=True)
class Run:
    """What came of one notebook. `error` says in a sentence why it did not run to its end, `note` why Quarto
    did not make its page; "" for nothing to say. `drift` says which key numbers the saved outputs do not allow.
    """

    source: Path
    executed: Path
    page: Path
    report: Report
    seconds: float
    error: str = ""
    note: str = ""
    drift: tuple[str, ...] = ()

    @property
    def saved_again(self) -> bool:
        """Whether the notebook itself now has the fresh outputs."""
        return self.executed == self.source


def run(path: Path, folder: Path, console: Console, *, in_place: bool = False, engine: str = "auto") -> Run:
    """Execute, save the copy, check it and render it.

    Raises:
        Unreadable: the file is not a notebook.
        KeyboardInterrupt: Ctrl-C; nothing was saved.
    """
    started = time.perf_counter()
    console.print(f"[bold]{escape(str(path))}[/bold]")
    content = parse(path)
    saved = notebook_of(content, path)
    bar = LiveLine(console)

    def before_cell(number: int, count: int, title: str) -> None:
        bar.clear()
        console.print(f"  [dim]{number:2d}/{count}[/dim]  {escape(title)}")

    with fresh_kernel(path.parent.resolve()) as kernel:
        from checker.execution import execute  # imported only now: it takes longer than the kernel does to start

        executed, error = execute(content, kernel, bar.write, before_cell)
    bar.clear()
    target = _target(path, folder, in_place and not error)
    write_beside(target, executed)
    report = check(target)
    fresh = read(target)
    write_beside(folder / f"{path.stem}.md", to_markdown(fresh))
    notes: list[str] = []
    page = render(target, folder, engine, report=report, origin=path, say=notes.append)
    seconds = time.perf_counter() - started
    drift = () if error else tuple(drifted(saved, fresh))
    return Run(path, target, page, replace(report, name=str(path)), seconds, error, "".join(notes), drift)


def _target(path: Path, folder: Path, in_place: bool) -> Path:
    """Where the executed notebook is saved: over the given one only when that is asked for."""
    if in_place:
        return path
    target = folder / path.name
    if target.resolve() == path.resolve():
        return folder / f"{path.stem}-executed.ipynb"
    return target


def run_all(
    paths: Iterable[Path],
    folder: Path,
    console: Console,
    *,
    in_place: bool,
    require_claim: bool,
    engine: str = "auto",
) -> int:
    """Run one notebook after the other and say of each what it came to; the exit status of them all."""
    status = 0
    for path in paths:
        try:
            done = run(path, folder, console, in_place=in_place, engine=engine)
        except Unreadable as error:
            console.print(f"[red]error[/red]  {escape(str(path))}: {escape(str(error))}")
            status = UNREADABLE
            continue
        except KeyboardInterrupt:
            console.print(f"\nStopped. {escape(str(path))} is as it was.")
            return INTERRUPTED
        summary(done, console)
        if require_claim and not done.report.shows_its_claim and not done.error:
            missing = NOT_SHOWN.get(done.report.claim, f"claims {done.report.claim}, which nobody can test")
            console.print(f"[red]error[/red]  {escape(str(path))} {escape(missing)}.\n")
        if require_claim and done.drift and not done.saved_again:
            console.print(f"[red]error[/red]  {escape(str(path))} {OF_OTHER_CODE}\n")
        if failed(done, require_claim):
            status = max(status, FAIL)
    return status


def summary(done: Run, console: Console) -> None:
    """What the run came to, in a few lines."""
    report = done.report
    if done.error:
        console.print(f"  [red]stopped[/red]  {escape(done.error)}")
    errors = sum(finding.level == "error" for finding in report.findings)
    order = f"[red]{errors} errors[/red]" if errors else "all in order"
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 2))
    table.add_row("characters", f"{report.characters:,} of {report.limit:,}")
    table.add_row("structure", f"{report.sections_present} of 9 cells, {order}")
    if report.checks:
        table.add_row("checks", f"{report.checks_passed} of {report.checks}")
    if report.claim == MEASURES:
        table.add_row("methods compared", "yes" if report.shows_its_claim else "not found")
    else:
        table.add_row("baseline reward", "not found" if report.baseline is None else f"{report.baseline:.3f}")
        table.add_row("fine-tuned reward", "not found" if report.tuned is None else f"{report.tuned:.3f}")
    table.add_row("time", f"{done.seconds:.0f} s")
    table.add_row("page", escape(str(done.page)))
    console.print(table)
    if done.note:
        console.print(f"  [yellow]note[/yellow]  {escape(done.note)}")
    for sentence in done.drift:
        console.print(f"  [yellow]drift[/yellow]  {escape(sentence)}")
    if report.findings:
        show(report, console)
    console.print()


def failed(done: Run, require_claim: bool) -> bool:
    """Whether this run makes the command fail: it stopped, or the checker found an error.

    Where the claim is required, also when it is not shown, or when the saved outputs are of other code and stay.
    """
    if done.error or done.report.status != "pass":
        return True
    return require_claim and (not done.report.shows_its_claim or (bool(done.drift) and not done.saved_again))
