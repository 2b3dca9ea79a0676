"""The time of a GRPO step, side by side with TRL and with the loop of published notebooks.

    python -m benchmarks.step                        every contestant on every workload, then step.md (about an hour)
    python -m benchmarks.step --shapes embedded      some of them, beside what build/step.jsonl already holds

A block is a process of its own: it loads the model, takes warm-up steps that are not counted, then the steps
that are. Blocks of the contestants alternate, round after round, so that a slow moment of the machine meets
all of them, and the ratio is taken within a round. Peak memory is the largest resident set of the process.
"""

import argparse
import json
import os
import resource
import tempfile
from itertools import pairwise, product
from pathlib import Path
from statistics import median

import torch
from tqdm import tqdm
from transformers.utils.logging import disable_progress_bar, set_verbosity_error

from benchmarks.contestants import CONTESTANTS, SHAPES, WORKLOADS, in_fresh_process, make_problem, readings_of

WARM_UP = {"embedded": 2, "135M": 1}  # steps of a block that are not counted
COUNTED = {"embedded": 5, "135M": 1}  # steps that are
HERE = Path(__file__).parent
RESULTS = HERE.parent / "build" / "step.jsonl"


def run_block(job: dict) -> dict:
    """One block in this process: what it measured."""
    set_verbosity_error()
    disable_progress_bar()
    steps, warm_up = COUNTED[job["shape"]], WARM_UP[job["shape"]]
    with tempfile.TemporaryDirectory() as folder:
        problem = make_problem(job["shape"], WORKLOADS[job["name"]], Path(folder))
        # The reading at the end of the last warm-up step starts the first counted one.
        readings = readings_of(CONTESTANTS[job["contestant"]], problem, warm_up + steps)[warm_up:]
    return {
        "wall": [b.wall - a.wall for a, b in pairwise(readings)],
        "cpu": [b.cpu - a.cpu for a, b in pairwise(readings)],
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def ratios(blocks: list[dict], contestant: str, clock: str = "wall") -> list[float]:
    """Seconds of the contestant's step over seconds of ours, one ratio for each round that has both."""
    seconds = {(b["round"], b["contestant"]): median(b[clock]) for b in blocks}
    rounds = [r for r, who in seconds if who == contestant and (r, "ours") in seconds]
    return [seconds[r, contestant] / seconds[r, "ours"] for r in rounds]


def table(records: list[dict]) -> str:
    """Seconds, ratio to ours (median, lowest to highest round) and peak memory of each contestant."""
    lines = [
        "| model, workload | contestant | seconds | times ours | the same, CPU | rounds | peak MB |",
        "|---|---|---|---|---|---|---|",
    ]
    for shape, name in dict.fromkeys((record["shape"], record["name"]) for record in records):
        blocks = [record for record in records if (record["shape"], record["name"]) == (shape, name)]
        for who in dict.fromkeys(b["contestant"] for b in blocks):
            own = [b for b in blocks if b["contestant"] == who]
            seconds, peak = median(median(b["wall"]) for b in own), max(b["peak_mb"] for b in own)
            wall, cpu = ratios(blocks, who), ratios(blocks, who, "cpu")
            spread = f"{median(wall):.2f} ({min(wall):.2f} to {max(wall):.2f})"
            lines.append(
                f"| {shape} {name} | {who} | {seconds:.3f} | {spread} | {median(cpu):.2f} | {len(wall)} | {peak:,.0f} |"
            )
    return "\n".join(lines)


def write_report(records: list[dict]) -> None:
    """Write step.md beside this file."""
    threads = sorted({record["threads"] for record in records})
    (HERE / "step.md").write_text(
        "# The cost of a GRPO step\n\n"
        f"Made by `python -m benchmarks.step`, on {' and '.join(map(str, threads))} thread(s). "
        "CPU seconds are those of all threads together, also while they wait for each other.\n\n"
        f"{table(records)}\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.step", description=__doc__.split("\n\n")[0])
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--workloads", nargs="+", choices=WORKLOADS, default=list(WORKLOADS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--job", help=argparse.SUPPRESS)  # how a block is started in its own process
    options = parser.parse_args()
    if options.job:
        print(json.dumps(run_block(json.loads(options.job))))
        return
    RESULTS.parent.mkdir(exist_ok=True)
    jobs = [
        {"shape": shape, "name": name, "round": number, "contestant": who}
        for shape, name, number, who in product(options.shapes, options.workloads, range(options.rounds), CONTESTANTS)
    ]
    for job in tqdm(jobs, desc="blocks", unit="block"):
        record = (
            job
            | {"threads": torch.get_num_threads(), "cores": os.cpu_count()}
            | in_fresh_process("benchmarks.step", job, torch.get_num_threads())
        )
        with RESULTS.open("a") as file:
            file.write(json.dumps(record) + "\n")
    write_report([json.loads(line) for line in RESULTS.read_text().splitlines()])


if __name__ == "__main__":
    main()
