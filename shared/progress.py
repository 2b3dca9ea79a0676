"""The lines that a run prints while it trains: one line of averages every few steps, and sentences where something is wrong.

No line is wider than LINE_WIDTH, which a page shows without scrolling.
"""

import textwrap
from collections.abc import Sequence

from tqdm.auto import tqdm

from shared.algorithm import Metrics

LINE_WIDTH = 100
# What a line of the log shows where the metrics have it: under which name, and how exactly. All are averages.
SHOWN = {
    "reward": ("average reward", "z5.3f"),  # z: no minus before a zero
    "loss": ("loss", "+z.3f"),
    "value_loss": ("value loss", ".3f"),
    "kl": ("kl", ".3f"),
    "entropy": ("entropy", ".2f"),
    "frac_reward_zero_std": ("equal groups", ".2f"),
    "completions/mean_length": ("length", "4.1f"),
}


def log_line(records: Sequence[Metrics]) -> str:
    """Averages over the last steps: one line, or more where the columns are too many for the width."""
    columns = [f"step {records[-1]['step']:3d}"]
    for name, (label, exactly) in SHOWN.items():
        values = [record[name] for record in records if name in record]
        if values:
            columns.append(f"{label} {sum(values) / len(values):{exactly}}")
    if "eval_reward" in records[-1]:
        columns.append(f"held-out {records[-1]['eval_reward']:.3f}")
    skipped = sum(record["skipped"] for record in records)
    if skipped:
        columns.append(f"skipped {skipped:.0f}")
    return side_by_side(columns)


def side_by_side(columns: Sequence[str]) -> str:
    """The columns, two spaces between; what does not fit goes on below, under the second one."""
    indent = " " * len(columns[0])
    lines = [columns[0]]
    for column in columns[1:]:
        if len(lines[-1]) + 2 + len(column) > LINE_WIDTH:
            lines.append(indent)
        lines[-1] += f"  {column}"
    return "\n".join(lines)


def above_the_bar(text: str) -> None:
    """Print a sentence of the first process, on lines of its own."""
    tqdm.write("\n".join(textwrap.fill(line, LINE_WIDTH, break_long_words=False) for line in text.splitlines()))


def silence(text: str) -> None:
    """Print nothing: the sentences of the other processes."""
