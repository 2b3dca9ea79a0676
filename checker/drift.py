"""Whether a fresh run bears out the outputs that are saved in a notebook.

The numbers that a notebook's text quotes are those of its saved run. Of a fresh one the two rewards that are printed
with an interval, before and after training, should lie within the saved intervals; else the text speaks of another run.
A run that differs in rounding (another number of threads, another processor) may leave them too, so it is told and is
no failure.
"""

import re

from checker.convert import plain
from checker.notebook import Notebook

REWARD = re.compile(
    r"^(baseline|fine-tuned) reward +(-?\d+\.\d+) +\(95 % interval (-?\d+\.\d+) to (-?\d+\.\d+)", re.MULTILINE
)


def key_numbers(notebook: Notebook) -> dict[str, tuple[float, float, float]]:
    """The rewards that the outputs print with an interval, "baseline" and "fine-tuned": value, low, high."""
    text = "\n".join(plain(cell.text_output) for cell in notebook.code_cells)
    return {name: (float(value), float(low), float(high)) for name, value, low, high in REWARD.findall(text)}


def drifted(saved: Notebook, fresh: Notebook) -> list[str]:
    """A sentence for each reward of the fresh run that is not in the interval of the saved one."""
    measured = key_numbers(fresh)
    found = []
    for name, (was, low, high) in key_numbers(saved).items():
        now = measured.get(name, (was,))[0]
        if not low <= now <= high:
            found.append(
                f"The {name} reward is {now:.3f}; the saved outputs say {was:.3f} ({low:.3f} to {high:.3f}). Run the "
                "notebook again with --in-place, and read whether its text still fits."
            )
    return found
