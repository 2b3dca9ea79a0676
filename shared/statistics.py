"""Intervals for what was measured on a sample of prompts: shares, means of rewards, gains of paired measurements.

A share of rights and wrongs gets the interval of Wilson (1927), which has a width at 0 and at 1 too, where resampling
has none; a mean of other numbers is resampled (Efron 1979). Values that belong together, as several questions about
one fact do, are resampled together: they are one piece of evidence.
"""

import math
from collections.abc import Hashable, Sequence
from statistics import NormalDist

import torch
from jaxtyping import Float
from torch import Tensor

Interval = tuple[float, float]


def mean_interval(
    values: Float[Tensor, "N"], confidence: float = 0.95, clusters: Sequence[Hashable] | None = None
) -> Interval:
    """The interval of the mean of `values`: Wilson's where all are 0 or 1, else the bootstrap's.

    Args:
        clusters: N names; values with the same name are one piece of evidence. By default each stands alone.

    Raises ValueError when there are no values, or not one name for each.
    """
    values = values.float().cpu()
    if not len(values):
        raise ValueError("There are no values to take a mean of.")
    if clusters is not None:
        sums, sizes = cluster_sums(values, clusters)
        if not bool((sums == 0).all() or (sums == sizes).all()):
            return bootstrap_interval(sums, confidence, sizes=sizes)
        values = sums / sizes
    if is_binary(values):
        return wilson_interval(int(values.sum()), len(values), confidence)
    return bootstrap_interval(values, confidence)


def wilson_interval(right: int, count: int, confidence: float = 0.95) -> Interval:
    """Wilson's (1927) score interval of a share, `right` of `count`: the shares p with |p - right / count| <=
    z sqrt(p (1 - p) / count)."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = right / count
    centre = share + z * z / (2 * count)
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    scale = 1 + z * z / count
    return max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)


def gain_interval(
    before: Float[Tensor, "N"],
    after: Float[Tensor, "N"],
    confidence: float = 0.95,
    clusters: Sequence[Hashable] | None = None,
) -> Interval:
    """The interval of mean(after - before) of the same N prompts.

    Where both are rights and wrongs it is Newcombe's (1998, Statistics in Medicine 17:2635, method 10): the Wilson
    intervals of the two shares, squared and added, with their correlation; else the bootstrap of the differences, of
    whole `clusters` where their N names are given.
    """
    before = before.float().cpu()
    after = after.float().cpu()
    if clusters is not None:
        sums, sizes = cluster_sums(after - before, clusters)
        return bootstrap_interval(sums, confidence, sizes=sizes)
    if not (is_binary(before) and is_binary(after)):
        return bootstrap_interval(after - before, confidence)
    count = len(before)
    first = before.mean().item()
    second = after.mean().item()
    low_1, high_1 = wilson_interval(int(before.sum()), count, confidence)
    low_2, high_2 = wilson_interval(int(after.sum()), count, confidence)
    phi = correlation(before, after)
    down = _square_and_add(second - low_2, high_1 - first, phi)
    up = _square_and_add(high_2 - second, first - low_1, phi)
    return second - first - down, second - first + up


def _square_and_add(one: float, other: float, phi: float) -> float:
    return math.sqrt(max(0.0, one * one - 2 * phi * one * other + other * other))


def correlation(one: Float[Tensor, "N"], other: Float[Tensor, "N"]) -> float:
    """Pearson's correlation; 0 where one of the two does not vary."""
    one = one - one.mean()
    other = other - other.mean()
    scale = (one.norm() * other.norm()).item()
    return (one @ other).item() / scale if scale > 0 else 0.0


def bootstrap_interval(
    values: Float[Tensor, "N"],
    confidence: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
    sizes: Float[Tensor, "N"] | None = None,
) -> Interval:
    """The percentile bootstrap interval of the mean of `values` (Efron 1979): resample N of N with replacement.

    `sizes`: the values are sums over so many; the mean is then the sum of the sums over the sum of the sizes.
    """
    generator = torch.Generator().manual_seed(seed)
    values = values.float().cpu()
    picks = torch.randint(len(values), (draws, len(values)), generator=generator)
    totals = values[picks].sum(dim=1)
    counts = float(len(values)) if sizes is None else sizes[picks].sum(dim=1)
    tail = (1 - confidence) / 2
    low, high = (totals / counts).quantile(torch.tensor([tail, 1 - tail])).tolist()
    return low, high


def cluster_sums(
    values: Float[Tensor, "N"], clusters: Sequence[Hashable]
) -> tuple[Float[Tensor, "K"], Float[Tensor, "K"]]:
    """The sum of each cluster's values and its size, in the order of first appearance."""
    if len(clusters) != len(values):
        raise ValueError(
            f"There are {len(values)} values and {len(clusters)} names of clusters; one for each is needed."
        )
    numbers = {name: k for k, name in enumerate(dict.fromkeys(clusters))}
    belongs_to = torch.tensor([numbers[name] for name in clusters])
    sums = torch.zeros(len(numbers)).index_add(0, belongs_to, values)
    return sums, torch.bincount(belongs_to).float()


def pass_at_k(count: int, right: int, k: int) -> float:
    """The chance that k completions hold a right one, from `count` drawn, `right` of them right (Chen et al. 2021,
    arXiv:2107.03374): 1 - C(count - right, k) / C(count, k), the share of all choices of k that are not all wrong.

    Its mean is 1 - (1 - p)^k whatever p is; 1 - (1 - right / count)^k is too small on average.
    Raises ValueError for k below 1 or above `count`: so many were not drawn.
    """
    if not 1 <= k <= count:
        raise ValueError(f"pass@{k} cannot be told from {count} completions; k is at least 1 and at most {count}.")
    return 1 - math.comb(count - right, k) / math.comb(count, k)


def is_binary(values: Float[Tensor, "N"]) -> bool:
    """True if all values are 0 or 1."""
    return bool(((values == 0) | (values == 1)).all())
