"""Run a notebook from top to bottom in a fresh kernel, check it, render it: what `make report` does.

    python -m checker.report notebooks/dots.ipynb

The notebook given is never written to. The executed copy, its Markdown and its page go under `build/`. While it
runs, the cells are counted off and the notebook's own progress bars are shown live; neither ends up in the outputs.
"""

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from checker.__main__ import show
from checker.check import Report, check
from checker.convert import plain, to_markdown
from checker.files import write_beside
from checker.notebook import Unreadable, parse, read
from checker.pages.site import render

CELL_TIME_LIMIT = 1800  # seconds; a worked notebook needs about 120 in all
WIDGET = "application/vnd.jupyter.widget-view+json"  # an output that only a browser with a kernel can show
# Run by the kernel before the first cell: with ipywidgets installed, tqdm.auto would draw bars that a terminal cannot
# show. An assignment to an attribute, so that no name is left behind that a notebook forgot to import.
TEXT_BARS = "__import__('tqdm.auto').auto.tqdm = __import__('tqdm').tqdm"


@dataclass(frozen=True)
class Run:
    """What came of one notebook. `error` says in a sentence why it did not run to its end, "" when it did."""

    source: Path
    executed: Path
    page: Path | None
    report: Report
    seconds: float
    error: str = ""

    @property
    def learned(self) -> bool:
        """Whether the notebook prints a fine-tuned reward above its baseline."""
        return (
            None not in (self.report.baseline, self.report.tuned) and self.report.tuned > self.report.baseline
        )


class ShowingClient(NotebookClient):
    """Executes a notebook, shows what is written to stderr while it runs, and stores only what is worth keeping.

    Progress bars and warnings are for the person who waits: they go to `live` and not into the outputs.
    """

    live: Callable[[str], None] = staticmethod(lambda text: None)

    def output(self, outs, msg, display_id, cell_index):
        content = msg["content"]
        if msg["msg_type"] == "stream" and content["name"] == "stderr":
            self.live(content["text"])
            return None
        if WIDGET in content.get("data", {}):
            return None
        return super().output(outs, msg, display_id, cell_index)


def execute(
    path: Path, live: Callable[[str], None], before_cell: Callable[[int, int, str], None]
) -> tuple[nbformat.NotebookNode, str]:
    """The notebook with fresh outputs, and a sentence on what stopped it ("" when nothing did).

    Args:
        live: called with text of the notebook's progress bars as it comes.
        before_cell: called with the number of a code cell, how many there are, and the cell's first line.

    Raises:
        Unreadable: the file is not a notebook.
        KeyboardInterrupt: Ctrl-C.
    """
    notebook = nbformat.reads(json.dumps(parse(path)), as_version=4)
    code_cells = [index for index, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
    for index in code_cells:
        notebook.cells[index].outputs = []
        notebook.cells[index].execution_count = None

    def starting(cell, cell_index):
        if cell_index in code_cells:
            before_cell(code_cells.index(cell_index) + 1, len(code_cells), _first_line(cell.source))

    client = ShowingClient(
        notebook,
        timeout=CELL_TIME_LIMIT,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent.resolve())}},
        on_cell_start=starting,
        store_widget_state=False,
        record_timing=False,
        extra_arguments=["--IPKernelApp.log_level=50", f"--IPKernelApp.exec_lines={TEXT_BARS}"],
    )
    client.live = live
    try:
        with _environment():
            client.execute()
    except CellExecutionError:
        return notebook, _what_stopped(notebook)
    except CellTimeoutError:
        return notebook, f"A cell ran for more than {CELL_TIME_LIMIT // 60} minutes and was stopped."
    except DeadKernelError:
        return (
            notebook,
            "The kernel died. Most often the machine ran out of memory: try a smaller model or batch.",
        )
    except AssertionError:
        if client.km is not None:
            raise
        raise KeyboardInterrupt from None  # nbclient caught the signal, ended the kernel, and then stumbled over that
    return notebook, ""


# Of the kernel's process: few threads, no tokenizer forks, plain progress bars, no chatter. What is set already stays.
ENVIRONMENT = {
    "OMP_NUM_THREADS": "2",
    "OMP_WAIT_POLICY": "PASSIVE",  # spinning threads make each other many times slower when a core is busy
    "TOKENIZERS_PARALLELISM": "false",
    "TRANSFORMERS_VERBOSITY": "error",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "PYTHONWARNINGS": "ignore",
}


@contextmanager
def _environment() -> Iterator[None]:
    """The settings of `ENVIRONMENT`, and the project on the path, while the block runs."""
    before = dict(os.environ)
    os.environ.update(ENVIRONMENT | before)
    root = str(Path(__file__).resolve().parent.parent)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (root, before.get("PYTHONPATH", ""))))
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _first_line(source: str) -> str:
    return next((line.strip("# ").strip() for line in source.splitlines() if line.strip()), "")


