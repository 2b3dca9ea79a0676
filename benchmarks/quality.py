"""Time to quality: seconds of training until the held-out reward is what was asked for, beside TRL and plain loops.

    python -m benchmarks.quality                              everything, then quality.md and quality.png (two hours)
    python -m benchmarks.quality --tasks dots --threads 1     a part, beside what build/quality.jsonl already holds
    python -m benchmarks.quality --report                     quality.md and quality.png from build/quality.jsonl alone

Every contestant trains the embedded model on the same rows, with the same reward, learning rate, warm-up, beta, N
and G, and with no constraint, which TRL does not have. Before the first step and after each the held-out reward is
taken, greedily, by the same function for all; neither that nor importing and loading counts. A run ends when it has
what was asked for, and is a process of its own; runs of the contestants alternate.
"""

import argparse
import json
import time
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import torch
from tqdm import tqdm
from transformers.utils.logging import disable_progress_bar, set_verbosity_error

from benchmarks.contestants import (
    Contestant,
    OnStep,
    Problem,
    clock,
    in_fresh_process,
    ours,
    plain_loop,
    plain_loop_in_one_call,
    put_aside_what_was_loaded,
    trl_tuned,
)
from benchmarks.quality_report import write_report
from shared.evaluate import evaluate
from shared.grpo import GRPOConfig
from shared.models import COURSE_MODEL, load_policy
from shared.prompts import max_new_tokens_for, rows_for
from shared.recipes import RECIPES, TRAINED

RESULTS = Path(__file__).parent.parent / "build" / "quality.jsonl"
CONTESTANTS: dict[str, Contestant] = {
    "ours": ours,
    "TRL tuned": trl_tuned,
    "plain loop, one call": plain_loop_in_one_call,
    "plain loop, G calls": plain_loop,
}


@dataclass(frozen=True)
class Goal:
    """The goal of a contestant: a recipe, the held-out reward to reach, and the most steps that it may take."""

    recipe: str
    reward: float
    steps: int = 80


GOALS = {
    "dots": Goal("dots", 0.95),
    "poker": Goal("poker", 0.75),
    "analogies": Goal("analogies", 0.80),
    "format": Goal("addition", 0.95),
}


class Reached(Exception):
    """The held-out reward is what was asked for."""


class Watch:
    """Called before the first step and after each: the held-out reward over the seconds that training took.

    curve: (wall seconds, CPU seconds, held-out reward) of each call; the seconds of evaluation are in none.
    """

    def __init__(self, held_out: OnStep, goal: float):
        self.held_out = held_out
        self.goal = goal
        self.wall = 0.0
        self.cpu = 0.0
        self.curve: list[tuple[float, float, float]] = []
        self.last = None

    def __call__(self, model) -> None:
        now = clock()
        if self.last is not None:
            self.wall += now.wall - self.last.wall
            self.cpu += now.cpu - self.last.cpu
        reward = self.held_out(model)
        self.curve.append((round(self.wall, 4), round(self.cpu, 4), reward))
        if reward >= self.goal:
            raise Reached
        if self.last is None:
            put_aside_what_was_loaded()
        self.last = clock()


def run(contestant: Contestant, goal: Goal, seed: int) -> dict:
    """One run in this process: its curve, and whether it got there."""
    recipe = RECIPES[goal.recipe]
    _, tokenizer = load_policy(device="cpu")
    held_out = rows_for(tokenizer, recipe.task.dataset("eval", recipe.eval_rows, seed=0), recipe.task)
    length = max_new_tokens_for(tokenizer, recipe.task)
    settings = recipe.settings_of("grpo", GRPOConfig) | {"steps": goal.steps, "max_new_tokens": length, "seed": seed}
    problem = Problem(
        folder=COURSE_MODEL,
        rows=rows_for(tokenizer, recipe.task.dataset("train", recipe.train_rows, seed=seed), recipe.task),
        config=GRPOConfig(**settings),
        reward=recipe.reward_funcs[0],
        prepare=TRAINED[recipe.trained],
    )
    watch = Watch(
        lambda model: evaluate(model, tokenizer, held_out, recipe.measured, max_new_tokens=length).mean, goal.reward
    )
    torch.manual_seed(seed)
    try:
        contestant(problem, watch)
    except Reached:
        return {"reached": True, "curve": watch.curve}
    return {"reached": False, "curve": watch.curve}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__.split("\n\n")[0])
    parser.add_argument("--tasks", nargs="+", choices=GOALS, default=list(GOALS))
    parser.add_argument("--contestants", nargs="+", choices=CONTESTANTS, default=list(CONTESTANTS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2], help="which seeds (default: 0 1 2)")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2], help="CPU threads of a run (default: 1 2)")
    parser.add_argument("--report", action="store_true", help="run nothing, write the table and the picture")
    parser.add_argument("--job", help=argparse.SUPPRESS)  # how a run is started in its own process
    options = parser.parse_args()
    if options.job:
        set_verbosity_error()
        disable_progress_bar()
        job = json.loads(options.job)
        print(json.dumps(run(CONTESTANTS[job["contestant"]], GOALS[job["task"]], job["seed"])))
        return
    RESULTS.parent.mkdir(exist_ok=True)
    jobs = [
        {"task": task, "threads": threads, "seed": seed, "contestant": contestant}
        for task, threads, seed, contestant in product(
            options.tasks, options.threads, options.seeds, options.contestants
        )
    ]
    for job in tqdm([] if options.report else jobs, desc="runs", unit="run"):
        record = (
            job
            | {"goal": GOALS[job["task"]].reward, "at": time.strftime("%Y-%m-%d")}
            | in_fresh_process("benchmarks.quality", job, job["threads"])
        )
        with RESULTS.open("a") as file:
            file.write(json.dumps(record) + "\n")
        wall, cpu, reward = record["curve"][-1]
        tqdm.write(
            f"{job['task']}, {job['threads']} threads, seed {job['seed']}, {job['contestant']}: {reward:.3f} after "
            f"{len(record['curve']) - 1} steps, {cpu:.2f} CPU seconds, {wall:.2f} on the wall"
        )
    write_report([json.loads(line) for line in RESULTS.read_text().splitlines()])


if __name__ == "__main__":
    main()
