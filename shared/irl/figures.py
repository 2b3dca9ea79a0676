"""Figures of notebooks/maxent_irl.ipynb: values and policies on the grid, in the style of `shared.plots`."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from shared.irl.worlds import MOVES, PerState, Policy
from shared.plots import STYLE, VERMILLION, WIDTH

IN_A_LINE = 2  # maps side by side


def grid_maps(
    maps: dict[str, PerState],
    policies: dict[str, Policy] | None = None,
    mark: dict[str, Sequence[int]] | None = None,
) -> Figure:
    """One square of fields for each map, two in a line, state 0 at the lower left, each with its own colour scale.

    Args:
        maps: a number for each state (S,), by title.
        policies: (S, A) arrows on the map of the same title, as long as the action is likely; below 0.1 none.
        mark: states to frame on the map of the same title.

    Raises ValueError when a map has no square number of states.
    """
    with plt.rc_context(STYLE | {"axes.grid": False}):
        lines = -(-len(maps) // IN_A_LINE)
        figure, axes = plt.subplots(lines, IN_A_LINE, figsize=(WIDTH, 2.1 * lines), layout="constrained")
        for axis in axes.flat[len(maps) :]:
            axis.remove()
        for axis, (title, values) in zip(axes.flat, maps.items()):
            size = round(len(values) ** 0.5)
            if size * size != len(values):
                raise ValueError(f"The map {title!r} has {len(values)} states, which do not fill a square.")
            image = axis.imshow(np.reshape(values, (size, size)), origin="lower", cmap="cividis")
            figure.colorbar(image, ax=axis, shrink=0.8).ax.tick_params(labelsize=8)
            axis.set_title(title)
            axis.set_axis_off()
            if policies and title in policies:
                _arrows(axis, size, policies[title], image)
            elif size <= 8:
                _numbers(axis, size, values, image)
            for state in (mark or {}).get(title, ()):
                corner = (state % size - 0.46, state // size - 0.46)
                axis.add_patch(Rectangle(corner, 0.92, 0.92, fill=False, edgecolor=VERMILLION, linewidth=2.2))
    plt.close(figure)
    return figure


def _ink(values: PerState, image) -> list[str]:
    """White on the dark half of the colour scale, black on the light half."""
    return ["black" if share > 0.55 else "white" for share in image.norm(values)]


def _numbers(axis: Axes, size: int, values: PerState, image) -> None:
    for state, (value, colour) in enumerate(zip(values, _ink(values, image))):
        axis.text(state % size, state // size, f"{value:.2g}", ha="center", va="center", fontsize=7, color=colour)


def _arrows(axis: Axes, size: int, policy: Policy, image) -> None:
    states = np.arange(size * size)
    x = np.repeat(states % size, len(MOVES))
    y = np.repeat(states // size, len(MOVES))
    steps = (0.46 * policy[..., None] * MOVES).reshape(-1, 2)  # (S A, 2)
    shown = policy.ravel() > 0.1
    colours = np.repeat(_ink(image.get_array().ravel(), image), len(MOVES))
    axis.quiver(
        x[shown],
        y[shown],
        steps[shown, 0],
        steps[shown, 1],
        color=colours[shown],
        angles="xy",
        scale_units="xy",
        scale=1,
        width=0.01,
        headwidth=3.2,
        headlength=3,
        headaxislength=3,
        minlength=0.1,
    )
