"""The completions of a run, kept to be read: in a file while it trains, and a few of them in a notebook.

    train(..., on_rollout=rollout_log("runs/dots.jsonl"))
    kept = []; train(..., on_rollout=kept.extend); show_rollouts(kept)

The file has a line of JSON for each completion (`shared.experience.completion_records` says what is in it).
`python -m shared.run.rollouts runs/dots.jsonl` makes one page of it, to be searched and compared.
"""

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from numbers import Integral, Real
from operator import itemgetter
from pathlib import Path

from shared.engine.files import written_beside
from shared.tables import show

MOST_A_STEP = 64  # completions; a run of 1,000 steps then fills some 20 MB
FIELDS = {"step", "place", "prompt", "completion", "rewards", "reward", "advantage", "length", "truncated", "columns"}


def rollout_log(
    path: str | os.PathLike, *, every: int = 1, most: int = MOST_A_STEP
) -> Callable[[Sequence[dict]], None]:
    """A function for `on_rollout` that appends a step's completions to the file `path`, complete as soon as it returns.

    A step that the file holds already (a run goes on from an earlier checkpoint, or starts over) takes the place of its
    lines and of all after it. So the file always tells one run from its first step to its last.

    Args:
        every: keep the completions of every so many steps.
        most: completions of a step, in whole groups where one fits. Which prompts are kept is decided by a hash, so
            that a prompt that comes again is kept again.

    Raises:
        ValueError: a number below 1, or `path` is there and holds something else. Nothing is written to it then.
    """
    if every < 1 or most < 1:
        raise ValueError(
            f"Rollouts of every {every} steps and {most} of a step were asked for; both must be at least 1."
        )
    return _Log(Path(path), every, most).add


class _Log:
    """A file of completions, of which only the last step is kept in memory."""

    def __init__(self, path: Path, every: int, most: int):
        self.path = path
        self.every = every
        self.most = most
        finished, self.unfinished = _lines(path)  # a killed writer may have left half a line
        self.last_step = _record(path, len(finished), finished[-1])["step"] if finished else 0

    def add(self, records: Sequence[dict]) -> None:
        step = records[0]["step"]
        if self.unfinished or step <= self.last_step:
            self._drop_from(step)
        if step % self.every:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "ab") as file:
            file.write(b"".join(map(_as_line, few_of_step(records, self.most))))
        self.last_step = step

    def _drop_from(self, step: int) -> None:
        """Write the file anew without this step, those after it and half a line."""
        lines = _lines(self.path)[0]
        earlier = [line for number, line in enumerate(lines, 1) if _record(self.path, number, line)["step"] < step]
        with written_beside(self.path) as file:
            file.write(b"".join(line + b"\n" for line in earlier))
        self.unfinished, self.last_step = False, step - 1


def few_of_step(records: Sequence[dict], most: int) -> list[dict]:
    """At most so many completions of a step: whole groups, those whose prompts have the smallest hash, in their order.

    Where not even one group fits it is the beginning of one.
    """
    groups = groups_of(records)
    order = sorted(range(len(groups)), key=lambda number: _hash(groups[number][0]["prompt"]))
    return [record for group in that_fit(groups, order, most) for record in group[:most]]


def that_fit(groups: Sequence[list[dict]], order: Iterable[int], most: int) -> list[list[dict]]:
    """Whole groups with at most so many completions together, chosen along an order of their numbers; at least one."""
    chosen: list[int] = []
    room = most
    for number in order:
        if len(groups[number]) <= room or not chosen:
            chosen.append(number)
            room -= len(groups[number])
    return [groups[number] for number in sorted(chosen)]


def groups_of(records: Iterable[dict]) -> list[list[dict]]:
    """The completions cut into groups: those that one prompt got at one place of one step."""
    return [list(group) for _, group in groupby(records, itemgetter("step", "place", "prompt"))]


def read_rollouts(path: str | os.PathLike) -> list[dict]:
    """The completions in a file of `rollout_log`, as they were given to it. Half a last line, of a writer, is left out.

    Raises:
        ValueError: there is no such file, it holds no completion, or something else; the sentence names the line.
    """
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"There is no file {path}. A run writes one with --log rollouts:{path}.")
    records = [_record(path, number, line) for number, line in enumerate(_lines(path)[0], 1)]
    if not records:
        raise ValueError(f"{path} holds no completion yet: the first ones come with the first step that is kept.")
    return records


def show_rollouts(
    rollouts: Sequence[dict] | str | os.PathLike, *, step: int | None = None, groups: int = 3, form: str = ".3f"
) -> None:
    """Show the first groups of one step as a table: completions with their rewards, advantages and lengths.

    Args:
        rollouts: records that `on_rollout` was given, or the path of a file of them.
        step: by default the last one that was kept.
        groups: so many of them.
        form: the format of numbers.

    Raises:
        ValueError: there are none of that step; the sentence names those there are.
    """
    records = read_rollouts(rollouts) if isinstance(rollouts, str | os.PathLike) else list(rollouts)
    steps = sorted({record["step"] for record in records})
    if step is None and steps:
        step = steps[-1]
    if step not in steps:
        kept = f"kept are {len(steps)} steps from {steps[0]} to {steps[-1]}" if steps else "none are kept at all"
        raise ValueError(f"There are no completions of step {step}: {kept}.")
    of_step = groups_of(record for record in records if record["step"] == step)
    rows = [_row(record, first=not number) for group in of_step[:groups] for number, record in enumerate(group)]
    if not any(row["cut off"] for row in rows):
        rows = [{name: value for name, value in row.items() if name != "cut off"} for row in rows]
    show(rows, form)


def _row(record: dict, *, first: bool) -> dict:
    """A row of the table; the prompt stands in the first one of its group, single rewards where there are several."""
    parts = record["rewards"] if len(record["rewards"]) > 1 else {}
    return {
        "prompt": record["prompt"] if first else "",
        "completion": record["completion"],
        "cut off": "yes" if record["truncated"] else "",
        **parts,
        "reward": record["reward"],
        "advantage": record["advantage"],
        "tokens": record["length"],
    }


def plain(value: object) -> object:
    """A value as JSON takes it: a number that is not finite as null, what JSON has no word for as its text."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return str(value)


def _as_line(record: dict) -> bytes:
    """A record as a line. Letters stay readable; half a surrogate, which UTF-8 has not, becomes JSON's own \\ud800."""
    return json.dumps(plain(record), ensure_ascii=False).encode("utf-8", errors="backslashreplace") + b"\n"


def _lines(path: Path) -> tuple[list[bytes], bool]:
    """The finished lines of a file, none where there is no file, and whether half a line stands behind them."""
    *finished, rest = path.read_bytes().split(b"\n") if path.exists() else [b""]
    return finished, bool(rest)


def _record(path: Path, number: int, line: bytes) -> dict:
    """The record in a line. ValueError, naming the line, when it is none."""
    try:
        record = json.loads(line)
    except ValueError:
        record = None
    if not isinstance(record, dict) or not FIELDS <= record.keys():
        raise ValueError(
            f"Line {number} of {path} is no completion of a run: choose a file that --log rollouts:FILE or rollout_log "
            "wrote, or another name for a new one."
        )
    return record


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).digest()
