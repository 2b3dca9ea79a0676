"""A control of `notebooks/more_samples.ipynb`: is it any judge that misleads among many samples, or one of few pairs?

The judge of poker, fitted to 200 pairs as in `more_samples` and to 1,000, picks among the same samples of the base model.
"""

from dataclasses import dataclass, replace

from benchmarks.sweeps.measuring import rounded
from benchmarks.sweeps.more_samples import (
    JUDGE,
    PAIR_DRAWS,
    by_scores,
    drawn_of,
    groups,
    models,
    pairs_of,
    rows_of,
    scores_of,
)
from shared import reward_model
from shared.reward_model import RewardModel

TASK = "poker"
DRAWN = 32


@dataclass(frozen=True)
class Judge:
    """A judge of so many pairs, taken from the first pair of so many training rows."""

    pairs: int
    rows: int = 2000


CONDITIONS = {"200 pairs": Judge(200), "1,000 pairs": Judge(1000)}


def run(name: str, seed: int) -> dict:
    """The reward of the best of 1, 2, 4 ... 32 by the judge, and the share of other pairs that it orders right."""
    condition = CONDITIONS[name]
    base, tokenizer = models()
    train_rows, rows = rows_of(TASK)
    pairs = pairs_of(drawn_of(base, TASK, train_rows[: condition.rows], PAIR_DRAWS, seed + 100))
    assert len(pairs) > condition.pairs, f"{len(pairs)} pairs are too few"
    judge = RewardModel(base, tokenizer)
    config = replace(JUDGE, prompts_per_step=condition.pairs)
    reward_model.train(judge, pairs[: condition.pairs], config, progress=False)
    drawn = drawn_of(base, TASK, rows, DRAWN, seed)
    rewards = groups(drawn.rewards.tolist(), DRAWN)
    chosen = by_scores(groups(scores_of(judge, drawn), DRAWN), rewards)
    return {
        "judge": chosen,
        "best of 32": chosen[-1],
        "accuracy": rounded(reward_model.accuracy(judge, pairs[condition.pairs :])),
    }


def told(measured: dict) -> str:
    return f"best of 8 {measured['judge'][3]:.3f}, best of 32 {measured['best of 32']:.3f}, accuracy {measured['accuracy']:.3f}"
