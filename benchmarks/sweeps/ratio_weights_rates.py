"""Controls of `notebooks/ratio_weights.ipynb`: the training of `ratio_weights` at three learning rates.

A weight that shrinks a gradient or stops it is a smaller step as well, so weights are compared at the best rate of each.
"a wide clip" has the clip's rule from 0.1 to 1.9. "gradients" is that of `ratio_weights`, with the error that is left
after the best rescaling.
"""

from dataclasses import replace
from functools import partial

from benchmarks.sweeps import ratio_weights
from benchmarks.sweeps.ratio_weights import ROLLOUTS, SEVERAL, WEIGHTS, Condition
from shared.losses import ratio_weight

RATES = (3e-5, 1e-4, 3e-4)
COMPARED = {name: WEIGHTS[name] for name in ("no ratio", "ratio", "clip", "SAPO")}
COMPARED["a wide clip"] = partial(ratio_weight, loss_type="grpo", epsilon=0.9)
CONDITIONS = {"gradients": None} | {
    f"{name}, {rate:.0e}": Condition(weight, replace(SEVERAL, learning_rate=rate))
    for name, weight in COMPARED.items()
    for rate in RATES
}


def run(name: str, seed: int, steps: int = ROLLOUTS) -> dict:
    """One condition with one seed; see `ratio_weights`."""
    condition = CONDITIONS[name]
    return ratio_weights.gradients(seed) if condition is None else ratio_weights.trained(condition, seed, steps)


told = ratio_weights.told
