"""A control of `notebooks/more_samples.ipynb`: training and one sample, or as many seconds of sampling from the base?

    training and one sample     the processor seconds of GRPO, and of one sample of every held-out row after it
    a vote of the base          n samples of every held-out row; n was chosen once so that they take about as long

Both are timed in one process, one after the other; `more_samples` stops at 32 samples, which is less on two of the tasks.
"""

from dataclasses import dataclass, replace

from benchmarks.sweeps.measuring import rounded
from benchmarks.sweeps.more_samples import CONDITIONS as TASKS
from benchmarks.sweeps.more_samples import by_votes, drawn_of, models, rows_of, timed, trained


@dataclass(frozen=True)
class Equal:
    """A task, and how many samples of the base take as long as its training."""

    task: str
    n: int


CONDITIONS = {"dots": Equal("dots", 32), "poker": Equal("poker", 192), "countdown": Equal("countdown", 192)}


def run(name: str, seed: int) -> dict[str, float]:
    """The shares of right answers, and the seconds that each way took."""
    condition = CONDITIONS[name]
    task, rows = TASKS[condition.task], rows_of(condition.task)[1]
    base, _ = models()
    model, training = timed(lambda: trained(condition.task, seed), 1)
    after, sampling = timed(lambda: drawn_of(model, condition.task, rows, 1, seed), 1)
    voters, voting = timed(lambda: drawn_of(base, condition.task, rows, condition.n, seed), 1)
    vote = by_votes(replace(task, drawn=condition.n), rows, voters.completions, (condition.n,))[0]
    return {
        "n": condition.n,
        "trained, n = 1": rounded(after.mean),
        "seconds, trained": rounded(training + sampling),
        "base, vote of n": vote,
        "seconds, vote": voting,
    }
