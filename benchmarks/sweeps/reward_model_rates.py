"""Controls of `notebooks/reward_model.ipynb`: is it the method or the step size that gains more gold for a nat?

GRPO against the same judges as in `reward_model`, at smaller learning rates than its 1e-3.
"""

from dataclasses import replace

from benchmarks.sweeps import reward_model
from benchmarks.sweeps.reward_model import FEW, GRPO, Condition

CONDITIONS = {
    "GRPO, 200 pairs, rate 3e-4": Condition(FEW, replace(GRPO, learning_rate=3e-4)),
}


def run(name: str, seed: int, steps: int | None = None) -> dict:
    """See `reward_model.run`."""
    return reward_model.run_condition(CONDITIONS[name], seed, steps)


told = reward_model.told
