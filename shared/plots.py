"""Figures: learning curves, one group under the lens, a confusion matrix. Colours are Okabe and Ito's, which
readers with any colour vision can tell apart; every function draws on its own figure and returns it."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

BLUE = "#0072B2"
ORANGE = "#E69F00"
GREEN = "#009E73"
VERMILLION = "#D55E00"
PURPLE = "#CC79A7"
SKY = "#56B4E9"
COLOURS = (BLUE, ORANGE, GREEN, VERMILLION, PURPLE, SKY)

STYLE = {
    "figure.dpi": 100,
    "savefig.dpi": 100,
    "font.size": 10,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
}
CURVES = {
    "reward": "average reward",
    "kl": "KL to the reference (nats per token)",
    "entropy": "entropy (nats per token)",
    "frac_reward_zero_std": "groups with equal rewards",
}


def smooth(values: Sequence[float], window: int) -> np.ndarray:
    """The mean of the last `window` values at each step, fewer at the beginning; same length."""
    sums = np.cumsum(np.insert(np.asarray(values, dtype=float), 0, 0.0))
    ends = np.arange(1, len(sums))
    starts = np.maximum(ends - window, 0)
    return (sums[ends] - sums[starts]) / (ends - starts)


def training_curves(
    histories: list[dict] | dict[str, list[dict]], metrics: Sequence[str] | None = None, window: int = 10
) -> Figure:
    """Metrics over training steps, one panel each: the smoothed line over the faint raw values.

    Args:
        histories: what `train` returned, or several of them by name to compare runs.
        metrics: keys of the records; by default those of `CURVES` that were recorded.
        window: steps in the moving average.

    Runs without a step, which were stopped at once, are left out; if no other is there, the figure says so.

    Raises ValueError when none of the metrics was recorded.
    """
    runs = histories if isinstance(histories, dict) else {"": histories}
    runs = {name: records for name, records in runs.items() if records}
    if not runs:
        return _saying("There are no training steps to draw: the history is empty.")
    recorded = [m for m in (metrics or CURVES) if any(m in records[0] for records in runs.values())]
    if not recorded:
        raise ValueError(f"None of the metrics {list(metrics or CURVES)} was recorded.")
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(
            1, len(recorded), figsize=(3.3 * len(recorded), 2.7), squeeze=False, layout="constrained"
        )
        for axis, metric in zip(axes[0], recorded):
            for (name, records), colour in zip(runs.items(), COLOURS):
                if metric not in records[0]:
                    continue
                steps = [record["step"] for record in records]
                values = [record[metric] for record in records]
                axis.plot(steps, values, color=colour, alpha=0.22, linewidth=0.9)
                axis.plot(steps, smooth(values, window), color=colour, label=name)
            if metric == "frac_reward_zero_std":
                axis.set_ylim(-0.03, 1.03)
            axis.set_title(CURVES.get(metric, metric))
            axis.set_xlabel("step")
        if len(runs) > 1:
            axes[0][0].legend()
    return _finished(figure)


def group_bars(
    completions: Sequence[str], rewards: Sequence[float], advantages: Sequence[float], prompt: str = ""
) -> Figure:
    """One group under the lens: the reward and the advantage of each of its G completions."""
    labels = [_short(c) for c in completions]
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(1, 2, figsize=(8.5, 0.6 + 0.3 * len(labels)), sharey=True, layout="constrained")
        rows = np.arange(len(labels))
        axes[0].barh(rows, rewards, color=SKY)
        axes[0].axvline(np.mean(rewards), color="black", linewidth=1, linestyle="--", label="the group's mean")
        axes[0].legend(loc="lower right")
        axes[0].set_title("reward")
        axes[1].barh(rows, advantages, color=[BLUE if a >= 0 else VERMILLION for a in advantages])
        axes[1].axvline(0, color="black", linewidth=1)
        axes[1].set_title("advantage")
        axes[0].set_yticks(rows, labels, family="monospace")
        axes[0].invert_yaxis()
        if prompt:
            figure.suptitle(_short(prompt, 80), family="monospace", fontsize=9)
    return _finished(figure)


def confusion_matrices(labels: Sequence[str], truth: Sequence[str], predictions: dict[str, Sequence[str]]) -> Figure:
    """One matrix for each named list of predictions: rows are the truth, columns what was said, in shares of the row.

    A prediction that is no label at all is counted in a last column, "other".
    """
    columns = [*labels, "other"]
    with plt.rc_context(STYLE | {"axes.grid": False}):
        figure, axes = plt.subplots(
            1,
            len(predictions),
            figsize=(4.6 * len(predictions) + 0.6, 4.4),
            squeeze=False,
            sharey=True,
            layout="constrained",
        )
        for axis, (name, said) in zip(axes[0], predictions.items()):
            shares = confusion_shares(labels, truth, said)
            axis.imshow(shares, cmap="Blues", vmin=0, vmax=1)
            for (row, column), share in np.ndenumerate(shares):
                if share >= 0.005:
                    axis.text(
                        column,
                        row,
                        f"{100 * share:.0f}",
                        ha="center",
                        va="center",
                        fontsize=8,
                        color="white" if share > 0.55 else "black",
                    )
            axis.set_xticks(range(len(columns)), columns, rotation=50, ha="right", rotation_mode="anchor")
            axis.set_yticks(range(len(labels)), labels)
            axis.set_title(f"{name}: {100 * np.mean(np.diag(shares[:, : len(labels)])):.0f} % balanced accuracy")
            axis.set_xlabel("said")
            axis.spines[:].set_visible(False)
        axes[0][0].set_ylabel("truth")
    return _finished(figure)


def confusion_shares(labels: Sequence[str], truth: Sequence[str], said: Sequence[str]) -> np.ndarray:
    """(L, L + 1) shares: entry (i, j) is how often label j was said where i is true; the last column is anything else."""
    index = {label: i for i, label in enumerate(labels)}
    counts = np.zeros((len(labels), len(labels) + 1))
    for true, prediction in zip(truth, said, strict=True):
        counts[index[true], index.get(prediction.strip(), len(labels))] += 1
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)


Run = tuple[Sequence[float], Sequence[float]]  # what stands on the two axes


def panels(
    curves: dict[str, dict[str, list[Run]]], xlabel: str, *, log: Sequence[str] = (), joined: bool = True
) -> Figure:
    """One panel for each title, in it the runs of each name: the first strong, the others faint.

    A name has one colour, whichever panel it stands in.

    Args:
        curves: titles to names to runs, each run its values on the two axes.
        log: titles of the panels whose vertical axis is logarithmic.
        joined: whether a run's points are joined by a line.

    Raises ValueError when there is nothing to draw, or more names than colours.
    """
    names = list(dict.fromkeys(name for named in curves.values() for name in named))
    if not names or len(names) > len(COLOURS):
        raise ValueError(f"There are {len(names)} names to draw; give at least one, and at most {len(COLOURS)}.")
    colours = dict(zip(names, COLOURS))
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(
            1, len(curves), figsize=(4.3 * len(curves), 3.1), squeeze=False, layout="constrained"
        )
        for axis, (title, named) in zip(axes[0], curves.items()):
            for name, runs in named.items():
                for number, (across, up) in enumerate(runs):
                    axis.plot(
                        across,
                        up,
                        color=colours[name],
                        marker="o",
                        markersize=3 if number else 4.5,
                        linestyle="-" if joined else "",
                        alpha=0.3 if number else 1.0,
                        zorder=2 if number else 3,
                        label="" if number else name,
                    )
            axis.set(title=title, xlabel=xlabel, yscale="log" if title in log else "linear")
            axis.legend(fontsize=8, frameon=True, framealpha=0.8, edgecolor="none")
    return _finished(figure)


def _short(text: str, width: int = 34) -> str:
    """The text on one line, safe for matplotlib's mathematics mode."""
    line = text.strip().replace("\n", "\\n").replace("$", r"\$")
    return line if len(line) <= width else line[: width - 3] + "..."


def _saying(sentence: str) -> Figure:
    """A figure in which nothing is drawn, and why."""
    figure = plt.figure(figsize=(6.4, 0.6))
    figure.text(0.5, 0.5, sentence, ha="center", va="center")
    return _finished(figure)


def _finished(figure: Figure) -> Figure:
    """Close the figure for pyplot, so that a notebook shows it once: as the value of the cell's last line."""
    plt.close(figure)
    return figure
