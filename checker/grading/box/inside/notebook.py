"""Runs a whole notebook inside a box and sends what each cell puts out, so that little is lost when the box is ended.

nbclient and the kernel talk over the box's own loopback. Outputs are counted here: a loop that prints without end is
stopped when it has printed enough, not when the memory is full.
"""

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import nbformat
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from checker.grading.box.inside import BEGUN
from checker.running.execution import ShowingClient
from checker.running.kernel import fresh_kernel

LAST_SECONDS = 5  # kept back from the box's time, to end the kernel and to send what there is


class CountingClient(ShowingClient):
    """Executes a notebook, and kills its kernel when the outputs are larger than `left` characters."""

    left: int = 0

    def output(self, outs, msg, display_id, cell_index):
        self.left -= len(json.dumps(msg["content"], default=str))
        if self.left < 0:
            os.kill(self.km.provisioner.pid, signal.SIGKILL)
            return None
        return super().output(outs, msg, display_id, cell_index)


def run(job: dict, send: Callable[[dict], None]) -> None:
    """Send {"cell": index} before each code cell, {"cell": index, "outputs": [...]} after it, and {"ended": why}.

    job: "begun", when the box began, by the clock of `time.monotonic`: to import what runs a notebook takes a while too;
        "modules", names and texts of what lies beside the notebook.
    """
    notebook = nbformat.from_dict(job["notebook"])
    deadline = job["begun"] + job["limits"]["wall"] - LAST_SECONDS
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = []
            cell.execution_count = None
    with fresh_kernel(Path.cwd()) as kernel:
        client = CountingClient(
            notebook,
            km=kernel,
            timeout_func=lambda cell: max(1, int(deadline - time.monotonic())),
            on_cell_start=lambda cell, cell_index: send({"cell": cell_index}),
            store_widget_state=False,
            record_timing=False,
        )
        client.left = job["limits"]["printed"]
        ended = _executed(client, send, job["modules"])
    send({"ended": ended})


def _executed(client: CountingClient, send: Callable[[dict], None], modules: list[list[str]]) -> str:
    """Execute the cells in order; what ended it early, "" when nothing did."""
    with client.setup_kernel():
        send({BEGUN: True})
        for name, text in modules:  # only now: none of them is imported by what starts the kernel
            Path(name).write_text(text, encoding="utf-8")
        for index, cell in enumerate(client.nb.cells):
            ended = ""
            try:
                client.execute_cell(cell, index)
            except CellExecutionError:
                ended = "an error"
            except CellTimeoutError:
                ended = "the time"
            except DeadKernelError:
                ended = "the kernel died" if client.left >= 0 else "too much printed"
            if cell.cell_type == "code":
                send({"cell": index, "outputs": cell.outputs, "count": cell.execution_count})
            if ended:
                return ended
    return ""
