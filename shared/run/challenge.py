"""The completions that a run draws until its policy reaches a reward on held-out rows.

Who takes part hands in a file of `--result`. The algorithm, its settings and --lora are taken from it; task, model, seed,
rows, steps and measurements are the challenge's, so that everybody has the same ones.
"""

import importlib
import math
from collections.abc import Callable
from pathlib import Path

from shared import training
from shared.engine.processes import ALONE
from shared.recipes import RECIPES, Recipe
from shared.run.algorithms import ALGORITHMS
from shared.run.plan import Plan
from shared.run.session import ready
from shared.run.settings_file import read_options

NOT_THEIRS = ("seed", "steps", "eval_every", "log_every", "checkpoint_every", "max_new_tokens")


def recipe_of(task: str) -> Recipe:
    """The recipe of a task of the course, or the `RECIPE` of a module that can be imported."""
    return RECIPES[task] if task in RECIPES else importlib.import_module(task).RECIPE


def plan_of(settings_file: Path | None, task: str, *, budget: int, every: int, seed: int) -> Plan:
    """The run of a file's settings within a budget of completions, measured each time that at least `every` were drawn.

    settings_file: None for the task's own settings.

    Raises ValueError: the file holds no run, or one step draws more than the budget.
    """
    recipe = recipe_of(task)
    handed = {"algorithm": recipe.algorithm} if settings_file is None else read_options(settings_file)
    algorithm = handed["algorithm"]
    if algorithm not in ALGORITHMS:
        raise ValueError(f"There is no algorithm {algorithm!r}; there are {', '.join(ALGORITHMS)}.")
    fields = ALGORITHMS[algorithm].config.__dataclass_fields__
    settings = {name: handed[name] for name in fields if name in handed and name not in NOT_THEIRS}
    plan = Plan(recipe, algorithm, settings | {"seed": seed, "log_every": 0}, lora=handed.get("lora"))
    batch = completions_of_a_step(plan)
    eval_every = math.ceil(every / batch)
    if eval_every * batch > budget:
        raise ValueError(f"A measurement comes after {eval_every * batch} completions; the budget is {budget}.")
    return Plan(recipe, algorithm, plan.settings | {"eval_every": eval_every, "steps": budget // batch}, lora=plan.lora)


def completions_of_a_step(plan: Plan) -> int:
    """The completions that one step of the plan draws."""
    config = plan.config(max_new_tokens=1)
    return config.prompts_per_step * config.num_generations


def measured_until(plan: Plan, goal: float, tell: Callable[[int, float, float], None]) -> None:
    """Train until the whole 95 % interval of the held-out reward lies at or above the goal, or the plan is at its end.

    tell: is given, before the first step and at each measurement, the completions drawn so far, the held-out reward and
        the lower end of its interval, in which each prompt is one piece of evidence.
    """
    made = ready(plan, ALONE, rows_seed=plan.settings["seed"])
    measurements = []

    def measure(_) -> float:
        evaluation = made.measure("")
        low, _ = evaluation.interval()
        measurements.append(low)
        drawn = (len(measurements) - 1) * made.config.eval_every * completions_of_a_step(plan)
        tell(drawn, evaluation.mean, low)
        return evaluation.mean

    measure(made.model)
    training.train(
        made.algorithm,
        made.train_rows,
        made.config,
        evaluate=measure,
        stop=lambda: measurements[-1] >= goal,
        progress=False,
    )
