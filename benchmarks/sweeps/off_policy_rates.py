"""One update and four from a rollout, at several learning rates, for `notebooks/off_policy.ipynb`.

The control of what four updates seem to save, and of what they seem to wreck: how much of it one update does too, where
its step is larger. Eight rollouts each, otherwise as in `off_policy`.
"""

from benchmarks.sweeps import off_policy
from benchmarks.sweeps.off_policy import Condition

ROLLOUTS = 8
RATES = (1e-4, 2e-4, 3e-4, 5e-4, 1e-3, 2e-3)  # the last four times what four updates have at most
UPDATES = {"1 update": 1, "4 updates": 4}
CONDITIONS = {
    f"{name}, {rate:.0e}": Condition({"num_iterations": updates, "learning_rate": rate})
    for name, updates in UPDATES.items()
    for rate in RATES
    if rate * updates <= RATES[-1]
}


def run(name: str, seed: int) -> dict[str, float]:
    """Train one condition with one seed; the reward that is sampled on held-out rows in the end."""
    return {"reward at 8": off_policy.trained(CONDITIONS[name], seed, ROLLOUTS)["reward at 8"]}
