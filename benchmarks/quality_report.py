"""From the runs that `benchmarks.quality` has measured to the table of quality.md and the picture quality.png."""

import json
from pathlib import Path
from statistics import geometric_mean

import matplotlib.pyplot as plt

from shared.plots import COLOURS, STYLE

HERE = Path(__file__).parent
# Those of a real model are few and slow: they stay in the repository.
RUNS_OF_A_REAL_MODEL = HERE / "real_model_quality.jsonl"
WALL, CPU, REWARD = range(3)  # of a point of a curve
HEAD = """# Time to quality

Made by `python -m benchmarks.quality`, which says what is compared. Seconds of training until the held-out reward is
what stands beside the task: the geometric mean over the seeds, and the lowest and the highest. "Times ours" is taken
seed by seed. The machine is shared: on one thread CPU seconds are compared, which other programs change little, on
two threads seconds on the wall. Runs of the contestants alternate.
"""


def recorded_runs(results: Path) -> list[dict]:
    """The runs of a file, a line each; of those that were made again the last."""
    return newest([json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()])


def newest(records: list[dict]) -> list[dict]:
    """Of runs that were made again, the last."""
    by_run = {(r["task"], r["threads"], r["seed"], r["contestant"]): r for r in records}
    return list(by_run.values())


def clock_of(threads: int) -> int:
    """The seconds that are compared: other programs change CPU seconds little, and several threads share them."""
    return CPU if threads == 1 else WALL


def seconds_to_goal(records: list[dict], contestant: str, which: int) -> dict[int, float]:
    """The seconds of each seed's run that got there."""
    runs = [r for r in records if r["contestant"] == contestant and r["reached"]]
    return {r["seed"]: r["curve"][-1][which] for r in runs}


def times_ours(records: list[dict], contestant: str, which: int) -> list[float]:
    """Seconds of the contestant over seconds of ours, one ratio for each seed in which both got there."""
    own = seconds_to_goal(records, "ours", which)
    theirs = seconds_to_goal(records, contestant, which)
    return [theirs[seed] / own[seed] for seed in theirs if seed in own]


def spread(values: list[float], digits: int) -> str:
    """Geometric mean, lowest and highest."""
    if not values:
        return "never"
    low = f"{min(values):.{digits}f}"
    high = f"{max(values):.{digits}f}"
    return f"{geometric_mean(values):.{digits}f} ({low} to {high})"


def table(records: list[dict]) -> str:
    lines = [
        "| task, held-out reward | threads | contestant | reached | steps | CPU seconds | wall seconds | times ours |",
        "|---|---|---|---|---|---|---|---|",
    ]
    settings = sorted({(r["task"], r["goal"], r["threads"]) for r in records})
    for task, goal, threads in settings:
        runs = [r for r in records if (r["task"], r["threads"]) == (task, threads)]
        for contestant in dict.fromkeys(r["contestant"] for r in runs):
            own = [r for r in runs if r["contestant"] == contestant]
            steps = [len(r["curve"]) - 1 for r in own if r["reached"]]
            cpu = list(seconds_to_goal(runs, contestant, CPU).values())
            wall = list(seconds_to_goal(runs, contestant, WALL).values())
            ratio = spread(times_ours(runs, contestant, clock_of(threads)), 1)
            told = f"{min(steps)} to {max(steps)}" if steps else "never"
            lines.append(
                f"| {task}, {goal:.2f} | {threads} | {contestant} | {len(steps)} of {len(own)} | {told} "
                f"| {spread(cpu, 2)} | {spread(wall, 2)} | {'1' if contestant == 'ours' else ratio} |"
            )
    return "\n".join(lines)


def picture(records: list[dict], path: Path) -> None:
    """Held-out reward over seconds, on the fewest threads that were measured; a line for each seed."""
    threads = min(r["threads"] for r in records)
    shown = [r for r in records if r["threads"] == threads]
    tasks = list(dict.fromkeys(r["task"] for r in shown))
    colours = dict(zip(dict.fromkeys(r["contestant"] for r in shown), COLOURS))
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(1, len(tasks), figsize=(2.9 * len(tasks), 3), squeeze=False, layout="constrained")
        for axis, task in zip(axes[0], tasks):
            runs = [r for r in shown if r["task"] == task]
            labelled = set()
            for r in runs:
                contestant = r["contestant"]
                seconds = [max(point[clock_of(threads)], 0.1) for point in r["curve"]]
                label = None if contestant in labelled else contestant
                labelled.add(contestant)
                axis.plot(seconds, [point[REWARD] for point in r["curve"]], color=colours[contestant], label=label)
            axis.axhline(runs[0]["goal"], color="black", linewidth=0.8, linestyle=":")
            axis.set(
                title=task, xscale="log", xlabel=f"seconds, {threads} CPU thread{'s' * (threads > 1)}", ylim=(0, 1.02)
            )
        axes[0][0].set_ylabel("held-out reward")
        figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=len(colours))
        figure.savefig(path, dpi=130)
        plt.close(figure)


def write_report(records: list[dict]) -> None:
    picture(records, HERE / "quality.png")
    text = f"{HEAD}\n{table(records)}\n\n![Held-out reward over seconds of training](quality.png)\n"
    (HERE / "quality.md").write_text(text)
    print(text)
