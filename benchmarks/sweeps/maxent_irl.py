"""Controls of `notebooks/maxent_irl.ipynb`: what keeps the gap of the common algorithm open, and where the causal loss ends.

Room: the same ascents from weights of 1 and of 10, with ice and without, each seed a draw of 200 walks. A number added to
all weights changes no policy of the common form, so what a start decides is how far below it a weight can fall.

Loss: the causal form on visits of 200 walks, and on the expert's own. Those of the walks break the balance of who comes
into a state and who leaves it, so that no policy has them, and the loss has no least value.
"""

import warnings
from dataclasses import dataclass

import numpy as np

from benchmarks.sweeps.measuring import rounded
from shared import irl
from shared.irl.demonstrations import Trajectory

SIZE, DISCOUNT, TERMINAL = 5, 0.9, [24]
WALKS, FIRST_DRAW = 200, 11  # seed 0 is the draw of the notebook
MEASURED_AT = (300, 3000)


@dataclass(frozen=True)
class Room:
    """A fit of the common form: `ascent` is exponentiated, cut off at 0 or free; the rate falls like 1 / (1 + decay k)."""

    start: float
    slip: float = 0.2
    ascent: str = "exponentiated"
    rate: float = 0.1
    decay: float = 0.0
    iterations: int = 1000


@dataclass(frozen=True)
class Loss:
    """A fit of the causal form to the visits of `WALKS` walks, or to the expert's own."""

    exact: bool
    rate: float = 2.0


CONDITIONS = {
    "from 1": Room(1.0),
    "from 10": Room(10.0),
    "cut off, from 1": Room(1.0, ascent="cut off"),
    "cut off, from 10": Room(10.0, ascent="cut off"),
    "free, from 1": Room(1.0, ascent="free"),
    "without ice, from 1": Room(1.0, slip=0.0),
    "without ice, from 10": Room(10.0, slip=0.0),
    "without ice, falling rate, from 1": Room(1.0, slip=0.0, rate=0.2, decay=1.0),
    "without ice, falling rate, from 10": Room(10.0, slip=0.0, rate=0.2, decay=1.0),
    "loss on walks": Loss(exact=False),
    "loss on exact visits": Loss(exact=True),
}


def true_reward(n_states: int) -> np.ndarray:
    reward = np.zeros(n_states)
    reward[24], reward[8] = 1.0, 0.65
    return reward


def expert_in(world: irl.Transitions) -> np.ndarray:
    """The notebook's expert, (S, A), which it made on ice of 0.2 and lets walk on any."""
    value = irl.value_iteration(irl.grid_world(SIZE, 0.2), true_reward(world.n_states), DISCOUNT)
    return irl.stochastic_policy_from_value(irl.grid_world(SIZE, 0.2), value, weighting=lambda v: v**50)


def walks(world: irl.Transitions, seed: int) -> list[Trajectory]:
    chance = np.random.default_rng(FIRST_DRAW + seed)
    start = np.eye(world.n_states)[0]
    return irl.generate_trajectories(WALKS, world, expert_in(world), start, TERMINAL, chance)


def run(name: str, seed: int) -> dict[str, float]:
    """The gap of a fit, or the loss after so many iterations and the causal entropy of the expert."""
    condition = CONDITIONS[name]
    return fitted(condition, seed) if isinstance(condition, Room) else falling(condition, seed)


def fitted(room: Room, seed: int) -> dict[str, float]:
    world = irl.grid_world(SIZE, room.slip)
    steps = {
        "exponentiated": irl.exponentiated_gradient(room.rate, room.decay),
        "free": irl.gradient_ascent(room.rate, room.decay),
        "cut off": lambda weights, gradient, k: np.maximum(weights + room.rate * gradient, 0.0),
    }
    with warnings.catch_warnings(action="ignore", category=irl.NotConverged):
        fit = irl.maxent_irl(
            world,
            np.eye(world.n_states),
            TERMINAL,
            walks(world, seed),
            steps[room.ascent],
            room.start,
            max_iterations=room.iterations,
            steps=np.inf,
        )
    return {"gap": rounded(fit.gap)}


def falling(condition: Loss, seed: int) -> dict[str, float]:
    world = irl.grid_world(SIZE, 0.2)
    start = np.eye(world.n_states)[0]
    expert = expert_in(world)
    exact = irl.visitation(world, expert, start, TERMINAL, DISCOUNT)
    shown = irl.feature_expectation_from_trajectories(np.eye(world.n_states), walks(world, seed), DISCOUNT)
    target = exact if condition.exact else shown
    weights, soft = np.zeros(world.n_states), None
    found = {}
    for k in range(1, MEASURED_AT[-1] + 1):
        policy, soft = irl.causal_policy(world, TERMINAL, weights, DISCOUNT, start=soft)
        if k in MEASURED_AT:
            found[f"loss at {k}"] = rounded(start @ soft - target @ weights)
        weights = weights + condition.rate * (target - irl.visitation(world, policy, start, TERMINAL, DISCOUNT))
    early, late = (found[f"loss at {k}"] for k in MEASURED_AT)
    found["change after 300"] = rounded(late - early)
    logs = np.log(expert, out=np.zeros_like(expert), where=expert > 0)
    moving = 1.0 - np.isin(np.arange(world.n_states), TERMINAL)
    return found | {"expert's entropy": rounded(exact @ (-(expert * logs).sum(axis=1) * moving))}
