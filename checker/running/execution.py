"""Executing a notebook from top to bottom in a kernel, and keeping of its outputs what is worth keeping."""

import asyncio
import json
import re
import signal
from collections.abc import Callable
from contextlib import asynccontextmanager, suppress

import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from checker.reading.convert import plain
from checker.reading.layout import place_in
from checker.reading.notebook import joined, notebook_of
from checker.reading.text import one_line

CELL_TIME_LIMIT = 1800  # seconds; a worked notebook needs about 120 in all
MOST_OF_AN_ERROR = 1_000  # characters that are told of an error's own words; the page has all of them
WIDGET = "application/vnd.jupyter.widget-view+json"  # an output that only a browser with a kernel can show


class ShowingClient(NotebookClient):
    """Executes a notebook, shows what is written to stderr while it runs, and stores only what is worth keeping.

    Progress bars and warnings are for the person who waits: they go to `live` and not into the outputs.
    """

    live: Callable[[str], None] = staticmethod(lambda text: None)
    interrupted = False

    @asynccontextmanager
    async def async_setup_kernel(self, **options):
        """With a Ctrl-C that cancels the run. nbclient's own would end the kernel a second time beside its end."""
        running = asyncio.current_task()

        def interrupt() -> None:
            self.interrupted = True
            running.cancel()

        async with super().async_setup_kernel(**options):
            with suppress(RuntimeError):  # there are no handlers on Windows, where Ctrl-C is an exception at once
                asyncio.get_running_loop().add_signal_handler(signal.SIGINT, interrupt)
            yield

    def output(self, outs, msg, display_id, cell_index):
        content = msg["content"]
        if msg["msg_type"] == "stream" and content["name"] == "stderr":
            self.live(content["text"])
            return None
        if WIDGET in content.get("data", {}):
            return None
        return super().output(outs, msg, display_id, cell_index)


def execute(
    content: dict,
    kernel: AsyncKernelManager,
    live: Callable[[str], None],
    before_cell: Callable[[int, int, str], None],
) -> tuple[str, str]:
    """The notebook's file with fresh outputs, and a sentence on what stopped it ("" when nothing did).

    Args:
        content: the notebook's JSON.
        kernel: one that was started for it; it is ended here.
        live: called with text of the notebook's progress bars as it comes.
        before_cell: called with the number of a code cell, how many there are, and the cell's first line.

    Raises:
        KeyboardInterrupt: Ctrl-C.
    """
    notebook = nbformat.reads(json.dumps(_complete(content)), as_version=4)
    code_cells = [index for index, cell in enumerate(notebook.cells) if cell.cell_type == "code"]

    def announce(cell, cell_index):
        if cell_index in code_cells:
            before_cell(code_cells.index(cell_index) + 1, len(code_cells), _first_line(cell.source))

    client = ShowingClient(
        notebook,
        km=kernel,
        timeout=CELL_TIME_LIMIT,
        on_cell_start=announce,
        store_widget_state=False,
        record_timing=False,
    )
    client.live = live
    error = _run(client)
    return nbformat.writes(_cleaned(notebook)) + "\n", error


def _complete(content: dict) -> dict:
    """The notebook's JSON with all that nbformat asks for and other programs leave out, and without outputs."""
    minor = content.get("nbformat_minor")
    minor = minor if isinstance(minor, int) else 5
    cells = [_complete_cell(cell, f"cell-{number}", minor >= 5) for number, cell in enumerate(content["cells"])]
    return content | {"nbformat_minor": minor, "cells": cells, "metadata": _dict_or_empty(content.get("metadata"))}


def _complete_cell(cell: dict, name: str, with_id: bool) -> dict:
    """One cell so. A kind that nobody knows is raw; `name` is the id of a cell that has none."""
    kind = cell.get("cell_type")
    complete = cell | {
        "cell_type": kind if kind in ("code", "markdown") else "raw",
        "metadata": _dict_or_empty(cell.get("metadata")),
        "source": joined(cell.get("source")),
    }
    if with_id:
        complete.setdefault("id", name)
    return complete | {"outputs": [], "execution_count": None} if kind == "code" else complete


def _dict_or_empty(value: object) -> dict:
    return value if isinstance(value, dict) else {}


def _run(client: ShowingClient) -> str:
    """Execute all cells, and end the kernel; a sentence on what stopped them, "" when nothing did."""
    try:
        client.execute(cleanup_kc=True)
    except CellExecutionError:
        return _what_stopped(client.nb)
    except CellTimeoutError:
        return f"A cell ran for more than {CELL_TIME_LIMIT // 60} minutes and was stopped."
    except DeadKernelError:  # which nbclient takes a run for that was cancelled in a cell
        if client.interrupted:
            raise KeyboardInterrupt from None
        return "The kernel died. Most often the machine ran out of memory: try a smaller model or batch."
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    except AssertionError:
        if client.km is not None:
            raise
        # The signal came before the first cell: nbclient caught it, ended the kernel, and then stumbled over that.
        raise KeyboardInterrupt from None
    return ""


def _first_line(source: str) -> str:
    """The first line that says something, below Quarto's `#|` options."""
    lines = (line.strip() for line in source.splitlines())
    return next((line.strip("# ") for line in lines if line and not line.startswith("#|")), "")


def _what_stopped(notebook: nbformat.NotebookNode) -> str:
    """The cell, the error and the line of a failed run, as a sentence."""
    for index, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                cell_named = place_in(notebook_of(notebook), index)
                if output.ename == "StdinNotImplementedError":
                    return (
                        f"{cell_named} asks for input, and here is nobody who types it: write the value into the cell."
                    )
                said = one_line(f"{output.ename}: {output.evalue}")[:MOST_OF_AN_ERROR]
                return f"{cell_named} stopped with {said}{_where(output.traceback)}"
    return "A cell stopped with an error."


def _where(traceback: list[str]) -> str:
    """The line that a traceback points at, as the end of a sentence; "" when it points at none of the notebook's.

    A traceback quotes each frame; the last arrow within the notebook's own cells is where to look.
    """
    frames = re.split(r"^(?=File |Cell )", plain("\n".join(traceback)), flags=re.MULTILINE)
    own = "".join(frame for frame in frames if frame.startswith("Cell "))
    arrows = re.findall(r"^-+> (\d+) +(.*)$", own, re.MULTILINE)
    if not arrows:
        return ""
    number, line = arrows[-1]
    return f" in line {number}, `{line.strip()}`"


def _cleaned(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Without what differs from machine to machine, and with what was printed in one go in one output."""
    notebook.metadata.pop("widgets", None)
    notebook.metadata.get("language_info", {}).pop("version", None)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = _joined(cell.outputs)
    return notebook


def _joined(outputs: list) -> list:
    """The outputs, with what follows on the same stream appended to what precedes it."""
    joined = []
    for output in outputs:
        before = joined[-1] if joined else None
        streams = before is not None and before.output_type == output.output_type == "stream"
        if streams and before.name == output.name:
            before.text += output.text
        else:
            joined.append(output)
    return joined
