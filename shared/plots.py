"""Figures: learning curves, estimates with intervals, one group under the lens, a confusion matrix. Colours are Okabe
and Ito's, which readers with any colour vision can tell apart; every function draws on its own figure and returns it.

A figure is as wide as a phone shows without shrinking its words, so panels stand one below the other. It is drawn on
white, which a dark page shows as a card.
"""

from collections.abc import Sequence
from itertools import cycle

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from shared.tables import INTERVAL

BLUE = "#0072B2"
ORANGE = "#E69F00"
GREEN = "#009E73"
VERMILLION = "#D55E00"
PURPLE = "#CC79A7"
SKY = "#56B4E9"
COLOURS = (BLUE, ORANGE, GREEN, VERMILLION, PURPLE, SKY)
WIDTH = 4.4  # inches of a figure, 440 pixels
HIGHEST = 6.4  # inches of panels one below the other: what a window of 900 pixels shows of a notebook

STYLE: dict = {
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


History = pd.DataFrame | Sequence[dict]  # a record of averages for each step


def training_curves(
    histories: History | dict[str, History], metrics: Sequence[str] | None = None, window: int = 10
) -> Figure:
    """Metrics over training steps, one panel each: the smoothed line over the faint raw values.

    Args:
        histories: what `train` returned, records or a frame of them; or several by name to compare runs.
        metrics: keys of the records; by default those of `CURVES` that were recorded.
        window: steps in the moving average.

    Runs without a step, which were stopped at once, are left out; if no other is there, the figure says so.

    Raises ValueError when none of the metrics was recorded.
    """
    runs = histories if isinstance(histories, dict) else {"": histories}
    runs = {name: pd.DataFrame(records) for name, records in runs.items() if len(records)}
    if not runs:
        return _saying("There are no training steps to draw: the history is empty.")
    recorded = [m for m in (metrics or CURVES) if any(m in records for records in runs.values())]
    if not recorded:
        raise ValueError(f"None of the metrics {list(metrics or CURVES)} was recorded.")
    with plt.rc_context(STYLE):
        figure, axes = _stacked(len(recorded), height=2.1)
        for axis, metric in zip(axes, recorded):
            for (name, records), colour in zip(runs.items(), COLOURS):
                if metric not in records:
                    continue
                axis.plot(records["step"], records[metric], color=colour, alpha=0.22, linewidth=0.9)
                axis.plot(records["step"], smooth(records[metric], window), color=colour, label=name)
            if metric == "frac_reward_zero_std":
                axis.set_ylim(-0.03, 1.03)
            axis.set_title(CURVES.get(metric, metric))
        axes[-1].set_xlabel("step")
        if len(runs) > 1:
            axes[0].legend()
    return _finished(figure)


def estimates(rows: pd.DataFrame | Sequence[dict], measure: str = "reward", colours: Sequence[str] = (BLUE,)) -> Figure:
    """A line for each row: its name, its value as a dot and in figures, its interval as a bar, its seeds as rings.

    Args:
        rows: a name in the first column, then `measure`; where they are there, "95 % interval" holds a pair and "seeds"
            a list of the values of every seed. A row may lack either.
        colours: of the first row, of the second and so on, and again from the beginning.
    """
    frame = pd.DataFrame(rows)
    names = [str(name) for name in frame.iloc[:, 0]]
    with plt.rc_context(STYLE):
        figure, (axis,) = _stacked(1, height=0.8 + 0.36 * len(frame))
        for place, ((_, row), colour) in enumerate(zip(frame.iterrows(), cycle(colours))):
            seeds = row.get("seeds")
            for seed in seeds if isinstance(seeds, list) else []:
                axis.plot(seed, place + 0.24, "o", markersize=4.5, markerfacecolor="none", color=colour, clip_on=False)
            if isinstance(row.get(INTERVAL), tuple):
                axis.plot(row[INTERVAL], (place, place), color=colour, linewidth=5, alpha=0.35)
            axis.plot(row[measure], place, "o", markersize=7, color=colour, clip_on=False, zorder=3)
            axis.annotate(
                f"{row[measure]:.3f}",
                (1.03, place),
                xycoords=("axes fraction", "data"),
                va="center",
                annotation_clip=False,
            )
        axis.set_yticks(range(len(names)), names)
        axis.set_ylim(len(names) - 0.5, -0.5)
        axis.set_xlabel(measure)
        low, high = axis.get_xlim()
        if 0 <= min(frame[measure]) and max(frame[measure]) <= 1 and high - low > 0.3:
            axis.set_xlim(-0.02, 1.02)
    return _finished(figure)


def group_bars(
    completions: Sequence[str], rewards: Sequence[float], advantages: Sequence[float], prompt: str = ""
) -> Figure:
    """One group under the lens: its G completions, below each its reward and its advantage."""
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(
            1, 2, figsize=(WIDTH, 0.9 + 0.42 * len(completions)), sharey=True, layout="constrained"
        )
        rows = np.arange(len(completions))
        axes[0].barh(rows, rewards, height=0.4, color=SKY)
        axes[0].axvline(np.mean(rewards), color="black", linewidth=1, linestyle="--")
        axes[0].set_title("reward (dashed: mean)")
        axes[1].barh(rows, advantages, height=0.4, color=[BLUE if a >= 0 else VERMILLION for a in advantages])
        axes[1].axvline(0, color="black", linewidth=1)
        axes[1].set_title("advantage")
        for row, completion in zip(rows, completions):
            axes[0].annotate(
                _short(completion), (0, row - 0.28), xycoords=("axes fraction", "data"), family="monospace", fontsize=8
            )
        axes[0].set_yticks([])
        axes[0].set_ylim(len(completions) - 0.6, -0.8)
        if prompt:
            figure.suptitle(_short(prompt, 48), family="monospace", fontsize=9)
    return _finished(figure)


def confusion_matrices(labels: Sequence[str], truth: Sequence[str], predictions: dict[str, Sequence[str]]) -> Figure:
    """One matrix for each named list of predictions: rows are the truth, columns what was said, in shares of the row.

    A prediction that is no label at all is counted in a last column, "other".
    """
    columns = [*labels, "other"]
    with plt.rc_context(STYLE | {"axes.grid": False}):
        figure, axes = _stacked(len(predictions), height=min(4.2, HIGHEST / len(predictions)))
        for axis, (name, said) in zip(axes, predictions.items()):
            shares = confusion_shares(labels, truth, said)
            axis.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
            for (row, column), share in np.ndenumerate(shares):
                # A smaller share would be written as 0.
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
            axis.set_xticks([])
            axis.set_yticks(range(len(labels)), labels)
            axis.set_title(f"{name}: {100 * np.mean(np.diag(shares[:, : len(labels)])):.0f} % balanced accuracy")
            axis.set_ylabel("truth")
            axis.spines[:].set_visible(False)
        axes[-1].set_xticks(range(len(columns)), columns, rotation=50, ha="right", rotation_mode="anchor")
        axes[-1].set_xlabel("said")
    return _finished(figure)


def confusion_shares(labels: Sequence[str], truth: Sequence[str], said: Sequence[str]) -> np.ndarray:
    """(L, L + 1) shares: entry (i, j) is how often label j was said where i is true; the last column is anything else."""
    index = {label: i for i, label in enumerate(labels)}
    counts = np.zeros((len(labels), len(labels) + 1))
    for true, prediction in zip(truth, said, strict=True):
        counts[index[true], index.get(prediction.strip(), len(labels))] += 1
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)


