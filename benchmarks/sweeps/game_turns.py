"""The advantage of a turn in `notebooks/game.ipynb`: that of its whole game, or one of its own, at three learning rates.

The runs are those of the sweep `game` on the exact set, masked, for thirty steps. Written before they were made: each
credit is taken at the rate with the most games won, by the mean over seeds. A pair has its seed in common, and so warm-up
and first games. One credit is better if it wins more games in each of the five pairs; else no difference is shown.
"""

from dataclasses import dataclass

from torch import Tensor

from benchmarks.sweeps.game import EXACT_SET, OneRange, measured, training_steps, two_losses, warmed_up
from benchmarks.sweeps.measuring import rounded
from shared.models import frozen_copy
from shared.rollout import Rollout

DRAWS = 32  # games of each secret, measured


@dataclass(frozen=True)
class Credited(OneRange):
    """A masked run on the exact set. by_turns: whether each turn has an advantage of its own."""

    by_turns: bool = False
    steps: int = 30

    def backward(self, model, rollout: Rollout) -> tuple[Tensor, Tensor]:
        loss, _, rewards = two_losses(model, rollout, by_turns=self.by_turns)
        loss.backward()
        return loss, rewards


CONDITIONS = {
    f"{name}, rate {rate:.0e}": Credited(by_turns=by_turns, learning_rate=rate)
    for name, by_turns in {"one for the game": False, "by turns": True}.items()
    for rate in (2e-4, 4e-4, 8e-4)
}


def run(name: str, seed: int) -> dict:
    """Warm up and train one condition with one seed; the games won at the end, and the rewards of each step."""
    condition = CONDITIONS[name]
    model = frozen_copy(warmed_up(condition.warm_up, seed)).requires_grad_(True)
    steps = list(training_steps(model, EXACT_SET, condition, seed, condition.steps))
    won = measured(model, EXACT_SET, condition, DRAWS).mean
    return {"won": rounded(won), "rewards": [step["reward"] for step in steps]}
