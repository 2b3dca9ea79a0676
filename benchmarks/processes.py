"""The cost and the gain of a second process: seconds of a step, work of each process, bytes that travel.

    python -m benchmarks.processes                     all, then processes.md and processes.png (half an hour)
    python -m benchmarks.processes --shapes embedded    one model, beside what build/processes.jsonl already holds

A block is a launch of its own (torchrun), with warm-up steps that are not counted. The ways alternate, round after
round, so that a slow moment of the machine meets all of them; medians are given with the lowest and the highest.
Seconds of the processor ignore other programs, and the wait for another process does not count among them.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import matplotlib.pyplot as plt
from tqdm import tqdm
from transformers.utils.logging import disable_progress_bar, set_verbosity_error

from benchmarks.contestants import WORKLOADS, Problem, Reading, clock, make_problem, put_aside_what_was_loaded
from shared.engine import processes as engine
from shared.grpo import train
from shared.plots import BLUE, ORANGE, STYLE

HERE = Path(__file__).parent
RESULTS = HERE.parent / "build" / "processes.jsonl"
# Of each shape: its workload, steps of a block that are not counted, steps that are.
CASES = {"embedded": ("W1", 2, 8), "135M": ("W2", 1, 1)}
# Name: processes, and threads of each.
WAYS = {"1 process, 1 thread": (1, 1), "1 process, 2 threads": (1, 2), "2 processes, 1 thread each": (2, 1)}


class Travelling:
    """Counts the bytes that this process hands over to be added up, and the seconds until the sum is there."""

    def __init__(self):
        self.bytes = 0
        self.seconds = 0.0
        self.really_sum = engine.Processes._sum

    def sum(self, processes, tensor):
        started = time.perf_counter()
        result = self.really_sum(processes, tensor)
        self.seconds += time.perf_counter() - started
        self.bytes += tensor.numel() * tensor.element_size()
        return result


def block(folder: Path, shape: str, out: Path) -> None:
    """One process of one launch: what it measured, into a file of its own."""
    set_verbosity_error()
    disable_progress_bar()
    workload, warm_up, counted = CASES[shape]
    steps = warm_up + counted
    with tempfile.TemporaryDirectory() as elsewhere:
        problem = make_problem("embedded", WORKLOADS[workload], Path(elsewhere))  # for its rows and settings
        problem = replace(problem, folder=folder, config=replace(problem.config, steps=steps, eval_every=1))
        travelling = Travelling()
        engine.Processes._sum = lambda processes, tensor: travelling.sum(processes, tensor)
        readings = readings_of(problem)[warm_up - 1 :]
    measured = {
        "wall": [b.wall - a.wall for a, b in pairwise(readings)],
        "cpu": [b.cpu - a.cpu for a, b in pairwise(readings)],
        "bytes": travelling.bytes / steps,
        "waited": travelling.seconds / steps,
    }
    rank = os.environ.get("RANK", "0")
    out.with_suffix(f".{rank}.json").write_text(json.dumps(measured))


def readings_of(problem: Problem) -> list[Reading]:
    """The clock at the end of each step; the evaluation's hook is called in every process, `on_step` in the first."""
    model, reference, tokenizer = problem.load()
    readings = []
    put_aside_what_was_loaded()

    def read(model) -> float:
        readings.append(clock())
        return 0.0

    options = {"reference": reference, "evaluate": read, "progress": False}
    train(model, tokenizer, problem.rows, problem.reward, problem.config, **options)
    return readings


def launch(folder: Path, shape: str, way: str) -> list[dict]:
    """A block in as many processes as the way has; what each measured."""
    count, threads = WAYS[way]
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "block"
        launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={count}", "-m"]
        what = ["benchmarks.processes", "--block", str(folder), shape, str(out)]
        # Threads that wait actively would take the processor from the other programs of a shared machine.
        threading = {"OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"}
        environment = os.environ | threading | {"COURSE_DEVICE": "cpu"}
        subprocess.run([sys.executable, *launcher, *what], check=True, env=environment, stderr=subprocess.DEVNULL)
        return [json.loads(out.with_suffix(f".{rank}.json").read_text()) for rank in range(count)]


