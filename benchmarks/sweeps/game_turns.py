"""The advantage of a turn in `notebooks/game.ipynb`: that of its whole game, or one of its own, at three learning rates.

The runs are those of the sweep `game` on the exact set, masked. Written before they were made: each credit is taken at
the rate with the most games won, by the mean over seeds. A pair has its seed in common, and so warm-up and first games.
One credit is better if it wins more games in each of the five pairs; else no difference is shown.
"""

from dataclasses import dataclass

from torch import Tensor

from benchmarks.sweeps.game import OneRange, run_exact_set, two_losses
from shared.rollout import Rollout


@dataclass(frozen=True)
class Credited(OneRange):
    """A masked run on the exact set. by_turns: whether each turn has an advantage of its own."""

    by_turns: bool = False

    def backward(self, model, rollout: Rollout) -> tuple[Tensor, Tensor]:
        loss, _, rewards = two_losses(model, rollout, by_turns=self.by_turns)
        loss.backward()
        return loss, rewards


CONDITIONS = {
    f"{name}, rate {rate:.0e}": Credited(by_turns=by_turns, learning_rate=rate)
    for name, by_turns in {"one for the game": False, "by turns": True}.items()
    for rate in (1e-4, 2e-4, 4e-4)
}


def run(name: str, seed: int) -> dict:
    """Warm up, train and measure one condition with one seed, as the sweep `game` does."""
    return run_exact_set(CONDITIONS[name], seed, CONDITIONS[name].steps)
