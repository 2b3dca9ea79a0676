"""A GRPO step on a GPU, beside TRL's: seconds and peak memory at three sizes, on one card, one after the other.

    python -m benchmarks.gpu                 every part, each in a process of its own and under its own limit of seconds
    python -m benchmarks.gpu ours "TRL tuned"    some of them, on a card that has little time

The model has 135M parameters with random weights, whose products are in bfloat16. Nothing ends early. TRL is measured
with gradient checkpointing on (its default) and off (tuned). `graph` draws the same completions with and without a CUDA
graph, before and after the weights have moved; `agreement` scores what was sampled. Results are
printed, and kept in build/gpu.jsonl.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import median
from unittest import mock

import torch
from transformers.utils.logging import disable_progress_bar, set_verbosity_error

from benchmarks.contestants import CONTESTANTS, Workload, make_problem, write_model
from shared.engine import lockstep
from shared.engine.precision import autocast
from shared.engine.sampling import Sampling
from shared.logps import completion_logps
from shared.models import load_policy
from shared.rollout import sample

# Prompts x G x tokens, as in docs/cluster.qmd; the prompts have 12 to 40 tokens.
LENGTHS = tuple(range(12, 44, 4))
SIZES = {
    "8 x 8 x 16": Workload(LENGTHS, num_generations=8, max_new_tokens=16),
    "8 x 8 x 128": Workload(LENGTHS, num_generations=8, max_new_tokens=128),
    "32 x 8 x 128": Workload(LENGTHS * 4, num_generations=8, max_new_tokens=128),
}
WARM_UP = 2
COUNTED = 4
# Seconds of each part.
LIMITS = {
    "ours": 100,
    "TRL": 120,
    "TRL tuned": 120,
    "graph": 60,
    "agreement": 60,
}
RESULTS = Path(__file__).parent.parent / "build" / "gpu.jsonl"


def steps(who: str, size: str) -> dict:
    """Seconds of each counted step, and the peak memory of all of them, in GB."""
    with tempfile.TemporaryDirectory() as folder:
        problem = make_problem("135M", SIZES[size], Path(folder))
        problem = replace(problem, device="cuda", config=replace(problem.config, steps=WARM_UP + COUNTED))
        readings = []

        def on_step(model) -> None:
            torch.cuda.synchronize()
            if len(readings) == WARM_UP:
                torch.cuda.reset_peak_memory_stats()
            readings.append(time.perf_counter())

        CONTESTANTS[who](problem, on_step)
    seconds = [after - before for before, after in pairwise(readings[WARM_UP:])]
    return {"who": who, "size": size, "seconds": seconds, "gigabytes": torch.cuda.max_memory_allocated() / 1e9}


def graph() -> dict:
    """A comparison of a CUDA graph with operations one by one: equal tokens, before the weights have moved and after."""
    with tempfile.TemporaryDirectory() as folder:
        write_model("135M", False, Path(folder))
        model, tokenizer = load_policy(folder, device="cuda")
    prompts = ["A", "The first of them", "Once upon a time there was"]
    equal = []
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("error")  # a pass that could not be recorded says so
        for _ in range(2):
            drawn = []
            for record in (lockstep.recorded, lambda function: function):
                with mock.patch.object(lockstep, "recorded", record), autocast(torch.device("cuda"), None):
                    drawn.append(sample(model, tokenizer, prompts, 8, Sampling(24), seed=0))
            equal.append(torch.equal(drawn[0].completion_ids, drawn[1].completion_ids))
            for parameter in model.parameters():
                parameter.add_(0.01 * torch.randn_like(parameter))
    return {"who": "graph", "equal before and after an update": equal}


def agreement() -> dict:
    """The largest difference between what sampling and scoring say of a token's log-probability, by type of the products."""
    with tempfile.TemporaryDirectory() as folder:
        problem = make_problem("135M", SIZES["8 x 8 x 128"], Path(folder))
        model, tokenizer = load_policy(folder, device="cuda")
    prompts = [row["prompt"] for row in problem.rows]
    largest = {}
    for bf16 in (False, True):
        with torch.no_grad(), autocast(torch.device("cuda"), bf16):
            rollout = sample(model, tokenizer, prompts, 8, problem.config.sampling, seed=0)
            logps, _ = completion_logps(model, rollout)
        largest["bfloat16" if bf16 else "float32"] = (logps - rollout.old_logps).abs().max().item()
    return {"who": "agreement", "largest difference": largest}


def run_part(part: str) -> None:
    """One part in this process: a line of JSON for each result."""
    set_verbosity_error()
    disable_progress_bar()
    if part in ("graph", "agreement"):
        print(json.dumps({"graph": graph, "agreement": agreement}[part]()), flush=True)
        return
    for size in SIZES:
        print(json.dumps(steps(part, size)), flush=True)
        torch.cuda.empty_cache()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__.split("\n\n")[0])
    parser.add_argument("parts", nargs="*", default=list(LIMITS), help=f"some of {', '.join(LIMITS)} (default: all)")
    parser.add_argument("--part", help=argparse.SUPPRESS)  # how a part is started in its own process
    options = parser.parse_args()
    if not torch.cuda.is_available():
        parser.error("there is no CUDA device here; python -m benchmarks.step measures on the CPU")
    if options.part:
        run_part(options.part)
        return
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}", flush=True)
    RESULTS.parent.mkdir(exist_ok=True)
    for part in options.parts:
        command = [sys.executable, "-m", "benchmarks.gpu", "--part", part]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LIMITS[part])
            output, error = done.stdout, done.stderr if done.returncode else ""
        except subprocess.TimeoutExpired as expired:
            output = (expired.stdout or b"").decode()
            error = f"stopped after {LIMITS[part]} s"
        for line in output.splitlines():
            if line.startswith("{"):
                RESULTS.open("a").write(line + "\n")
                print(in_words(json.loads(line)), flush=True)
        if error:
            print(f"{part}: {error[-2000:]}", flush=True)


def in_words(result: dict) -> str:
    """A result as a line."""
    if "seconds" not in result:
        return json.dumps(result)
    seconds = result["seconds"]
    return (
        f"{result['size']:>12}  {result['who']:<10} {median(seconds):6.2f} s ({min(seconds):.2f} to {max(seconds):.2f})"
        f"  {result['gigabytes']:5.1f} GB"
    )


if __name__ == "__main__":
    main()
