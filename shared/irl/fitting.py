"""Inverse reinforcement learning: the reward under which the expected visits are those of the demonstrations.

Derived in notebooks/maxent_irl.ipynb, after Ziebart et al. (AAAI 2008) and Ziebart's thesis (2010). An optimiser is a
function `(weights, gradient, iteration) -> weights`. Beside the handout's exponentiated gradient, whose weights stay
positive, stands plain gradient ascent, whose weights may become negative: a state may cost.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from shared.irl.checks import check_discount, check_problem
from shared.irl.demonstrations import Trajectory
from shared.irl.planning import causal_policy, local_action_probabilities, visitation
from shared.irl.worlds import PerState, Table, Transitions, as_transitions

Optimiser = Callable[[np.ndarray, np.ndarray, int], np.ndarray]


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


def maxent_irl(
    p_transition: Transitions | Table,
    features: Float[np.ndarray, "S F"],
    terminal: Sequence[int],
    trajectories: Sequence[Trajectory],
    optim: Optimiser,
    init: float | Float[np.ndarray, "F"],
    eps: float = 1e-4,
    max_iterations: int = 1000,
    gap: float = 0.0,
    on_step: Callable[[dict], None] | None = None,
    steps: float | None = None,
) -> PerState:
    """The reward features @ weights under which the expected features are those of the demonstrations.

    The gradient is the handout's, the demonstrations' feature expectation minus D^T features.

    Args:
        optim: `exponentiated_gradient(...)` or another function of weights, gradient and iteration.
        init: the first weights, a number for all of them or an array (F,).
        eps: stop when no weight changes by more.
        gap: stop when no feature expectation differs by more.
        on_step: called in every iteration with its record, `iteration` and `gap`.
        steps: how often the forward pass counts; None for the handout's 2 S, np.inf for all until arrival.

    Raises ValueError as `check_problem` does, and when the optimiser diverges.
    """
    transitions = as_transitions(p_transition)
    target = feature_expectation_from_trajectories(features, trajectories)
    p_initial = initial_probabilities_from_trajectories(transitions.n_states, trajectories)
    check_problem(transitions, terminal, p_initial)
    counted = 2 * transitions.n_states if steps is None else steps
    solve = _PlainForm(transitions, terminal, p_initial, counted)
    return _fit(solve, features, target, optim, init, eps, max_iterations, gap, on_step)


def maxent_causal_irl(
    p_transition: Transitions | Table,
    features: Float[np.ndarray, "S F"],
    terminal: Sequence[int],
    trajectories: Sequence[Trajectory],
    optim: Optimiser,
    init: float | Float[np.ndarray, "F"],
    discount: float,
    eps: float = 1e-4,
    max_iterations: int = 1000,
    gap: float = 0.0,
    on_step: Callable[[dict], None] | None = None,
) -> PerState:
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
    solve = _CausalForm(transitions, terminal, p_initial, target_visits, discount)
    return _fit(solve, features, target, optim, init, eps, max_iterations, gap, on_step)


@dataclass(frozen=True)
class _PlainForm:
    """The expected visits (S,) of a reward by the handout's two passes, and nothing more to record."""

    transitions: Transitions
    terminal: Sequence[int]
    p_initial: PerState
    steps: float

    def __call__(self, reward: PerState) -> tuple[PerState, dict]:
        policy = local_action_probabilities(self.transitions, self.terminal, reward)
        return visitation(self.transitions, policy, self.p_initial, self.terminal, steps=self.steps), {}


@dataclass
class _CausalForm:
    """The expected visits (S,) of a reward by maximum causal entropy, and the loss to record.

    value: the soft values of the last reward, from which the next begin: neighbouring rewards have neighbouring values.
    """

    transitions: Transitions
    terminal: Sequence[int]
    p_initial: PerState
    target_visits: PerState
    discount: float
    value: PerState | None = None

    def __call__(self, reward: PerState) -> tuple[PerState, dict]:
        policy, self.value = causal_policy(self.transitions, self.terminal, reward, self.discount, start=self.value)
        visits = visitation(self.transitions, policy, self.p_initial, self.terminal, self.discount)
        return visits, {"loss": float(self.p_initial @ self.value - self.target_visits @ reward)}


def _fit(
    solve: Callable[[PerState], tuple[PerState, dict]],
    features: Float[np.ndarray, "S F"],
    target: Float[np.ndarray, "F"],
    optim: Optimiser,
    init: float | Float[np.ndarray, "F"],
    eps: float,
    max_iterations: int,
    gap: float,
    on_step: Callable[[dict], None] | None,
) -> PerState:
    """Step along the feature gap. `solve(reward)` returns the expected visits (S,) and more to record."""
    weights = np.broadcast_to(np.asarray(init, dtype=float), target.shape)
    for k in range(max_iterations):
        visits, metrics = solve(features @ weights)
        found = visits @ features  # (F,)
        record = {"iteration": k, "gap": feature_gap(target, found)} | metrics
        if on_step is not None:
            on_step(record)
        if record["gap"] <= gap:
            break
        with np.errstate(over="ignore"):
            new = optim(weights, target - found, k)
        if not np.isfinite(new).all():
            raise ValueError(f"The weights became infinite in iteration {k}. Take a smaller learning rate.")
        change = np.abs(new - weights).max()
        weights = new
        if change <= eps:
            break
    return features @ weights


def feature_gap(expected: Float[np.ndarray, "F"], found: Float[np.ndarray, "F"]) -> float:
    """The largest difference between two feature expectations."""
    return float(np.abs(np.asarray(expected) - np.asarray(found)).max())