Run = tuple[Sequence[float] | Sequence[str], Sequence[float]]  # what stands on the two axes; texts stand side by side


def panels(
    curves: dict[str, dict[str, list[Run]]],
    xlabel: str,
    *,
    log: Sequence[str] = (),
    joined: bool = True,
    legend_below: bool = False,
) -> Figure:
    """One panel for each title, in it the runs of each name: the first strong, the others faint.

    A name has one colour, whichever panel it stands in.

    Args:
        curves: titles to names to runs, each run its values on the two axes.
        log: titles of the panels whose vertical axis is logarithmic.
        joined: whether a run's points are joined by a line.
        legend_below: one legend of all names below the panels, where names in a panel would cover its lines.

    Raises ValueError when there is nothing to draw, or more names than colours.
    """
    names = list(dict.fromkeys(name for named in curves.values() for name in named))
    if not names or len(names) > len(COLOURS):
        raise ValueError(f"There are {len(names)} names to draw; give at least one, and at most {len(COLOURS)}.")
    colours = dict(zip(names, COLOURS))
    with plt.rc_context(STYLE):
        figure, axes = _stacked(len(curves), height=min(2.8, HIGHEST / len(curves)))
        for axis, (title, named) in zip(axes, curves.items()):
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
            axis.set(title=title, yscale="log" if title in log else "linear")
            if not legend_below:
                axis.legend(fontsize=9, frameon=True, framealpha=0.8, edgecolor="none")
        axes[-1].set_xlabel(xlabel)
        if legend_below:
            of_names = {name: line for axis in axes for line, name in zip(*axis.get_legend_handles_labels())}
            figure.legend(of_names.values(), of_names, loc="outside lower center", ncols=2, fontsize=9)
    return _finished(figure)


def _stacked(count: int, height: float) -> tuple[Figure, np.ndarray]:
    """A figure with so many panels, one below the other, each of this height in inches."""
    figure, axes = plt.subplots(count, 1, figsize=(WIDTH, height * count + 0.2), squeeze=False, layout="constrained")
    return figure, axes[:, 0]


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
