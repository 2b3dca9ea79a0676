"""The pull of the game's words in `notebooks/game.ipynb`: how strong it is, and in which games they were said.

At each step the gradient of the game's words is made `pull` times as long as that of the policy's own turns, and added to
it. At a weight of 1 it is about five times as long before the first update, at a tenth about half as long. So two
conditions differ either in the pull or in whose words pull, where a weight changes both in a course of its own.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from benchmarks.sweeps.game import OneRange, run_exact_set, two_losses
from shared.rollout import Rollout


@dataclass(frozen=True)
class Pulled(OneRange):
    """A run on the exact set. pull: of the game's words beside the own turns.    words_of: the rewards of their games."""

    pull: float = 5.0
    words_of: tuple[float, ...] = (0.0, 1.0)

    def backward(self, model, rollout: Rollout) -> tuple[Tensor, Tensor]:
        own, words, rewards = two_losses(model, rollout, self.words_of)
        parameters = list(model.parameters())
        gradients = [torch.autograd.grad(loss, parameters, retain_graph=True) for loss in (own, words)]
        of_turns, of_words = (torch.cat([part.flatten() for part in one]).norm() for one in gradients)
        factor = self.pull * of_turns / of_words.clamp(min=1e-9)
        for parameter, turn, word in zip(parameters, *gradients, strict=True):
            parameter.grad = turn + factor * word
        return own + factor * words, rewards


CONDITIONS = {
    "words of all games, half the pull": Pulled(pull=0.5),
    "words of all games": Pulled(),
    "words of won games": Pulled(words_of=(1.0,)),
    "words of lost games": Pulled(words_of=(0.0,)),
}


def run(name: str, seed: int, steps: int = 60) -> dict:
    """Warm up, train and measure one condition with one seed, as the sweep `game` does."""
    return run_exact_set(CONDITIONS[name], seed, steps)
