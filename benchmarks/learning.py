"""Does it learn? Each task over several seeds, on the evaluation split, with settings like its notebook's.

    python -m benchmarks.learning            all tasks, 5 seeds, writes benchmarks/learning.md and learning.png
    python -m benchmarks.learning --recorded     writes the second table of learning.md alone, from recorded sweeps

For each seed the embedded model is trained afresh and evaluated on held-out prompts every few steps, greedily unless
the name says sampled. Times are those of training alone, on the threads that OMP_NUM_THREADS allows.
"""

import argparse
import statistics
import time
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import torch
from tqdm import tqdm

from benchmarks.learning_recorded import HEADING, section, untrained
from benchmarks.trained import train_as_told
from shared.evaluate import evaluate
from shared.models import frozen_copy, load_policy
from shared.plots import COLOURS, STYLE
from shared.recipes import RECIPES, TRAINED, Recipe, measuring, prepare

HERE = Path(__file__).parent
PAGE = HERE / "learning.md"
REMARKS = "## What these means do not show"  # from here on the page is written by hand


@dataclass(frozen=True)
class Setting:
    """A recipe, how often it is measured along training, and what it has to reach."""

    recipe: Recipe
    eval_every: int
    goal: str


SETTINGS = {
    "dots": Setting(RECIPES["dots"], 2, "at most 0.40 to at least 0.95 within 60 s"),
    "poker": Setting(RECIPES["poker"], 3, "at most 0.35 to at least 0.75 within 120 s"),
    "analogies": Setting(RECIPES["analogies"], 4, "at most 0.25 to at least 0.85"),
    "format (LoRA)": Setting(RECIPES["addition"], 5, "1.00 within 25 steps and 60 s"),
    "countdown (sampled)": Setting(RECIPES["countdown"], 5, "three times the base rate"),
}


def run(setting: Setting, seed: int) -> dict:
    """One seed: held-out reward before and along training, and the seconds of training alone."""
    torch.manual_seed(seed)
    recipe = setting.recipe
    model, tokenizer = load_policy()
    reference = frozen_copy(model)
    model = TRAINED[recipe.trained](model)
    materials = prepare(recipe, tokenizer, seed=seed)
    options = measuring(recipe, materials)
    spent = 0.0

    def measure(model) -> float:
        nonlocal spent
        started = time.perf_counter()
        result = evaluate(model, tokenizer, materials.eval_rows, recipe.measured, **options).mean
        spent += time.perf_counter() - started
        return result

    curve = [(0, measure(model))]
    spent, started = 0.0, time.perf_counter()
    asked = {"eval_every": setting.eval_every, "seed": seed}
    history = train_as_told(recipe, materials, model, tokenizer, reference=reference, evaluate=measure, **asked)
    seconds = time.perf_counter() - started - spent
    curve += [(record["step"], record["eval_reward"]) for record in history if "eval_reward" in record]
    return {"curve": curve, "seconds": seconds}


def table(results: dict[str, list[dict]]) -> str:
    """Mean and range over seeds, before and after."""
    lines = [
        "| task | seeds | before | after: mean | after: lowest to highest | seconds of training | to reach |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, runs in results.items():
        after = [r["curve"][-1][1] for r in runs]
        lines.append(
            f"| {name} | {len(runs)} | {runs[0]['curve'][0][1]:.3f} | {statistics.mean(after):.3f} | {min(after):.3f} to {max(after):.3f} "
            f"| {statistics.mean(r['seconds'] for r in runs):.0f} | {SETTINGS[name].goal} |"
        )
    return "\n".join(lines)


def picture(results: dict[str, list[dict]], path: Path) -> None:
    """Held-out reward over steps: every seed faint, the mean strong."""
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(
            1, len(results), figsize=(2.7 * len(results), 2.7), squeeze=False, sharey=True, layout="constrained"
        )
        for axis, (name, runs), colour in zip(axes[0], results.items(), COLOURS):
            for r in runs:
                axis.plot(*zip(*r["curve"]), color=colour, alpha=0.3, linewidth=1)
            steps = [step for step, _ in runs[0]["curve"]]
            means = [statistics.mean(r["curve"][i][1] for r in runs) for i in range(len(steps))]
            axis.plot(steps, means, color=colour)
            axis.set(title=name, xlabel="GRPO step", ylim=(0, 1.02))
        axes[0][0].set_ylabel("held-out reward")
        figure.savefig(path, dpi=130)
        plt.close(figure)


def write(trained: str) -> None:
    """The page: what was trained here, what the recorded sweeps hold, and the remarks that are written by hand."""
    _, remarks, said = PAGE.read_text(encoding="utf-8").partition(REMARKS)
    text = f"{trained.rstrip()}\n\n{section(untrained())}\n{remarks}{said}"
    PAGE.write_text(text, encoding="utf-8")
    print(text)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learning", description=__doc__.split("\n\n")[0])
    parser.add_argument(
        "tasks", nargs="*", default=list(SETTINGS), help=f"some of {', '.join(SETTINGS)} (default: all)"
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--recorded", action="store_true", help="train nothing: the table of the recorded sweeps alone")
    options = parser.parse_args()
    if options.recorded:
        write(PAGE.read_text(encoding="utf-8").partition(HEADING)[0])
        return
    if unknown := set(options.tasks) - SETTINGS.keys():
        parser.error(f"unknown task {sorted(unknown)[0]}; choose from {', '.join(SETTINGS)}")
    results: dict[str, list[dict]] = {name: [] for name in options.tasks}
    todo = [(name, seed) for name in options.tasks for seed in range(options.seeds)]
    for name, seed in tqdm(todo, desc="runs", unit="run"):
        results[name].append(run(SETTINGS[name], seed))
        curve = results[name][-1]["curve"]
        tqdm.write(
            f"{name} seed {seed}: {curve[0][1]:.3f} to {curve[-1][1]:.3f} in {results[name][-1]['seconds']:.0f} s"
        )
    text = table(results)
    print(text)
    if set(options.tasks) == SETTINGS.keys():
        command = f"OMP_NUM_THREADS={torch.get_num_threads()} python -m benchmarks.learning --seeds {options.seeds}"
        write(
            f"# What the tasks reach\n\nMade by `{command}`.\n\n{text}\n\n![Held-out reward over training](learning.png)\n"
        )
        picture(results, HERE / "learning.png")


if __name__ == "__main__":
    main()
