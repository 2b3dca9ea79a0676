"""Chance is an argument: seed, step and place decide what is drawn, never the machine.

Numpy's Philox is a generator that is read at a place instead of from front to back: key and counter go in, numbers
come out (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"). The key is (seed, step) and the counter
(block, generation, place, what the numbers are for), so a completion's numbers depend on neither how many prompts
and completions stand beside it, nor how long they are, nor the device, nor how many processes share the work.
*Place*: see CONTRIBUTING: house words.
"""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

# A step that no training reaches: the evaluation's numbers are never those of a training step.
EVALUATION = 2**64 - 1
# What the numbers are for, the last word of the counter.
TOKENS = 0
ROWS = 1
MINIBATCHES = 2
GAMES = 3


def _generator(seed: int, step: int, generation: int, place: int, purpose: int) -> np.random.Generator:
    counter = np.array([0, generation, place, purpose], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=np.array([seed, step], dtype=np.uint64), counter=counter))


def uniforms(seed: int, step: int, places: Sequence[int], num_generations: int, length: int) -> Float[Tensor, "B C"]:
    """One uniform number in [0, 1) for each token of each completion, (B, C) with B = places x generations, on the CPU.

    They are multiples of 2^-24, so that float32 and float64 hold the same numbers.

    Args:
        seed: from 0 to 2^64 - 1.
        step: of training, or `EVALUATION`.
        places: where each prompt stands among the step's rows (for an evaluation: in the data set). A prompt that
            occurs twice has two places, and so two groups.

    Raises:
        ValueError: a seed, step or place below 0 or above 2^64 - 1.
    """
    _check(seed=seed, step=step)
    for place in places:
        _check(place=place)
    numbers = np.empty((len(places), num_generations, length), dtype=np.float32)
    generator = _generator(seed, step, 0, 0, TOKENS)
    start = generator.bit_generator.state
    counter = start["state"]["counter"]
    for n, place in enumerate(places):
        for generation in range(num_generations):
            # One generator that is put to each place: to make one for each takes six times as long.
            counter[1] = generation
            counter[2] = place
            generator.bit_generator.state = start
            generator.random(out=numbers[n, generation], dtype=np.float32)
    return torch.from_numpy(numbers.reshape(len(places) * num_generations, length))


def game_seed(seed: int, step: int, place: int) -> int:
    """The seed of an environment at a row's place, from 0 to 2^63 - 1: for a game with dice."""
    _check(seed=seed, step=step, place=place)
    return int(_generator(seed, step, 0, place, GAMES).integers(2**63))


def permutation(n: int, seed: int, number: int, purpose: int) -> Int[Tensor, "n"]:
    """An order of n things, (n,): the `number`-th of this seed for `ROWS` (an epoch's) or `MINIBATCHES`."""
    _check(seed=seed, number=number)
    return torch.from_numpy(_generator(seed, number, 0, 0, purpose).permutation(n))


def fresh_seed() -> int:
    """A seed from torch's own generator, for a caller that gives none: `torch.manual_seed` still repeats it."""
    return int(torch.randint(2**63 - 1, ()))


def _check(**numbers: int) -> None:
    for name, number in numbers.items():
        if not 0 <= number < 2**64:
            raise ValueError(f"{name} is {number}; it must be a whole number from 0 to 2^64 - 1.")
