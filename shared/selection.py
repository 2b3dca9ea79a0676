"""One answer from several samples: by a vote, or by what a checker or a judge thinks of them.

A vote needs no judge. Best of n takes the sample with the highest score: that of a rule, or of a reward model. What n
samples are worth is estimated from more than n by `best_of_n`.
`notebooks/more_samples.ipynb` writes them as exercises.
"""

import math
from collections import Counter
from collections.abc import Sequence


def vote(answers: Sequence[str]) -> str:
    """The most frequent answer; of several as frequent, the one that came first. "" abstains, and is the result when
    nobody votes (self-consistency, Wang et al. 2022, arXiv:2203.11171).

    Samples come in any order with the same chance, so that the first of a tie is a fair draw among the tied; the
    smallest in the alphabet is not.
    """
    counts = Counter(answer for answer in answers if answer)
    return max(counts, key=counts.__getitem__, default="")


def best_of_n(scores: Sequence[float], rewards: Sequence[float], n: int) -> float:
    """The expected reward of the sample with the highest score among n, estimated without bias from N >= n samples.

    The mean over all choices of n out of N: with the samples ordered by score, lowest first, the i-th is the best of
    C(i - 1, n - 1) choices, so the estimate is sum_i C(i - 1, n - 1) reward_i / C(N, n) (Hilton and Gao 2022, "Measuring
    Goodhart's law"). With rewards of 0 and 1 that are their own scores it is `shared.statistics.pass_at_k`.

    Args:
        scores: N numbers; samples with equal scores take the mean of their rewards.

    Raises ValueError when n is not between 1 and N, or there is not one score for each reward.
    """
    N = len(rewards)
    if len(scores) != N or not 1 <= n <= N:
        raise ValueError(f"There are {N} rewards, {len(scores)} scores, and n is {n}; it must lie between 1 and {N}.")
    tied: dict[float, list[float]] = {}
    for score, reward in zip(scores, rewards):
        tied.setdefault(score, []).append(reward)
    expected = 0.0
    below = 0
    for score in sorted(tied):
        up_to = below + len(tied[score])
        chance = math.comb(up_to, n) - math.comb(below, n)  # choices whose best sample has this score
        expected += chance / math.comb(N, n) * sum(tied[score]) / len(tied[score])
        below = up_to
    return expected
