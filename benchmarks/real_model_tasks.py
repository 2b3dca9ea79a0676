"""Each task of the course on a real model: `benchmarks/real_model.json`, a task and a seed a call.

    python -m benchmarks.real_model_tasks dots --seed 0     adds a run; one that is there already is not made again
    python -m benchmarks.real_model                         writes the page from all of them

A run does what `python -m shared.run dots --model smollm2` does, with settings of `shared/model_classes.py`: a warm-up on
right answers where the task has one, then GRPO. The control begins where GRPO began and goes on with right answers, which
GRPO never sees, for as many processor seconds. Held-out rows are answered greedily and drawn, before, after the warm-up, and
after either.
"""

import argparse
import datetime
import json
import resource
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from benchmarks import assignment
from benchmarks.sweeps.__main__ import code_version
from benchmarks.sweeps.measuring import Clock, rounded
from shared import grpo, supervised
from shared.algorithm import TrainingConfig
from shared.engine.positions import positions_of
from shared.evaluate import evaluate
from shared.interrupt import put_back, trained_weights
from shared.model_classes import class_of, settings_for, warm_up_for
from shared.models import frozen_copy, load_policy
from shared.recipes import RECIPES, TRAINED, Materials, Recipe, documents_for, measuring, prepare
from shared.run.session import warm_up

MODEL = "smollm2"
TASKS = {"assignment": assignment.RECIPE, **RECIPES}
RUNS = Path(__file__).with_name("real_model.json")
HELD_OUT, DRAWN = 48, 2  # rows, and completions of each where they are drawn
RIGHT_ANSWERS = 4096  # more than the control gets through
ANSWERS_A_STEP = 8


def run(name: str, seed: int, rows: int = HELD_OUT) -> dict:
    """One task with one seed: what it was trained with, and what was measured at each stage."""
    torch.manual_seed(seed)
    model, tokenizer = load_policy(MODEL)
    recipe = replace(TASKS[name], eval_rows=rows)
    kind = class_of(tokenizer, recipe.trained)
    materials = prepare(recipe, tokenizer, seed=seed, positions=positions_of(model))
    settings = recipe.settings_of("grpo", grpo.GRPOConfig, kind) | {"max_new_tokens": materials.max_new_tokens}
    config = grpo.GRPOConfig(**settings, seed=seed, log_every=0)
    reference = frozen_copy(model) if config.beta else None
    model = TRAINED[recipe.trained](model)

    def measured(seconds: float = 0.0) -> dict:
        """Held-out rewards of the policy as it is, the seconds that brought it here, and the most memory so far."""
        options = measuring(recipe, materials)
        drawn = options | {"temperature": 1.0, "num_generations": DRAWN}
        greedy = options | {"temperature": 0.0, "num_generations": 1}
        means = {
            way: rounded(evaluate(model, tokenizer, materials.eval_rows, recipe.measured, **how).mean, 4)
            for way, how in (("greedy", greedy), ("drawn", drawn))
        }
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        return means | {"seconds": rounded(seconds, 4), "peak GB": rounded(peak, 3)}

    stages = {"before": measured()}
    clock = Clock()
    warm = recipe.warm_up_of(kind)
    if warm is not None:
        warm_up(recipe, warm, model, tokenizer, materials.examples, seed)
        stages["warm-up"] = measured(clock.seconds)
        reference = reference and frozen_copy(model)
    start = trained_weights(model)
    clock = Clock()
    history = grpo.train(
        model,
        tokenizer,
        materials.train_rows,
        recipe.reward_funcs,
        config,
        reference=reference,
        constraint=materials.constraint,
        environment_factory=recipe.environment_factory,
        progress=False,
    )
    seconds = clock.seconds
    stages["GRPO"] = measured(seconds)
    if hasattr(recipe.task, "solved"):
        put_back(model, start)
        updates = learn_from_answers(model, tokenizer, recipe, materials, settings["learning_rate"], seed, seconds)
        stages["right answers"] = measured(seconds) | {"updates": updates}
    return {
        "task": name,
        "seed": seed,
        "class": kind,
        "settings": settings_for(name, kind) | {"examples": materials.examples, "warm-up": warm_up_for(name, kind)},
        "held-out rows": len(materials.eval_rows),
        "drawn of each": DRAWN,
        "stages": stages,
        "reward by step": [rounded(record["reward"], 3) for record in history],
        "equal groups": rounded(sum(record["frac_reward_zero_std"] for record in history) / len(history), 3),
    }


def learn_from_answers(
    model, tokenizer, recipe: Recipe, materials: Materials, rate: float, seed: int, seconds: float
) -> int:
    """Supervised updates on right answers to training questions until the seconds are over; their number."""
    rows = recipe.solved(len(materials.train_rows), seed=seed)
    documents = documents_for(recipe, rows, tokenizer, materials.examples)
    clock = Clock()
    config = TrainingConfig(
        steps=RIGHT_ANSWERS, prompts_per_step=ANSWERS_A_STEP, learning_rate=rate, seed=seed, log_every=0
    )
    history = supervised.train(
        model, tokenizer, documents, config, progress=False, stop=lambda: clock.seconds > seconds
    )
    return len(history)


def recorded_runs(path: Path = RUNS) -> list[dict]:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []


def record(made: dict, path: Path, order: Callable[[dict], tuple]) -> None:
    """Put a run beside the others of a file, in an order."""
    runs = sorted([*recorded_runs(path), made], key=order)
    path.write_text(json.dumps(runs, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def is_there(name: str, seed: int) -> bool:
    """True where the task has a run of this seed with the settings that it has today."""
    kind = {one["class"] for one in recorded_runs() if one["task"] == name}
    wanted = [settings_for(name, one) | {"warm-up": warm_up_for(name, one)} for one in kind]
    return any(
        one["seed"] == seed and {k: v for k, v in one["settings"].items() if k != "examples"} in wanted
        for one in recorded_runs()
        if one["task"] == name
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real_model_tasks", description=__doc__.split("\n\n")[0])
    parser.add_argument("task", choices=list(TASKS))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    if is_there(options.task, options.seed):
        print(f"{options.task} has a run of seed {options.seed} with these settings already.")
        return
    code = code_version()
    made = run(options.task, options.seed) | {
        "threads": torch.get_num_threads(),
        "code": code,
        "date": datetime.date.today().isoformat(),
    }
    record(made, RUNS, lambda one: (list(TASKS).index(one["task"]), one["seed"]))
    print(json.dumps(made["stages"], indent=1), "\nreward by step", made["reward by step"])


if __name__ == "__main__":
    main()
