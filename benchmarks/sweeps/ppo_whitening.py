"""A sweep of `notebooks/ppo.ipynb`: is it whitening that makes a KL in the reward stronger than one in the loss?

Whitening divides the reward and a penalty inside it by the same number, about a tenth at the first step, and leaves a
penalty in the loss as it is. If that is the cause, a tenth of beta in the reward does what beta does in the loss, and
without whitening both places do the same at the same beta. Everything else is as in `benchmarks/sweeps/ppo.py`.
"""

from dataclasses import replace

from benchmarks.sweeps.ppo import PPO, measure, trained

REWARD = "full stops"
CONDITIONS = {
    "beta 0.01 in the reward": replace(PPO, beta=0.01, kl_in="reward"),
    "beta 0.1 in the loss, not whitened": replace(PPO, whiten_advantages=False),
    "beta 0.1 in the reward, not whitened": replace(PPO, kl_in="reward", whiten_advantages=False),
}


def run(name: str, seed: int, steps: int | None = None) -> dict[str, float]:
    """Train one condition with one seed; full stops, and KL per token, on held-out openings."""
    config = CONDITIONS[name]
    return measure(trained(replace(config, seed=seed, steps=steps or config.steps)))
