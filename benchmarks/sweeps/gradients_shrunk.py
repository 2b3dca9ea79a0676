"""The control of two exact KL penalties, for `notebooks/gradients.ipynb`: beta in proportion to how the group's mean shrinks.

Subtracting the group's mean shrinks what is in the reward by (G-1)/G, a KL penalty there as well, and not a penalty in
the loss. Each condition moves the beta of one of `gradients` by that factor, so that it should end where the other did.
"""

from dataclasses import replace

from benchmarks.sweeps import gradients
from benchmarks.sweeps.gradients import PENALISED, Condition

SHRINKS_BY = (PENALISED.num_generations - 1) / PENALISED.num_generations
CONDITIONS = {
    "k2 in the loss, beta x 7/8": replace(PENALISED, kl_estimator="k2", beta=PENALISED.beta * SHRINKS_BY),
    "k1 in the reward, beta x 8/7": replace(PENALISED, kl_in="reward", beta=PENALISED.beta / SHRINKS_BY),
}


def run(name: str, seed: int, steps: int = gradients.STEPS) -> dict[str, float]:
    """Train one condition with one seed; the held-out expected reward and KL along the way."""
    return gradients.run_condition(Condition(gradients.grpo, CONDITIONS[name]), seed, steps)
