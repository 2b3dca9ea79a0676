"""Logs that can be read while training goes on: a callback for `on_step` of every `train`.

    train(..., on_step=csv_log("runs/dots.csv"))              # and in another terminal: tail -F runs/dots.csv

A callback is any function of one record (a dict of `step` and the step's metrics), so that other loggers need no code
here. TensorBoard, after `pip install tensorboard` and `writer = torch.utils.tensorboard.SummaryWriter("runs/dots")`:

    on_step=lambda record: [writer.add_scalar(name, value, record["step"]) for name, value in record.items()]

trackio, after `pip install trackio` and `trackio.init(project="dots")`; `trackio.finish()` ends it:

    on_step=lambda record: trackio.log({k: v for k, v in record.items() if k != "step"}, step=record["step"])
"""

import csv
import io
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from shared.engine.files import written_beside

Record = dict[str, float]


def csv_log(path: str | os.PathLike) -> Callable[[Record], None]:
    """A callback that appends each record to the table `path`, one line a step, complete as soon as it returns.

    A metric that comes later, as one that is measured every tenth step, gets a column when it first comes. A step that
    the table holds already (a run goes on from an earlier checkpoint, or starts over) replaces its line and all lines
    after it, so that the table always tells one run from its first step to its last. For both the table is written anew
    beside and renamed: follow it with `tail -F`, which looks for the name again.

    Raises:
        ValueError: `path` is there and is no table of steps. Nothing is written to it.
    """
    return _Table(Path(path)).add


class _Table:
    """A table on the disk, of which only the columns and the last step are kept in memory."""

    def __init__(self, path: Path):
        self.path = path
        self.columns, lines = _read(path)
        self.last_step = int(lines[-1]["step"]) if lines else 0
        # A killed writer may have left half a line, which the next one would be appended to.
        self.unfinished = path.exists() and not path.read_bytes().endswith(b"\n")

    def add(self, record: Record) -> None:
        new_columns = [name for name in record if name not in self.columns]
        if new_columns or self.unfinished or record["step"] <= self.last_step:
            _, lines = _read(self.path)
            self.columns += new_columns
            self._write_anew([line for line in lines if int(line["step"]) < record["step"]])
            self.unfinished = False
        with open(self.path, "a", newline="", encoding="utf-8") as file:
            file.write(_as_csv([record], self.columns))
        self.last_step = record["step"]

    def _write_anew(self, lines: list[dict[str, str]]) -> None:
        """The header with all columns, and these lines."""
        header = dict(zip(self.columns, self.columns, strict=True))
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with written_beside(self.path) as file:
            file.write(_as_csv([header, *lines], self.columns).encode())


def _as_csv(lines: Iterable[dict], columns: list[str]) -> str:
    text = io.StringIO()
    csv.DictWriter(text, columns, lineterminator="\n").writerows(lines)
    return text.getvalue()


def _read(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    """The columns and the finished lines of a table, as texts; none of both where there is no file or an empty one."""
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    if not text:
        return [], []
    finished = text[: text.rfind("\n") + 1]
    reader = csv.DictReader(io.StringIO(finished))
    lines = list(reader)
    columns = list(reader.fieldnames or [])
    steps = [str(line.get("step")) for line in lines]
    if "step" not in columns or not all(step.isdecimal() for step in steps):
        raise ValueError(
            f"{path} is there and is no table of training steps. Choose another path, or move that file away."
        )
    return columns, lines
