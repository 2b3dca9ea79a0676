"""Time to quality: seconds of training until the held-out reward is what was asked for, beside TRL and plain loops.

    python -m benchmarks.quality                              everything, then quality.md and quality.png (two hours)
    python -m benchmarks.quality --tasks dots --threads 1     a part, beside what build/quality.jsonl already holds
    python -m benchmarks.quality --report                     quality.md and quality.png from build/quality.jsonl alone
    python -m benchmarks.quality --model smollm2 --threads 1  a real model (an hour); benchmarks.real_model writes its table

Every contestant trains the same model on the same rows, with the same reward, learning rate, warm-up, beta, N and G, and
with no constraint, which TRL does not have. Before the first step and after each the held-out reward is taken, greedily,
by the same function for all; neither that nor importing and loading counts, nor the right answers that a real model
learns from first. A run ends when it has what was asked for, and is a process of its own; runs of the contestants
alternate.
"""

import argparse
import json
import time
from dataclasses import dataclass, replace
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
    trl_in_passes,
    trl_tuned,
)
from benchmarks.quality_report import RUNS_OF_A_REAL_MODEL, recorded_runs, write_report
from benchmarks.real_model_tasks import MODEL
from shared.engine.positions import positions_of
from shared.evaluate import evaluate
from shared.grpo import GRPOConfig
from shared.model_classes import class_of
from shared.models import COURSE_MODEL, load_policy
from shared.recipes import RECIPES, TRAINED, prepare
from shared.run.session import warm_up
from shared.saving import save_policy

BUILD = Path(__file__).parent.parent / "build"
CONTESTANTS: dict[str, dict[str, Contestant]] = {
    COURSE_MODEL: {
        "ours": ours,
        "TRL tuned": trl_tuned,
        "plain loop, one call": plain_loop_in_one_call,
        "plain loop, G calls": plain_loop,
    },
    MODEL: {"ours": ours, "TRL tuned": trl_in_passes},
}


@dataclass(frozen=True)
class Goal:
    """The goal of a contestant: a recipe, the held-out reward to reach, and the most steps that it may take.

    held_out: as many rows at most.
    """

    recipe: str
    reward: float
    steps: int = 80
    held_out: int = 1000


GOALS = {
    COURSE_MODEL: {
        "dots": Goal("dots", 0.95),
        "poker": Goal("poker", 0.75),
        "analogies": Goal("analogies", 0.80),
        "format": Goal("addition", 0.95),
    },
    MODEL: {"think and answer": Goal("addition", 0.90, 25, 48), "dots": Goal("dots", 0.50, 60, 96)},
}
RESULTS = {COURSE_MODEL: BUILD / "quality.jsonl", MODEL: RUNS_OF_A_REAL_MODEL}


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


def run(contestant: Contestant, model: str, goal: Goal, seed: int) -> dict:
    """One run in this process: its curve, and whether it got there."""
    recipe = RECIPES[goal.recipe]
    recipe = replace(recipe, eval_rows=min(recipe.eval_rows, goal.held_out))
    policy, tokenizer = load_policy(model, device="cpu")
    materials = prepare(recipe, tokenizer, seed=seed, positions=positions_of(policy))
    start: Path | str = model
    if warm := recipe.warm_up_of(class_of(tokenizer, recipe.trained)):
        start = BUILD / "quality" / f"{goal.recipe}-{seed}"
        if not start.exists():  # the first contestant of a seed makes it for all
            warm_up(recipe, warm, policy, tokenizer, materials.examples, seed)
            start.parent.mkdir(parents=True, exist_ok=True)
            save_policy(policy, tokenizer, start, task=goal.recipe)
    del policy
    length = materials.max_new_tokens
    settings = recipe.settings_of("grpo", GRPOConfig, class_of(tokenizer, recipe.trained))
    problem = Problem(
        folder=start,
        rows=materials.train_rows,
        config=GRPOConfig(**settings | {"steps": goal.steps, "max_new_tokens": length, "seed": seed}),
        reward=recipe.reward_funcs[0],
        prepare=TRAINED[recipe.trained],
    )
    watch = Watch(
        lambda policy: evaluate(policy, tokenizer, materials.eval_rows, recipe.measured, max_new_tokens=length).mean,
        goal.reward,
    )
    torch.manual_seed(seed)
    try:
        contestant(problem, watch)
    except Reached:
        return {"reached": True, "curve": watch.curve}
    return {"reached": False, "curve": watch.curve}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__.split("\n\n")[0])
    parser.add_argument("--model", choices=GOALS, default=COURSE_MODEL)
    parser.add_argument("--tasks", nargs="+", choices=sorted({task for goals in GOALS.values() for task in goals}))
    parser.add_argument("--contestants", nargs="+", choices=CONTESTANTS[COURSE_MODEL])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2], help="which seeds (default: 0 1 2)")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2], help="CPU threads of a run (default: 1 2)")
    parser.add_argument("--report", action="store_true", help="run nothing, write the table and the picture")
    parser.add_argument("--job", help=argparse.SUPPRESS)  # how a run is started in its own process
    options = parser.parse_args()
    if options.job:
        set_verbosity_error()
        disable_progress_bar()
        job = json.loads(options.job)
        goal = GOALS[job["model"]][job["task"]]
        print(json.dumps(run(CONTESTANTS[job["model"]][job["contestant"]], job["model"], goal, job["seed"])))
        return
    goals, results = GOALS[options.model], RESULTS[options.model]
    results.parent.mkdir(exist_ok=True)
    jobs = [
        {"model": options.model, "task": task, "threads": threads, "seed": seed, "contestant": contestant}
        for task, threads, seed, contestant in product(
            options.tasks or goals,
            options.threads,
            options.seeds,
            options.contestants or CONTESTANTS[options.model],
        )
    ]
    for job in tqdm([] if options.report else jobs, desc="runs", unit="run"):
        record = (
            job
            | {"goal": goals[job["task"]].reward, "at": time.strftime("%Y-%m-%d")}
            | in_fresh_process("benchmarks.quality", job, job["threads"])
        )
        with results.open("a") as file:
            file.write(json.dumps(record) + "\n")
        wall, cpu, reward = record["curve"][-1]
        tqdm.write(
            f"{job['task']}, {job['threads']} threads, seed {job['seed']}, {job['contestant']}: {reward:.3f} after "
            f"{len(record['curve']) - 1} steps, {cpu:.2f} CPU seconds, {wall:.2f} on the wall"
        )
    if options.model == COURSE_MODEL:
        write_report(recorded_runs(results))


if __name__ == "__main__":
    main()