def measure(shapes: list[str], rounds: int) -> None:
    """Add the blocks of all rounds to RESULTS, each as soon as it is there."""
    RESULTS.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        folders = {}
        for shape in shapes:
            folders[shape] = Path(scratch) / shape
            make_problem(shape, WORKLOADS[CASES[shape][0]], folders[shape])
        jobs = list(product(shapes, range(rounds), WAYS))
        for shape, _, way in tqdm(jobs, desc="blocks", unit="block"):
            line = json.dumps({"shape": shape, "way": way, "ranks": launch(folders[shape], shape, way)})
            with open(RESULTS, "a") as file:
                file.write(line + "\n")


def blocks_found() -> dict[tuple[str, str], list[list[dict]]]:
    """For each shape and way the blocks in RESULTS, in the order of shapes and ways."""
    lines = [json.loads(line) for line in RESULTS.read_text().splitlines()]
    found = {case: [] for case in product(CASES, WAYS)}
    for line in lines:
        found[line["shape"], line["way"]].append(line["ranks"])
    return {case: blocks for case, blocks in found.items() if blocks}


def spread(values: list[float], unit: float = 1.0) -> str:
    """Median, lowest and highest."""
    return f"{statistics.median(values) * unit:.3g} ({min(values) * unit:.3g} to {max(values) * unit:.3g})"


def table(found: dict[tuple[str, str], list[list[dict]]]) -> str:
    lines = [
        "| model, workload | way | seconds a step | processor seconds of a process | MB handed over | seconds in the sum |",
        "|---|---|---|---|---|---|",
    ]
    for (shape, way), blocks in found.items():
        wall = [seconds for ranks in blocks for seconds in ranks[0]["wall"]]
        cpu = [seconds for ranks in blocks for measured in ranks for seconds in measured["cpu"]]
        waited = [measured["waited"] for ranks in blocks for measured in ranks]
        handed = blocks[0][0]["bytes"] / 1e6
        lines.append(
            f"| {shape}, {CASES[shape][0]} | {way} | {spread(wall)} | {spread(cpu)} | {handed:.3g} | {spread(waited)} |"
        )
    return "\n".join(lines)


def picture(found: dict[tuple[str, str], list[list[dict]]], path: Path) -> None:
    """Processor seconds of a process and seconds of a step, one panel for each model."""
    shapes = list(dict.fromkeys(shape for shape, _ in found))
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(
            1, len(shapes), figsize=(3.2 * len(shapes), 2.9), squeeze=False, layout="constrained"
        )
        for axis, shape in zip(axes[0], shapes):
            for i, way in enumerate(WAYS):
                blocks = found[shape, way]
                wall = statistics.median(s for ranks in blocks for s in ranks[0]["wall"])
                cpu = statistics.median(s for ranks in blocks for m in ranks for s in m["cpu"])
                axis.bar(i - 0.2, wall, width=0.4, color=BLUE, label="seconds" if i == 0 else None)
                label = "of the processor, each process" if i == 0 else None
                axis.bar(i + 0.2, cpu, width=0.4, color=ORANGE, label=label)
            axis.set(title=f"{shape}, {CASES[shape][0]}", xticks=range(len(WAYS)))
            axis.set_xticklabels(["1 x 1", "1 x 2", "2 x 1"])
            axis.set_xlabel("processes x threads")
        axes[0][0].set_ylabel("a step")
        figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=8)
        figure.savefig(path, dpi=130)
        plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.processes", description=__doc__.split("\n\n")[0])
    parser.add_argument("--shapes", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--block", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.block:
        folder, shape, out = options.block
        block(Path(folder), shape, Path(out))
        return
    measure(options.shapes, options.rounds)
    found = blocks_found()
    text = table(found)
    print(text)
    if {shape for shape, _ in found} == CASES.keys():
        rounds = " and ".join(f"{len(found[shape, next(iter(WAYS))])} rounds at {shape}" for shape in CASES)
        (HERE / "processes.md").write_text(
            f"# What a second process costs and saves\n\nMade by `python -m benchmarks.processes`, {rounds}: "
            "medians, lowest and highest in brackets.\n\n"
            f"{text}\n\n![Seconds of a step](processes.png)\n"
        )
        picture(found, HERE / "processes.png")


if __name__ == "__main__":
    main()
