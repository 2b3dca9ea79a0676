"""The checker on a large class, beside `jupyter nbconvert --to markdown` on the same files.

    python -m benchmarks.checker > benchmarks/checker.md

The notebooks are the worked ones without their pictures, each with training log lines added up to a size
drawn from 20 to 60 kB. Every command is a process of its own, held to two cores, and is told in wall time, in
CPU time of it and its children, and in the memory of the largest of its processes (a folder takes one and two
more). nbconvert gets the first hundred files and only converts; the checker converts, reads the code and
applies every rule. Pages are made of the first three hundred. Prints a Markdown table. Needs a system where a process can be held to cores (Linux).
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
NOTEBOOKS, SAMPLE, PAGES, CORES = 1_000, 100, 300, 2
SIZES = (20_000, 60_000)  # bytes
CHECKER = [sys.executable, "-m", "checker"]
NBCONVERT = [sys.executable, "-m", "nbconvert", "--to", "markdown"]


@dataclass(frozen=True)
class Cost:
    """The cost of a command: seconds on the clock, seconds of CPU, megabytes of its largest process."""

    wall: float
    cpu: float
    memory: float


def cost(command: list[str], folder: Path) -> Cost:
    """Run a command in a folder on two cores. Raises RuntimeError with its last words when it fails."""
    cores = set(sorted(os.sched_getaffinity(0))[:CORES])
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with tempfile.TemporaryFile() as said:
        start = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=said, stderr=subprocess.STDOUT,
            preexec_fn=lambda: os.sched_setaffinity(0, cores),
        )  # fmt: skip
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1):  # 1: some notebook has a finding
            said.seek(0)
            raise RuntimeError(f"{' '.join(command[:5])} failed: {said.read().decode()[-500:]}")
    return Cost(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1000)


def classroom(folder: Path) -> Iterator[Path]:
    """Write the notebooks of a class."""
    worked = [_without_pictures(path) for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]
    dice = random.Random(0)
    for number in range(NOTEBOOKS):
        path = folder / f"student {number:04d}.ipynb"
        path.write_text(_of_size(dice.choice(worked), dice.randint(*SIZES)), encoding="utf-8")
        yield path


def _without_pictures(path: Path) -> dict:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            output.get("data", {}).pop("image/png", None)
    return notebook


def _of_size(notebook: dict, size: int) -> str:
    """The notebook with lines added to its training log until it has the size; never cut."""
    text = json.dumps(notebook)
    line = "step {} average reward 0.412 average loss 0.0031\n"
    lines = [line.format(step) for step in range(max(0, size - len(text)) // (len(line) + 6))]
    notebook = json.loads(text)
    training = next(cell for cell in notebook["cells"] if cell["cell_type"] == "code" and _is_training(cell["source"]))
    training["outputs"].append({"output_type": "stream", "name": "stdout", "text": lines})
    return json.dumps(notebook)


def _is_training(source: str | list[str]) -> bool:
    """True if a cell is Cell 6, by its label, above which options may stand."""
    return any(line.startswith("# Cell 6") for line in "".join(source).splitlines())


def table(rows: list[tuple[str, int, Cost]]) -> str:
    head = ["", "notebooks", "wall (s)", "CPU (s)", "CPU for each (ms)", "largest process (MB)"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for name, count, used in rows:
        each = f"{1000 * used.cpu / count:.1f}" if count else ""
        lines.append(f"| {name} | {count or ''} | {used.wall:.2f} | {used.cpu:.2f} | {each} | {used.memory:.0f} |")
    return "\n".join(lines)


def main() -> None:
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = [path.name for path in classroom(folder)]
        cost([*CHECKER, "--help"], folder)  # once uncounted: compiles modules, warms the file cache
        rows = [
            ("`checker --help`", 0, cost([*CHECKER, "--help"], folder)),
            ("`checker`, one notebook", 1, cost([*CHECKER, paths[0]], folder)),
            ("`checker`, a folder", NOTEBOOKS, cost([*CHECKER, "."], folder)),
            ("`checker render`", PAGES, cost([*CHECKER, "render", *paths[:PAGES], "-o", "pages"], folder)),
            ("`nbconvert --to markdown`", SAMPLE, cost([*NBCONVERT, *paths[:SAMPLE]], folder)),
        ]
    ours, theirs = rows[2][2].cpu / NOTEBOOKS, rows[-1][2].cpu / SAMPLE
    print(table(rows))
    print(f"\nFor each notebook nbconvert takes {theirs / ours:.1f} times the checker's CPU time.")
    print(f"Measured on {CORES} of {os.cpu_count()} cores; the load average was {load:.1f} when it began.")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(__doc__)
    main()
