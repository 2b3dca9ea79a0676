"""Dynamic sampling beside plain sampling at equal time, for `notebooks/off_policy.ipynb`.

Two conditions of `off_policy`, run again to be measured along the way: after so many rollouts, and so many seconds of
training, the reward on held-out rows. Seconds are those of the processors; on a busy machine they grow too, so every
run is made three times, and of each point the least is recorded. Rewards are the same each time.
"""

from collections.abc import Sequence

from benchmarks.sweeps import off_policy

REPEATS = 3
POINTS = range(4, off_policy.ROLLOUTS + 1, 4)
CONDITIONS = {name: off_policy.CONDITIONS[name] for name in ("1 update", "dynamic sampling")}


def run(name: str, seed: int, rollouts: int = off_policy.ROLLOUTS) -> dict:
    """Train one condition with one seed; `curve` has a point for each of POINTS: rollouts, seconds and the reward."""
    curves = [off_policy.run(name, seed, rollouts, curve_at=POINTS)["curve"] for _ in range(REPEATS)]
    return {"curve": [quickest(points) for points in zip(*curves, strict=True)]}


def quickest(points: Sequence[dict]) -> dict:
    """One point that was reached several times, with the least of its seconds. ValueError when its rewards differ."""
    if len({point["reward"] for point in points}) > 1:
        raise ValueError(f"The same run gave different rewards: {points}. Time can only be compared of equal runs.")
    return min(points, key=lambda point: point["seconds"])


def told(measured: dict) -> str:
    """A run in a few words: where its curve ends."""
    last = measured["curve"][-1]
    return f"{last['reward']:.3f} after {last['seconds']:.2f} seconds of training"
