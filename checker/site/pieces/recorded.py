"""Runs that were recorded, to be looked at step by step; without scripts each shows one step."""

import json
from pathlib import Path

from checker.pages.templates import style, template
from checker.reading.notebook import Unreadable

RECORD = Path("benchmarks") / "watch.json"
GRID = Path("benchmarks") / "grid.json"
GRID_STILL = 9  # by then the arrows point somewhere
STILL = 3  # the look that is shown first: right and wrong answers stand side by side


def watch(project: Path, sources: list[Path]) -> str:
    """Groups of a policy that learns to count dots."""
    record = read_record(project, RECORD, "python -m benchmarks.watch")
    return template("watch.html.j2").render(
        record=record, data=embedded(record), first=STILL, css=style("watch.css")
    )  # fmt: skip


def grid(project: Path, sources: list[Path]) -> str:
    """A policy of the grid world while inverse RL finds the reward behind the walks that it is shown."""
    record = read_record(project, GRID, "python -m benchmarks.grid")
    return template("grid.html.j2").render(
        record=record, data=embedded(record), first=GRID_STILL, css=style("grid.css")
    )  # fmt: skip


def read_record(project: Path, file: Path, command: str) -> dict:
    """A record of the project. Raises Unreadable, which names the command that makes it, where there is none."""
    try:
        return json.loads((project / file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Unreadable(f"{file} cannot be read ({error}). `{command}` makes it again.") from error


def embedded(record: dict) -> str:
    """A record as it may stand in a script element of a page: nothing in it ends the element."""
    return json.dumps(record, ensure_ascii=False).replace("<", "\\u003c")
