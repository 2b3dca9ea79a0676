"""Controls of `notebooks/transfer.ipynb`: does the rate decide what is kept of long rows, or how many steps are made?

Rates 3e-5 and 1e-4 of `transfer`, which made 30 steps with both, after more steps and after fewer.
"""

from dataclasses import replace

from benchmarks.sweeps.measuring import rounded
from benchmarks.sweeps.transfer import MEASURED_AT, SHORT, Rows, accuracies, rows_for_choosing, trained_on_rows
from shared.tasks.documents import ANSWER_KEY

UP_TO = MEASURED_AT.index(10) + 1  # lengths that the base model knows
CONDITIONS = {
    f"rate {rate:.0e}, {steps} steps": Rows(replace(SHORT, learning_rate=rate, steps=steps))
    for rate, steps in ((3e-5, 60), (1e-4, 10))
}


def run(name: str, seed: int) -> dict[str, float]:
    """On rows for choosing: the mean accuracy over 4 to 10 symbols, and over 9 and 10 below the header."""
    condition = CONDITIONS[name]
    model, trained = trained_on_rows(condition, seed, condition.config.steps)
    rows = rows_for_choosing(trained)
    plain = accuracies(model, rows)[:UP_TO]
    below = accuracies(model, [row | {"prompt": ANSWER_KEY + row["prompt"]} for row in rows])[:UP_TO]
    return {"4 to 10": rounded(sum(plain) / len(plain)), "9 and 10 below the header": rounded(sum(below[-2:]) / 2)}
