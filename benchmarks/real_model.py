"""A real model on a task of the course: `benchmarks/real_model.md`, its table and picture, from the recorded sweep.

    python -m benchmarks.real_model

Nothing is trained here; `python -m benchmarks.sweeps real_model` does that, in half an hour on one thread.
"""

from pathlib import Path

import matplotlib.pyplot as plt

from shared.plots import STYLE
from shared.recorded import Recorded, recorded

PAGE = Path(__file__).with_suffix(".md")
PICTURE = PAGE.with_suffix(".png")
BEGIN, END = "<!-- table -->\n", "<!-- end of the table -->\n"
# Columns of the table: head, field of the records, decimals.
COLUMNS = (
    ("format, greedy", "format, greedy", 2),
    ("format, sampled", "format, sampled", 2),
    ("right, greedy", "correct, greedy", 2),
    ("plain questions of 10", "known", 0),
    ("surprise, nats a token", "nats a token", 3),
    ("CPU s", "training seconds", 0),
)


def table(sweep: Recorded) -> str:
    """The conditions as a Markdown table: the mean of the seeds, and lowest and highest where they differ."""
    rows = [[name, *(_cell(sweep, name, *column[1:]) for column in COLUMNS)] for name in sweep.conditions]
    heads = ["", *(head for head, _, _ in COLUMNS)]
    return "".join(f"| {' | '.join(line)} |\n" for line in (heads, ["---"] * len(heads), *rows))


def _cell(sweep: Recorded, condition: str, measure: str, decimals: int) -> str:
    if measure not in sweep.of(condition)[0]:
        return "none"
    _, low, high = (f"{value:.{decimals}f}" for value in sweep.spread(condition, measure))
    return low if low == high else sweep.told(condition, measure, decimals)


def with_table(page: str, made: str) -> str:
    """The page with this table between its two marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + made + END + after


def draw(sweep: Recorded, path: Path) -> None:
    """Held-out sums in the format, greedy and sampled, a dot for each seed."""
    names = sweep.conditions[::-1]
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(1, 2, figsize=(9, 3), sharey=True, layout="constrained")
        for axis, way in zip(axes, ("greedy", "sampled"), strict=True):
            for place, name in enumerate(names):
                shares = [run[f"format, {way}"] for run in sweep.of(name)]
                axis.plot(shares, [place] * len(shares), "o", alpha=0.7)
            axis.set(title=f"in the format, {way}", xlim=(-0.05, 1.05), xlabel="share of 48 held-out sums")
        axes[0].set_yticks(range(len(names)), names)
        figure.savefig(path, dpi=120)
        plt.close(figure)


def main() -> None:
    sweep = recorded("real_model")
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), table(sweep)), encoding="utf-8")
    draw(sweep, PICTURE)
    print(f"{sweep.origin}\nwritten to {PAGE} and {PICTURE}")


if __name__ == "__main__":
    main()
