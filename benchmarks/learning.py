"""Does it learn? Each task over several seeds, on the evaluation split, with settings like its notebook's.

    python -m benchmarks.learning            all tasks, 5 seeds, writes benchmarks/learning.md and learning.png

For each seed the embedded model is trained afresh and evaluated on held-out prompts every few steps, greedily unless
the name says sampled. Times are those of training alone, on the threads that OMP_NUM_THREADS allows.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

import matplotlib.pyplot as plt
import torch
from tqdm import tqdm
from transformers import PreTrainedModel

from shared.constrain import answer_trie
from shared.evaluate import evaluate
from shared.grpo import GRPOConfig, train
from shared.models import add_lora, frozen_copy, load_policy, train_upper_half
from shared.plots import COLOURS, STYLE
from shared.prompts import answers_for, max_new_tokens_for, rows_for
from shared.rewards import RewardFunction
from shared.tasks import addition, analogies, countdown, dots, poker

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Setting:
    """How a task is trained, and what it has to reach."""

    task: ModuleType
    rewards: list[RewardFunction]  # what training pays
    measured: RewardFunction  # what is shown
    config: GRPOConfig
    train_rows: int
    eval_rows: int
    goal: str
    constrained: bool = False
    samples: int = 0  # 0 measures greedy completions, else so many at temperature 1 for each prompt
    prepare: Callable[[PreTrainedModel], PreTrainedModel] = lambda model: model  # which weights are trained


SETTINGS = {
    "dots": Setting(
        dots,
        [dots.reward],
        dots.reward,
        GRPOConfig(
            steps=40, prompts_per_step=16, num_generations=8, learning_rate=1e-4, beta=0.02, eval_every=2, log_every=0
        ),
        train_rows=512,
        eval_rows=200,
        goal="at most 0.40 to at least 0.95 within 60 s",
    ),
    "poker": Setting(
        poker,
        [poker.weighted_reward],
        poker.reward,
        GRPOConfig(
            steps=60, prompts_per_step=32, num_generations=8, learning_rate=3e-4, beta=0.05, eval_every=3, log_every=0
        ),
        train_rows=2000,
        eval_rows=400,
        goal="at most 0.35 to at least 0.75 within 120 s",
        constrained=True,
    ),
    "analogies": Setting(
        analogies,
        [analogies.reward],
        analogies.reward,
        GRPOConfig(steps=24, prompts_per_step=32, num_generations=8, learning_rate=5e-4, eval_every=4, log_every=0),
        train_rows=3000,
        eval_rows=339,
        goal="at most 0.25 to at least 0.85",
        prepare=train_upper_half,
    ),
    "format (LoRA)": Setting(
        addition,
        [addition.format_reward],
        addition.format_reward,
        GRPOConfig(
            steps=25, prompts_per_step=16, num_generations=8, learning_rate=1.5e-3, beta=0.6, eval_every=5, log_every=0
        ),
        train_rows=1000,
        eval_rows=200,
        goal="1.00 within 25 steps and 60 s",
        prepare=add_lora,
    ),
    "countdown (sampled)": Setting(
        countdown,
        [countdown.format_reward, countdown.correctness_reward],
        countdown.correctness_reward,
        GRPOConfig(steps=40, prompts_per_step=16, num_generations=8, learning_rate=3e-4, eval_every=5, log_every=0),
        train_rows=1000,
        eval_rows=200,
        goal="three times the base rate",
        samples=4,
    ),
}


def run(setting: Setting, seed: int) -> dict:
    """One seed: held-out reward before and along training, and the seconds of training alone."""
    torch.manual_seed(seed)
    model, tokenizer = load_policy()
    reference, model = frozen_copy(model), setting.prepare(model)
    task = setting.task
    trie = answer_trie(tokenizer, answers_for(tokenizer, task.LABELS)) if setting.constrained else None
    rows = rows_for(tokenizer, task.dataset("train", setting.train_rows, seed=seed), task)
    held_out = rows_for(tokenizer, task.dataset("eval", setting.eval_rows, seed=0), task)
    max_new_tokens = max_new_tokens_for(tokenizer, task)
    spent = 0.0

    def measure(model) -> float:
        nonlocal spent
        started = time.perf_counter()
        options = {"temperature": 1.0, "num_generations": setting.samples} if setting.samples else {}
        result = evaluate(
            model, tokenizer, held_out, setting.measured, max_new_tokens=max_new_tokens, constraint=trie, **options
        ).mean
        spent += time.perf_counter() - started
        return result

    curve = [(0, measure(model))]
    spent, started = 0.0, time.perf_counter()
    config = replace(setting.config, max_new_tokens=max_new_tokens, seed=seed)
    history = train(
        model,
        tokenizer,
        rows,
        setting.rewards,
        config,
        reference=reference,
        constraint=trie,
        evaluate=measure,
        progress=False,
    )
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


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learning", description=__doc__.split("\n\n")[0])
    parser.add_argument(
        "tasks", nargs="*", default=list(SETTINGS), help=f"some of {', '.join(SETTINGS)} (default: all)"
    )
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
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
        (HERE / "learning.md").write_text(
            f"# What the tasks reach\n\nMade by `{command}`.\n\n{text}\n\n![Held-out reward over training](learning.png)\n"
        )
        picture(results, HERE / "learning.png")


if __name__ == "__main__":
    main()