def _what_stopped(notebook) -> str:
    """The cell, the error and the line of a failed run, as a sentence."""
    for index, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                # The traceback quotes each frame; the last arrow within the notebook's own cells is where to look.
                own = re.split(r"^(?=File |Cell )", plain("\n".join(output.traceback)), flags=re.MULTILINE)
                arrows = re.findall(
                    r"^-+> (\d+) +(.*)$", "".join(f for f in own if f.startswith("Cell ")), re.MULTILINE
                )
                where = f" in line {arrows[-1][0]}, `{arrows[-1][1].strip()}`" if arrows else ""
                return f"Cell {index} of the file ({_first_line(cell.source)}) stopped with {output.ename}: {output.evalue}{where}"
    return "A cell stopped with an error."


def run(path: Path, folder: Path, console: Console, *, in_place: bool = False) -> Run:
    """Execute, save the copy, check it and render it.

    Raises:
        Unreadable: the file is not a notebook.
    """
    started = time.perf_counter()
    console.print(f"[bold]{escape(str(path))}[/bold]")
    bar = _LiveLine(console)

    def before_cell(number: int, count: int, title: str) -> None:
        bar.clear()
        console.print(f"  [dim]{number:2d}/{count}[/dim]  {escape(title)}")

    notebook, error = execute(path, bar.write, before_cell)
    bar.clear()
    target = path if in_place and not error else folder / path.name
    if not in_place and target.resolve() == path.resolve():
        target = folder / f"{path.stem}-executed.ipynb"
    write_beside(target, nbformat.writes(_cleaned(notebook)) + "\n")
    report = check(target)
    write_beside(folder / f"{path.stem}.md", to_markdown(read(target)))
    page = render(target, folder, report=report)
    return Run(path, target, page, replace(report, name=str(path)), time.perf_counter() - started, error)


def _cleaned(notebook):
    """Without what differs from machine to machine, and with what was printed in one go in one output."""
    notebook.metadata.pop("widgets", None)
    notebook.metadata.get("language_info", {}).pop("version", None)
    for cell in notebook.cells:
        outputs = []
        for output in cell.get("outputs", []):
            if (
                outputs
                and output.output_type == outputs[-1].output_type == "stream"
                and output.name == outputs[-1].name
            ):
                outputs[-1].text += output.text
            else:
                outputs.append(output)
        if cell.cell_type == "code":
            cell.outputs = outputs
    return notebook


class _LiveLine:
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


def summary(done: Run, console: Console) -> None:
    """What the run came to, in a few lines."""
    report = done.report
    if done.error:
        console.print(f"  [red]stopped[/red]  {escape(done.error)}")
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 2))
    table.add_row("characters", f"{report.characters:,} of {report.limit:,}")
    errors = [finding for finding in report.findings if finding.level == "error"]
    table.add_row(
        "structure",
        f"{report.sections_present} of 9 cells"
        + (f", [red]{len(errors)} errors[/red]" if errors else ", all in order"),
    )
    table.add_row("baseline reward", "not found" if report.baseline is None else f"{report.baseline:.3f}")
    table.add_row("fine-tuned reward", "not found" if report.tuned is None else f"{report.tuned:.3f}")
    table.add_row("time", f"{done.seconds:.0f} s")
    table.add_row("page", escape(str(done.page)))
    console.print(table)
    if report.findings:
        show(report, console)
    console.print()


def failed(done: Run, require_learning: bool) -> bool:
    """Whether this run makes the command fail: it stopped, the checker found an error, or it did not learn."""
    return bool(done.error) or done.report.status != "pass" or (require_learning and not done.learned)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m checker.report",
        description="Run notebooks in a fresh kernel, check them and render them to HTML.",
    )
    parser.add_argument(
        "notebooks", nargs="+", type=Path, metavar="NOTEBOOK", help="is read only, unless --in-place is given"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("build"),
        help="folder for the executed copy and the page (default: build)",
    )
    parser.add_argument(
        "--in-place",
        action="store_true",
        help="save the fresh outputs in the notebook itself when it ran to its end",
    )
    parser.add_argument(
        "--require-learning",
        action="store_true",
        help="fail unless the fine-tuned reward is above the baseline",
    )
    options = parser.parse_args(arguments)
    console, status = Console(highlight=False, soft_wrap=True), 0
    for path in options.notebooks:
        try:
            done = run(path, options.out, console, in_place=options.in_place)
        except Unreadable as error:
            console.print(f"[red]error[/red]  {escape(str(path))}: {escape(str(error))}")
            status = 2
            continue
        except KeyboardInterrupt:
            console.print(f"\nStopped. {escape(str(path))} is as it was.")
            return 130
        summary(done, console)
        if options.require_learning and not done.learned and not done.error:
            console.print(
                f"[red]error[/red]  {escape(str(path))} does not show a fine-tuned reward above its baseline.\n"
            )
        if failed(done, options.require_learning):
            status = max(status, 1)
    return status


if __name__ == "__main__":
    sys.exit(main())
