"""The time of a GRPO step, side by side with TRL and with the loop of published notebooks.

    python -m benchmarks.step                    everything, then step.md and step.png (about an hour)
    python -m benchmarks.step compare growth     some parts, beside what build/step.jsonl already holds
    python -m benchmarks.step report             step.md and step.png from build/step.jsonl alone

compare: seconds of a step and peak memory, every contestant on every workload; phases: where our step spends
its time, and the floor under it; growth: with G, completion length and prompt length, beside TRL tuned.

A block is a process of its own: it loads the model, takes warm-up steps that are not counted, then the steps
that are. Blocks of the contestants alternate, round after round, so that a slow moment of the machine meets
all of them, and the ratio is taken within a round. Peak memory is the largest resident set of the process.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, replace
from itertools import pairwise, product
from pathlib import Path

import torch
from tqdm import tqdm
from transformers.utils.logging import disable_progress_bar, set_verbosity_error

from benchmarks.contestants import CONTESTANTS, SHAPES, WORKLOADS, Problem, Workload, letters, make_problem, readings_of
from benchmarks.step_report import write_report
from shared.advantages import group_advantages
from shared.engine.memory import keep_freed_memory
from shared.engine.piece_size import LOGITS_AT_ONCE
from shared.experience import Experience
from shared.grpo import policy_loss
from shared.logps import completion_logps
from shared.models import frozen_copy, load_policy
from shared.rollout import sample
from shared.training import pieces

WARM_UP = {"embedded": 2, "135M": 1}  # steps of a block that are not counted
COUNTED = {"embedded": 5, "135M": 1}  # steps that are
RESULTS = Path(__file__).parent.parent / "build" / "step.jsonl"
W1 = WORKLOADS["W1"]
GROWTH = {
    "G": {G: replace(W1, num_generations=G) for G in (2, 4, 8, 16, 32, 64)},
    "completion tokens": {C: replace(W1, max_new_tokens=C) for C in (8, 16, 32, 64, 128, 256)},
    "prompt tokens": {P: replace(W1, prompt_lengths=(P,) * 8) for P in (8, 16, 32, 64, 128, 256)},
}


def jobs_of(part: str, shapes: list[str], workloads: list[str], rounds: int) -> list[dict]:
    """The blocks of a part, in the order in which they run: contestants alternate within a round."""
    if part == "compare":
        return [
            {
                "part": part,
                "round": r,
                "shape": shape,
                "name": name,
                "contestant": who,
                "workload": asdict(WORKLOADS[name]),
            }
            for shape, name, r, who in product(shapes, workloads, range(rounds), CONTESTANTS)
        ]
    if part == "phases":
        return [
            {"part": part, "shape": shape, "name": name, "workload": asdict(WORKLOADS[name])}
            for shape, name in product(shapes, workloads)
        ]
    return [
        {
            "part": part,
            "shape": "embedded",
            "axis": axis,
            "at": at,
            "contestant": who,
            "workload": asdict(workload),
        }
        for axis, points in GROWTH.items()
        for at, workload in points.items()
        for who in ("ours", "TRL tuned")
    ]


def run_block(job: dict) -> dict:
    """One block in this process: what it measured."""
    set_verbosity_error()
    disable_progress_bar()
    steps, warm_up = COUNTED[job["shape"]], WARM_UP[job["shape"]]
    with tempfile.TemporaryDirectory() as folder:
        problem = make_problem(job["shape"], Workload(**job["workload"]), Path(folder))
        if job["part"] == "phases":
            seconds = phases(problem, steps, warm_up)
            return {"seconds": seconds, "flops": step_flops(problem), "flops_per_second": matrix_rate()}
        # The reading at the end of the last warm-up step starts the first counted one.
        readings = readings_of(CONTESTANTS[job["contestant"]], problem, warm_up + steps)[warm_up:]
    return {
        "wall": [b.wall - a.wall for a, b in pairwise(readings)],
        "cpu": [b.cpu - a.cpu for a, b in pairwise(readings)],
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def phases(problem: Problem, steps: int, warm_up: int) -> dict[str, list[float]]:
    """Seconds of each phase of our step, one number for each step."""
    keep_freed_memory()
    model, tokenizer = load_policy(problem.folder, device="cpu")
    reference, config = frozen_copy(model), problem.config
    optimizer = torch.optim.AdamW(model.parameters(), lr=config.learning_rate, fused=True)
    prompts = [row["prompt"] for row in problem.rows]
    records = []
    for _ in range(warm_up + steps):
        spent, last = Counter(), time.perf_counter()

        def mark(phase: str, result=None):
            nonlocal last
            now = time.perf_counter()
            spent[phase] += now - last
            last = now
            return result

        rollout = mark("sampling", sample(model, tokenizer, prompts, config.num_generations, config.sampling))
        rewards = torch.tensor(letters(prompts, rollout.completions))
        advantages, _ = mark("reward", group_advantages(rewards, config.num_generations))
        with torch.no_grad():
            ref_logps, _ = mark("reference", completion_logps(reference, rollout))
        experience = Experience(rollout, rewards[:, None], rewards, advantages, ref_logps, {})
        optimizer.zero_grad(set_to_none=True)
        parts = pieces(experience, model.config.vocab_size, LOGITS_AT_ONCE)
        for part in parts:
            loss, _ = mark("policy", policy_loss(model, part, config))
            mark("backward", (loss / len(parts)).backward())
        torch.nn.utils.clip_grad_norm_(model.parameters(), config.max_grad_norm)
        mark("optimiser", optimizer.step())
        records.append(spent)
    return {phase: [record[phase] for record in records[warm_up:]] for phase in records[0]}


def step_flops(problem: Problem) -> int:
    """Floating-point operations that a step cannot avoid, counting matrices only.

    Each prompt passes once and each completion token once, through sampling, reference and policy; backward
    is twice a pass. A token costs two operations for each weight of the body, a completion token also for
    each of the output matrix. Attention scores are left out: at these lengths they are a few in a hundred.
    """
    model, tokenizer = load_policy(problem.folder, device="cpu")
    head = model.get_output_embeddings().weight.numel()
    body = sum(p.numel() for name, p in model.named_parameters() if p.ndim == 2 and "embed" not in name)
    config = problem.config
    prompts = [row["prompt"] for row in problem.rows]
    rollout = sample(model, tokenizer, prompts, config.num_generations, config.sampling)
    completion = int(rollout.completion_mask.sum())
    forward = 2 * body * (int(rollout.prompt_mask.sum()) + completion) + 2 * head * completion
    return 5 * forward


def matrix_rate(size: int = 1024, seconds: float = 2.0) -> float:
    """Operations a second of a float32 matrix product on as many threads as the step has."""
    a, b = torch.randn(size, size), torch.randn(size, size)
    for _ in range(3):
        a @ b
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        a @ b
        count += 1
    return 2 * size**3 * count / (time.perf_counter() - start)


def run_in_child(job: dict) -> dict:
    """`run_block` in a fresh process.

    Raises RuntimeError with the end of the child's errors when it fails.
    """
    command = [sys.executable, "-m", "benchmarks.step", "--job", json.dumps(job)]
    threads = {"OMP_NUM_THREADS": str(torch.get_num_threads())}  # of every contestant alike
    child = subprocess.run(command, capture_output=True, text=True, env=os.environ | threads)
    if child.returncode:
        raise RuntimeError(f"The block {job} failed:\n{child.stderr[-2000:]}")
    return json.loads(child.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.step", description=__doc__.split("\n\n")[0])
    parts = ["compare", "phases", "growth", "report"]
    parser.add_argument("parts", nargs="*", default=parts, help=f"some of {', '.join(parts)} (default: all)")
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--workloads", nargs="+", choices=WORKLOADS, default=list(WORKLOADS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--job", help=argparse.SUPPRESS)  # how a block is started in its own process
    options = parser.parse_args()
    if unknown := set(options.parts) - set(parts):
        parser.error(f"unknown part {sorted(unknown)[0]}; choose from {', '.join(parts)}")
    if options.job:
        print(json.dumps(run_block(json.loads(options.job))))
        return
    RESULTS.parent.mkdir(exist_ok=True)
    measured = [part for part in parts[:-1] if part in options.parts]
    jobs = [job for part in measured for job in jobs_of(part, options.shapes, options.workloads, options.rounds)]
    for job in tqdm(jobs, desc="blocks", unit="block"):
        record = job | {"threads": torch.get_num_threads(), "cores": os.cpu_count()} | run_in_child(job)
        with RESULTS.open("a") as file:
            file.write(json.dumps(record) + "\n")
    if "report" in options.parts:
        write_report([json.loads(line) for line in RESULTS.read_text().splitlines()])


if __name__ == "__main__":
    main()
