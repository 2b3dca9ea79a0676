"""Run a notebook from top to bottom in a fresh kernel, check it, render it: what `checker report` does.

The notebook given is never written to, unless that is asked for. The executed copy, its Markdown and its page go under
`build/`. While it runs, the cells are counted off and the notebook's own progress bars are shown live; neither ends up
in the outputs.

Two things are looked at beside the checker's rules:

- The *claim* is what the notebook's header promises. By default the notebook learns: its Cell 7 prints a fine-tuned
  reward above the baseline. With `course: claim: measures` it compares methods on held-out data.
- A *drift* is a key number of the fresh run that lies outside what the saved outputs allow. The printed interval is
  taken twice as wide. Saved is `fine-tuned reward 0.81 (95 % interval 0.75 to 0.86)`, so 0.69 to 0.91 is allowed. A
  fresh run that prints 0.64 gives the drift

      "fine-tuned reward" is 0.640; the saved outputs say 0.810 and allow 0.690 to 0.910.

With `--require-claim` a claim that is not shown makes the command fail, and so does a drift that stays in the file.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from checker.checking.check import Report, check
from checker.checking.terminal import FAIL, INTERRUPTED, UNREADABLE, LiveLine, complain, many, show
from checker.outputs.claims import MEASURES, NOT_SHOWN, needs_of
from checker.outputs.drift import drifted
from checker.pages.rendering import render
from checker.reading.convert import to_markdown
from checker.reading.files import folded, refuse_unwritable, write_beside
from checker.reading.inventory import Entry
from checker.reading.layout import SPECS
from checker.reading.notebook import Notebook, Unreadable, notebook_of, parse, read
from checker.reading.text import one_line
from checker.rules.findings import COUNTED
from checker.running.kernel import fresh_kernel
from checker.setup.model import MODELS

NUMBER_OF_CELLS = len(SPECS)  # that a notebook of the course has, the header among them
OUTPUTS_OF_OTHER_CODE = (
    "has saved outputs that today's code does not bear out, as said under drift. Save them again with --in-place, and"
    " mend what the text says of them."
)


@dataclass(frozen=True)
class Run:
    """The result of running one notebook.

    source: the path of the notebook that was given.
    executed: the path of the notebook with the fresh outputs; `source` itself if they were saved in place.
    page: the path of the rendered page.
    report: what the checker says of the executed notebook.
    seconds: on the clock, for all of it.
    error: a sentence on why it did not run to its end; "" if it did.
    note: a sentence on why Quarto did not make the page; "" for nothing to say.
    drift: a sentence for each key number that the saved outputs do not allow; none if the run stopped.
    lacks: what it needs and this machine does not have, as words that follow the notebook's path; "" for nothing.
    """

    source: Path
    executed: Path
    page: Path
    report: Report
    seconds: float
    error: str = ""
    note: str = ""
    drift: tuple[str, ...] = ()
    lacks: str = ""

    @property
    def saved_again(self) -> bool:
        """True if the notebook itself now has the fresh outputs."""
        return self.executed == self.source


@dataclass(frozen=True)
class Failure:
    """A reason why a run makes the command fail.

    sentence: what is wrong, as words that follow the notebook's path.
    in_summary: True if `summary` has already told it.
    """

    sentence: str
    in_summary: bool


def run(
    path: Path, folder: Path, console: Console, *, name: str = "", in_place: bool = False, engine: str = "auto"
) -> Run:
    """Execute a notebook, save the executed one, check it and render it.

    Args:
        path: of the notebook.
        folder: where the executed copy, its Markdown and its page go.
        console: on which the cells are counted off.
        name: how the notebook is called in what is printed; default: its path.
        in_place: save the fresh outputs in the notebook itself, if it runs to its end.
        engine: "quarto", "builtin" or "auto", as for `checker.pages.rendering.render`.

    Raises:
        Unreadable: the file is not a notebook.
        OSError: what it is to write cannot be written; it names the folder, and nothing was run.
        KeyboardInterrupt: Ctrl-C; nothing was saved.
    """
    start = time.perf_counter()
    name = name or str(path)
    content = parse(path)
    # Before it runs and not after its minutes.
    refuse_unwritable(folder)
    if in_place:
        refuse_unwritable(path.parent)
    console.print(f"[bold]{escape(name)}[/bold]")
    saved_notebook = notebook_of(content, path)
    bar = LiveLine(console)

    def before_cell(number: int, count: int, title: str) -> None:
        bar.clear()
        console.print(f"  [dim]{number:2d}/{count}[/dim]  {escape(title)}")

    with fresh_kernel(path.parent.resolve()) as kernel:
        # imported only now: it takes longer than the kernel does to start
        from checker.running.execution import execute

        executed_file, error = execute(content, kernel, bar.write, before_cell)
    bar.clear()
    # The outputs of a run that stopped never replace those that the author has.
    target = _target(path, folder, in_place and not error)
    write_beside(target, executed_file)
    report = check(target)
    fresh_notebook = read(target)
    write_beside(folder / f"{path.stem}.md", to_markdown(fresh_notebook))
    notes: list[str] = []
    page = render(target, folder, engine, report=report, origin=path, say=notes.append)
    return Run(
        source=path,
        executed=target,
        page=page,
        report=replace(report, name=name),
        seconds=time.perf_counter() - start,
        error=error,
        note="".join(notes),
        drift=() if error else tuple(drifted(saved_notebook, fresh_notebook)),
        lacks=lacking(saved_notebook) if error else "",
    )


def _target(path: Path, folder: Path, in_place: bool) -> Path:
    """The path at which the executed notebook is saved: the given one only when that is asked for."""
    if in_place:
        return path
    target = folder / path.name
    if target.resolve() == path.resolve():
        return folder / f"{path.stem}-executed.ipynb"
    return target


def run_all(
    found: Iterable[Entry],
    folder: Path,
    console: Console,
    *,
    in_place: bool,
    require_claim: bool,
    engine: str = "auto",
) -> int:
    """Run one notebook after the other, print the result of each, and return the exit status of them all.

    What a folder or a zip holds goes into the same tree below `folder`.

    Args:
        found: the notebooks.
        require_claim: fail also where the claim is not shown or a drift stays.

    The others are those of `run`.

    Returns:
        0, or FAIL if a run has a failure, or UNREADABLE if a file is not a notebook; INTERRUPTED after Ctrl-C.
    """
    status = 0
    taken: set[str] = set()
    for entry in found:
        name = escape(one_line(entry.name))
        try:
            if entry.error is not None:
                raise entry.error
            place = _free(folder / entry.inside.parent, entry.file.stem, taken)
            result = run(entry.file, place, console, name=entry.name, in_place=in_place, engine=engine)
        except Unreadable as error:
            complain(f"{one_line(entry.name)}: {error}")
            status = UNREADABLE
            continue
        except KeyboardInterrupt:
            console.print(f"\nStopped. {name} is as it was.")
            return INTERRUPTED
        summary(result, console)
        reasons = failures(result, require_claim)
        for failure in reasons:
            if not failure.in_summary:
                console.print(f"[red]error[/red]  {name} {escape(failure.sentence)}\n")
        if reasons:
            status = max(status, FAIL)
    return status


def _free(folder: Path, stem: str, taken: set[str]) -> Path:
    """The folder, or a numbered one in it where another notebook's files have this stem already; it is taken then."""
    free = folder
    number = 1
    while folded(free / stem) in taken:
        number += 1
        free = folder / str(number)
    taken.add(folded(free / stem))
    return free


