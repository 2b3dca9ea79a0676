"""Inverse reinforcement learning: the reward under which the expected visits are those of the demonstrations.

Derived in notebooks/maxent_irl.ipynb, after Ziebart et al. (AAAI 2008) and Ziebart's thesis (2010). `plain_fit` is the
algorithm in four lines. For instance two doors, from state 0 to state 1 or 2. Three of four demonstrations took door 1.
With a feature for each state and a discount of 0.5 the target is (1, 0.375, 0.125): every walk begins in state 0, and
what comes a step later counts half.

    iteration    weights              expected visits      gradient: target - expected
    0            0, 0, 0              1, 0.250, 0.250      0, 0.125, -0.125       both doors alike: more of door 1
    1            0, 0.125, -0.125     1, 0.266, 0.234      0, 0.109, -0.109
    ...          0, 1.10, -1.10       1, 0.375, 0.125      0, 0, 0                door 1 three times as likely as door 2:
                                                                                  0.5 (1.10 + 1.10) = log 3

`maxent_causal_irl` is the same with an optimiser of one's choice, reasons to stop, and a record of each iteration.
`maxent_irl` counts the visits as the paper of 2008 does. An optimiser is a function `(weights, gradient, iteration) ->
weights`. `exponentiated_gradient` keeps weights positive. With `gradient_ascent` they may become negative, so that a
state may cost.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from shared.irl.checks import check_discount, check_problem
from shared.irl.planning import causal_policy, local_action_probabilities, tilted_transitions, visitation
from shared.irl.worlds import PerState, Table, Transitions, as_transitions
from shared.trajectory import Trajectory

Optimiser = Callable[[np.ndarray, np.ndarray, int], np.ndarray]


def plain_fit(
    p_transition: Transitions | Table,
    features: Float[np.ndarray, "S F"],
    terminal: Sequence[int],
    trajectories: Sequence[Trajectory],
    discount: float,
    learning_rate: float,
    iterations: int,
) -> Float[np.ndarray, "F"]:
    """The weights after so many steps up the gradient, from 0; the reward is features @ weights."""
    target = feature_expectation_from_trajectories(features, trajectories, discount)  # (F,)
    p_initial = initial_probabilities_from_trajectories(len(features), trajectories)  # (S,)
    weights = np.zeros_like(target)
    for _ in range(iterations):
        reward = features @ weights  # (S,)
        policy, _ = causal_policy(p_transition, terminal, reward, discount)  # (S, A)
        visits = visitation(p_transition, policy, p_initial, terminal, discount)  # (S,)
        weights = weights + learning_rate * (target - visits @ features)
    return weights


def feature_expectation_from_trajectories(
    features: Float[np.ndarray, "S F"], trajectories: Sequence[Trajectory], discount: float = 1.0
) -> Float[np.ndarray, "F"]:
    """The mean over demonstrations of sum_t discount^t features[s_t], the last state included.

    Raises ValueError for no demonstrations or a state that has no features.
    """
    return _visit_counts(len(features), trajectories, discount) @ features


def initial_probabilities_from_trajectories(n_states: int, trajectories: Sequence[Trajectory]) -> PerState:
    """The share of demonstrations that start in each state. Raises ValueError for no demonstrations."""
    return _visit_counts(n_states, trajectories, 0.0)


def _visit_counts(n_states: int, trajectories: Sequence[Trajectory], discount: float) -> PerState:
    """The mean over demonstrations of sum_t discount^t [s_t = s]; a discount of 0 counts only the start."""
    if not len(trajectories):
        raise ValueError("There are no demonstrations; at least one trajectory is needed.")
    states = [trajectory.states() for trajectory in trajectories]
    visited = np.concatenate(states)
    if visited.min() < 0 or visited.max() >= n_states:
        raise ValueError(
            f"The demonstrations visit states {visited.min()} to {visited.max()}, but there are only "
            f"the states 0 to {n_states - 1}."
        )
    weights = np.concatenate([discount ** np.arange(len(s)) for s in states])
    return np.bincount(visited, weights=weights, minlength=n_states) / len(trajectories)


def feature_gap(expected: Float[np.ndarray, "F"], found: Float[np.ndarray, "F"]) -> float:
    """The largest difference between two feature expectations."""
    return float(np.abs(np.asarray(expected) - np.asarray(found)).max())


def exponentiated_gradient(learning_rate: float, decay: float = 0.0) -> Optimiser:
    """w <- w exp(lr gradient) with lr = learning_rate / (1 + decay k): positive weights stay positive."""

    def step(weights: np.ndarray, gradient: np.ndarray, k: int) -> np.ndarray:
        return weights * np.exp(learning_rate / (1.0 + decay * k) * gradient)

    return step


def gradient_ascent(learning_rate: float, decay: float = 0.0) -> Optimiser:
    """w <- w + lr gradient with lr = learning_rate / (1 + decay k): weights of either sign."""

    def step(weights: np.ndarray, gradient: np.ndarray, k: int) -> np.ndarray:
        return weights + learning_rate / (1.0 + decay * k) * gradient

    return step


class NotConverged(UserWarning):
    """A fit that was stopped by `max_iterations`, so that its reward is not yet the one that was looked for."""


@dataclass(frozen=True)
class Fit:
    """A fitted reward, and how the fit came to its end.

    reward: (S,), features @ weights.    weights: (F,).
    iterations: how many gradients were computed.    gap: the feature gap at the last of them.
    stopped_by: "gap" and "eps" are the two ways to converge; "max_iterations" is none.
    """

    reward: PerState
    weights: Float[np.ndarray, "F"]
    iterations: int
    gap: float
    stopped_by: Literal["gap", "eps", "max_iterations"]

    @property
    def converged(self) -> bool:
        return self.stopped_by != "max_iterations"


@dataclass(frozen=True)
class Stopping:
    """The reasons to end a fit, and what is called on the way.

    eps: stop when no weight changes by more.    gap: stop when no feature expectation differs by more.
    max_iterations: stop after so many, with a warning `NotConverged`; the fit says so in `stopped_by`.
    on_step: called in every iteration with its record, `iteration` and `gap`.
    """

    eps: float = 1e-4
    max_iterations: int = 1000
    gap: float = 0.0
    on_step: Callable[[dict], None] | None = None


def maxent_irl(
    p_transition: Transitions | Table,
    features: Float[np.ndarray, "S F"],
    terminal: Sequence[int],
    trajectories: Sequence[Trajectory],
    optim: Optimiser,
    init: float | Float[np.ndarray, "F"],
    steps: float | None = None,
    tilted: bool = False,
    **stopping,
) -> Fit:
    """The reward features @ weights under which the expected features are those of the demonstrations.

    The step is that of Ziebart et al. (2008): the demonstrations' features minus D^T features, the expected ones. Where
    moves are random it is no gradient of a likelihood: the policy belongs to walks whose random moves follow their
    reward too, and the visits D are counted with the moves' own probabilities. `tilted` counts them as those walks go.

    Args:
        optim: `exponentiated_gradient(...)` or another function of weights, gradient and iteration.
        init: the first weights, a number for all of them or an array (F,).
        steps: the number of times that the forward pass counts; None for 2 S, np.inf for all until arrival.
        tilted: count the visits under `tilted_transitions` of the reward.
        stopping: the fields of `Stopping`, by name.

    Raises ValueError as `check_problem` does, and when the optimiser diverges.
    """
    transitions = as_transitions(p_transition)
    target = feature_expectation_from_trajectories(features, trajectories)
    p_initial = initial_probabilities_from_trajectories(transitions.n_states, trajectories)
    check_problem(transitions, terminal, p_initial)
    counted = 2 * transitions.n_states if steps is None else steps

    def expected_visits(reward: PerState) -> tuple[PerState, dict]:
        policy = local_action_probabilities(transitions, terminal, reward)
        world = tilted_transitions(transitions, terminal, reward) if tilted else transitions
        return visitation(world, policy, p_initial, terminal, steps=counted), {}

    return _fit(expected_visits, features, target, optim, init, Stopping(**stopping))


def maxent_causal_irl(
    p_transition: Transitions | Table,
    features: Float[np.ndarray, "S F"],
    terminal: Sequence[int],
    trajectories: Sequence[Trajectory],
    optim: Optimiser,
    init: float | Float[np.ndarray, "F"],
    discount: float,
    **stopping,
) -> Fit:
    """As `maxent_irl`, by maximum causal entropy: features and visits at time t are weighted by discount^t.

    The gradient is exact: it is minus that of the convex loss E[V(s_0)] - weights . target, with V the soft
    values, which the records hold as `loss`.
    """
    transitions = as_transitions(p_transition)
    check_discount(discount)
    target = feature_expectation_from_trajectories(features, trajectories, discount)
    target_visits = _visit_counts(transitions.n_states, trajectories, discount)
    p_initial = initial_probabilities_from_trajectories(transitions.n_states, trajectories)
    check_problem(transitions, terminal, p_initial)
    value = None

    def expected_visits(reward: PerState) -> tuple[PerState, dict]:
        nonlocal value  # one step changes a reward little, so the next values are sought from these on
        policy, value = causal_policy(transitions, terminal, reward, discount, start=value)
        visits = visitation(transitions, policy, p_initial, terminal, discount)
        return visits, {"loss": float(p_initial @ value - target_visits @ reward)}

    return _fit(expected_visits, features, target, optim, init, Stopping(**stopping))


def _fit(
    expected_visits: Callable[[PerState], tuple[PerState, dict]],
    features: Float[np.ndarray, "S F"],
    target: Float[np.ndarray, "F"],
    optim: Optimiser,
    init: float | Float[np.ndarray, "F"],
    stop: Stopping,
) -> Fit:
    """The loop of `plain_fit` with reasons to stop. `expected_visits(reward)` returns what it adds to the record too."""
    weights = np.broadcast_to(np.asarray(init, dtype=float), target.shape)
    record = {"iteration": -1, "gap": np.nan}
    change = np.inf
    stopped_by = "max_iterations"
    for k in range(stop.max_iterations):
        visits, metrics = expected_visits(features @ weights)
        expected = visits @ features  # (F,)
        record = {"iteration": k, "gap": feature_gap(target, expected)} | metrics
        if stop.on_step is not None:
            stop.on_step(record)
        if record["gap"] <= stop.gap:
            stopped_by = "gap"
            break
        with np.errstate(over="ignore"):  # refused in the next lines
            new = optim(weights, target - expected, k)
        if not np.isfinite(new).all():
            raise ValueError(f"The weights became infinite in iteration {k}. Take a smaller learning rate.")
        change = np.abs(new - weights).max()
        weights = new
        if change <= stop.eps:
            stopped_by = "eps"
            break
    if stopped_by == "max_iterations":
        warnings.warn(
            f"The fit was stopped after {stop.max_iterations} iterations (max_iterations) and has not converged: the last "
            f"step changed a weight by {change:.2g}, above eps = {stop.eps:g}, and the feature gap before it was "
            f"{record['gap']:.2g}, above gap = {stop.gap:g}. Allow more iterations or take another learning rate.",
            NotConverged,
            stacklevel=3,  # the line that called `maxent_irl` or `maxent_causal_irl`
        )
    return Fit(features @ weights, weights, record["iteration"] + 1, record["gap"], stopped_by)
