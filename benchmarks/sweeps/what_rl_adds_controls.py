"""Controls of `notebooks/what_rl_adds.ipynb`: a reward that says nothing, and the base asked where it knows.

    a coin for correctness   "GRPO, 3e-4" of `what_rl_adds`, with a coin in the place of correctness; the format is paid
    base below the header    the base model, asked below its header, sampled

A gain that the coin brings too is no gain of knowing what is right.
"""

import random
from collections.abc import Callable, Sequence
from functools import partial

from benchmarks.sweeps import what_rl_adds
from benchmarks.sweeps.measuring import rounded
from benchmarks.sweeps.what_rl_adds import by_grpo, setting, under_the_key
from shared.models import frozen_copy
from shared.tasks import countdown


def coin_reward(prompts: Sequence[str], completions: Sequence[str], **columns) -> list[float]:
    """1.0 or 0.0 by lot, whatever the completion says; the same for a place and a prompt, so that a run repeats."""
    return [float(random.Random(f"{place} {prompt}").random() < 0.5) for place, prompt in enumerate(prompts)]


def below_the_header(model, seed: int) -> list[dict]:
    return []


IN_ITS_PLACE = tuple(coin_reward if paid is countdown.correctness_reward else paid for paid in what_rl_adds.REWARDS)
CONDITIONS: dict[str, Callable] = {
    "a coin for correctness": partial(by_grpo, rewards=IN_ITS_PLACE),
    "base below the header": below_the_header,
}


def run(name: str, seed: int) -> dict:
    """Train with one seed and measure as in `what_rl_adds`; of the base below its header pass@k of what one greedy answer missed."""
    model = frozen_copy(setting().base).requires_grad_(True)
    curve = CONDITIONS[name](model, seed)
    if name == "base below the header":
        return at_least_once(model, seed)
    return what_rl_adds.measure(model, seed) | {"curve": [{k: rounded(v) for k, v in point.items()} for point in curve]}


def at_least_once(model, seed: int) -> dict[str, float]:
    """pass@k below the header of the problems that the greedy answer there did not solve."""
    shared = setting()
    rows = [row for row, knows in zip(under_the_key(shared.held_out), shared.known) if not knows]
    return {f"others, {name}": rounded(rate) for name, rate in what_rl_adds.tries(model, rows, seed).items()}