def lacking(notebook: Notebook, models: Path = MODELS) -> str:
    """The model that a notebook needs and that was not fetched, as words that follow its path; "" for nothing."""
    needs = needs_of(notebook)
    if not needs or (models / needs).is_dir():
        return ""
    return f"needs the model {needs}, which is not fetched: make {needs}."


def failures(result: Run, require_claim: bool) -> list[Failure]:
    """The reasons why a run makes the command fail; [] if it does not.

    A claim and a drift count only where the claim is required. A drift counts no more once the outputs are saved again.
    A claim that is required may be missing where the model that the header asks for is.
    """
    if require_claim and result.lacks:
        return []
    reasons = []
    if result.error:
        reasons.append(Failure(f"stopped: {result.error}", in_summary=True))
    if result.report.status != "pass":
        reasons.append(Failure("does not pass the checker.", in_summary=True))
    if not require_claim:
        return reasons
    if not result.error and not result.report.shows_its_claim:
        reasons.append(Failure(_claim_not_shown(result.report.claim), in_summary=False))
    if result.drift and not result.saved_again:
        reasons.append(Failure(OUTPUTS_OF_OTHER_CODE, in_summary=False))
    return reasons


def _claim_not_shown(claim: str) -> str:
    """The words on a claim that the outputs do not show; on one that is none of `CLAIMS`, that nobody can test it."""
    words = NOT_SHOWN.get(claim, f"claims {claim}, which nobody can test")
    return f"{words}."


def summary(result: Run, console: Console) -> None:
    """Print the result of a run: a table, then a line for each remark, then the checker's findings."""
    if result.error:
        console.print(f"  [red]stopped[/red]  {escape(result.error)}")
    if result.lacks:
        console.print(f"  [yellow]left out[/yellow]  it {escape(result.lacks)}")
    console.print(_table(result))
    if result.note:
        console.print(f"  [yellow]note[/yellow]  {escape(result.note)}")
    for sentence in result.drift:
        console.print(f"  [yellow]drift[/yellow]  {escape(sentence)}")
    if result.report.findings:
        show(result.report, console)
    console.print()


def _table(result: Run) -> Table:
    """The facts of a run, a row each."""
    report = result.report
    counts = [many(count, level) for level in COUNTED if (count := report.count(level))]
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")  # a long path goes on below; by default its end would be cut off
    table.add_row("characters", f"{report.characters:,} of {report.limit:,}")
    table.add_row("structure", f"{report.sections_present} of {NUMBER_OF_CELLS} cells")
    table.add_row("findings", ", ".join(counts) or "none")
    if report.checks:
        table.add_row("checks", f"{report.checks_passed} of {report.checks}")
    if report.claim == MEASURES:
        table.add_row("methods compared", "yes" if report.shows_its_claim else "not found")
    else:
        table.add_row("baseline reward", _reward(report.baseline))
        table.add_row("fine-tuned reward", _reward(report.tuned))
    table.add_row("time", f"{result.seconds:.0f} s")
    table.add_row("page", escape(str(result.page)))
    table.add_row("saved again" if result.saved_again else "executed copy", escape(str(result.executed)))
    return table


def _reward(reward: float | None) -> str:
    """A reward as text, 0.64 as "0.640"."""
    return "not found" if reward is None else f"{reward:.3f}"
