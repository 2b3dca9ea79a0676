"""Dynamic sampling beside plain sampling at equal time, for `notebooks/off_policy.ipynb`.

Two conditions of `off_policy`, run again to be measured along the way: after so many rollouts, and so many seconds of
training, the reward on held-out rows. They are run one right after the other, so that they find the machine in much the
same state; seconds are those of the processors.
"""

from benchmarks.sweeps import off_policy

POINTS = range(4, off_policy.ROLLOUTS + 1, 4)
CONDITIONS = {name: off_policy.CONDITIONS[name] for name in ("1 update", "dynamic sampling")}


def run(name: str, seed: int, rollouts: int = off_policy.ROLLOUTS) -> dict:
    """Train one condition with one seed; `curve` has a point for each of POINTS: rollouts, seconds and the reward."""
    return {"curve": off_policy.run(name, seed, rollouts, curve_at=POINTS)["curve"]}


def told(measured: dict) -> str:
    """A run in a few words: where its curve ends."""
    last = measured["curve"][-1]
    return f"{last['reward']:.3f} after {last['seconds']:.2f} seconds of training"
