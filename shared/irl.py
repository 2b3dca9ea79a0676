"""Grid worlds and maximum-entropy inverse reinforcement learning, derived in notebooks/maxent_irl.ipynb.

Ziebart et al., "Maximum Entropy Inverse Reinforcement Learning" (AAAI 2008), in the form of the handout, and
the maximum causal entropy variant of Ziebart's thesis (2010). Where this module departs from the handout:

- Nothing loops over states or actions: a state has few successors, so a table (S, S, A) is kept as the (S, K)
  successors and their probabilities.
- The backward pass works with logarithms, because the plain sums grow by a factor per sweep and overflow:
  with reward 1 and four actions in every world of more than 148 states. It ends early once the action
  probabilities stand still.
- The forward pass can also run until everything has arrived; the handout's 2 S steps leave some probability
  uncounted.
- An optimiser is a function `(weights, gradient, iteration) -> weights`. Beside the handout's exponentiated
  gradient, whose weights stay positive, stands plain gradient ascent, whose weights may become negative: a
  state may cost.

Shapes: S states, A actions, K successors of a state, F features, N demonstrations.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from jaxtyping import Float, Int

MOVES = np.array([(1, 0), (-1, 0), (0, 1), (0, -1)])  # (dx, dy) of the actions right, left, up, down
MAX_STEPS = 100_000  # a policy that has not arrived after so many steps is taken never to arrive

Table = Float[np.ndarray, "S S A"]  # table[s, s', a] = p(s' | s, a)
PerState = Float[np.ndarray, "S"]
Policy = Float[np.ndarray, "S A"]
Optimiser = Callable[[np.ndarray, np.ndarray, int], np.ndarray]


# --- worlds -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Transitions:
    """p(next | state, action), kept for the K states that can follow a state.

    successors: (S, K) the states that can follow.
    probabilities: (S, K, A) how likely each of them is under each action.
    """

    successors: Int[np.ndarray, "S K"]
    probabilities: Float[np.ndarray, "S K A"]

    def __post_init__(self):
        if self.successors.ndim != 2 or self.probabilities.shape[:2] != self.successors.shape:
            raise ValueError(
                "Successors (S, K) and probabilities (S, K, A) do not fit together: "
                f"{self.successors.shape} and {self.probabilities.shape}."
            )
        if self.successors.min() < 0 or self.successors.max() >= self.n_states:
            raise ValueError(f"A successor lies outside the states 0 to {self.n_states - 1}.")
        sums = self.probabilities.sum(axis=1)
        wrong = ~np.isclose(sums, 1.0, atol=1e-8) | (self.probabilities < 0).any(axis=1)
        if wrong.any():
            state, action = np.argwhere(wrong)[0]
            raise ValueError(
                f"The transition probabilities of state {state} and action {action} sum to "
                f"{sums[state, action]:.6g} or hold a negative number ({wrong.sum()} such pairs). "
                "Each pair needs a distribution over next states."
            )

    @classmethod
    def from_table(cls, table: Table) -> Self:
        """The same from the handout's form. Raises ValueError for rows that are no distribution."""
        table = np.asarray(table, dtype=float)
        if table.ndim != 3 or table.shape[0] != table.shape[1]:
            raise ValueError(
                f"A transition table has the shape (states, states, actions); this one has {table.shape}."
            )
        possible = (table != 0).any(axis=2)
        width = max(1, possible.sum(axis=1).max())
        successors = np.argsort(~possible, axis=1, kind="stable")[:, :width]
        return cls(successors, np.take_along_axis(table, successors[:, :, None], axis=1))

    @property
    def n_states(self) -> int:
        return self.probabilities.shape[0]

    @property
    def n_actions(self) -> int:
        return self.probabilities.shape[2]

    def table(self) -> Table:
        """The handout's form, every state against every state."""
        table = np.zeros((self.n_states, self.n_states, self.n_actions))
        np.add.at(table, (np.arange(self.n_states)[:, None], self.successors), self.probabilities)
        return table

    def expect(self, values: PerState) -> Float[np.ndarray, "S A"]:
        """The expected value of the next state, sum_s' p(s' | s, a) values[s']."""
        return np.einsum("ska,sk->sa", self.probabilities, values[self.successors])

    def log_expect(self, log_values: PerState) -> Float[np.ndarray, "S A"]:
        """log sum_s' p(s' | s, a) exp(log_values[s']); -inf is the logarithm of 0."""
        following = log_values[self.successors]  # (S, K)
        top = following.max(axis=1, keepdims=True)
        top[~np.isfinite(top)] = 0.0
        with np.errstate(divide="ignore"):
            return np.log(np.einsum("ska,sk->sa", self.probabilities, np.exp(following - top))) + top

    def under(self, policy: Policy) -> Float[np.ndarray, "S K"]:
        """p(successor | state) when the policy chooses the actions."""
        return np.einsum("ska,sa->sk", self.probabilities, policy)

    def push(self, mass: PerState, chain: Float[np.ndarray, "S K"]) -> PerState:
        """Where probability mass on the states is one step later; `chain` is what `under` returned."""
        moved = mass[:, None] * chain
        return np.bincount(self.successors.ravel(), weights=moved.ravel(), minlength=self.n_states)


def as_transitions(p_transition: Transitions | Table) -> Transitions:
    return p_transition if isinstance(p_transition, Transitions) else Transitions.from_table(p_transition)


def grid_world(size: int, slip: float = 0.0) -> Transitions:
    """A square of size x size fields; state y * size + x, actions right, left, up, down as in `MOVES`.

    A move against the border stays where it is. With probability `slip` the ice chooses the direction, each
    of the four alike (the intended one included), so that p = (1 - slip) [intended] + slip / 4 sum over
    directions: a distribution everywhere, corners included, without a case for them. Raises ValueError for a
    size below 2 and a slip outside [0, 1].
    """
    if size < 2:
        raise ValueError(f"A grid world needs a size of at least 2, not {size}.")
    if not 0.0 <= slip <= 1.0:
        raise ValueError(f"The slip probability must lie between 0 and 1; found {slip}.")
    here = np.stack(np.divmod(np.arange(size * size), size)[::-1], axis=1)  # (S, 2) x and y
    targets = here[:, None] + MOVES  # (S, A, 2)
    inside = ((targets >= 0) & (targets < size)).all(axis=2)
    reached = np.where(inside, targets @ (1, size), np.arange(size * size)[:, None])  # (S, A)
    # Direction d is successor d, so that a corner simply lists itself twice.
    directions = (1.0 - slip) * np.eye(4) + slip / 4  # (K, A)
    return Transitions(reached, np.broadcast_to(directions, (size * size, 4, 4)).copy())


# --- the expert and its demonstrations ----------------------------------------------------------------------


@dataclass(frozen=True)
class Trajectory:
    """One demonstration: `steps` (T, 3) of state, action, next state; each starts where the last one ended."""

    steps: Int[np.ndarray, "T 3"]

    def __post_init__(self):
        steps = np.asarray(self.steps)
        if steps.ndim != 2 or steps.shape[1] != 3 or len(steps) == 0:
            raise ValueError("A trajectory needs at least one step (state, action, next state).")
        if (steps[1:, 0] != steps[:-1, 2]).any():
            raise ValueError("A step of this trajectory does not start where the one before it ended.")
        object.__setattr__(self, "steps", steps)

    def transitions(self) -> list[tuple[int, int, int]]:
        return [tuple(step) for step in self.steps.tolist()]

    def states(self) -> Int[np.ndarray, "T_plus_1"]:
        """All states in order, the last one included."""
        return np.append(self.steps[:, 0], self.steps[-1, 2])


def value_iteration(
    p_transition: Transitions | Table, reward: PerState, discount: float, eps: float = 1e-9
) -> PerState:
    """V(s) = r(s) + discount max_a E[V(s')], iterated until no value changes by more than `eps`."""
    transitions = as_transitions(p_transition)
    _check_discount(discount)
    value = np.zeros(transitions.n_states)
    while True:
        new = reward + discount * transitions.expect(value).max(axis=1)
        change = np.abs(new - value).max()
        value = new
        if not change > eps:  # nan ends the loop too
            return value


def stochastic_policy_from_value(
    p_transition: Transitions | Table, value: PerState, weighting: Callable = lambda v: v
) -> Policy:
    """pi(a | s) proportional to weighting(V(s')), s' being the most likely next state.

    Raises ValueError for a weighting that gives negative or infinite numbers, or only zeros in a state.
    """
    transitions = as_transitions(p_transition)
    likeliest = transitions.probabilities.argmax(axis=1)  # (S, A)
    weights = weighting(value)[np.take_along_axis(transitions.successors, likeliest, axis=1)]
    if not np.isfinite(weights).all() or (weights < 0).any() or (weights.sum(axis=1) == 0).any():
        raise ValueError(
            "The weighting must give finite numbers of at least 0, and one above 0 in every state. "
            f"It gave {weights.min():.3g} to {weights.max():.3g}."
        )
    return weights / weights.sum(axis=1, keepdims=True)


def generate_trajectories(
    n: int,
    p_transition: Transitions | Table,
    policy: Policy,
    p_initial: PerState,
    terminal: Sequence[int],
    rng: np.random.Generator,
) -> list[Trajectory]:
    """n demonstrations until a terminal state, all simulated side by side.

    Raises ValueError as `check_problem` does, and when a demonstration would start where it ends.
    """
    transitions = as_transitions(p_transition)
    ends = check_problem(transitions, terminal, p_initial)
    if (np.asarray(p_initial)[ends] > 0).any():
        raise ValueError("Demonstrations cannot start in a terminal state; give it no initial probability.")
    states = rng.choice(transitions.n_states, size=n, p=p_initial)
    running = np.arange(n)
    records = []  # arrays of four columns: which demonstration, state, action, next state
    for _ in range(MAX_STEPS):
        now = states[running]
        actions = _draw(policy[now], rng)
        slots = _draw(transitions.probabilities[now, :, actions], rng)
        states[running] = transitions.successors[now, slots]
        records.append(np.stack([running, now, actions, states[running]], axis=1))
        running = running[~ends[states[running]]]
        if not len(running):
            steps = np.concatenate(records)
            steps = steps[np.argsort(steps[:, 0], kind="stable")]
            starts = np.searchsorted(steps[:, 0], np.arange(1, n))
            return [Trajectory(own) for own in np.split(steps[:, 1:], starts)]
    raise ValueError(f"{len(running)} of {n} demonstrations have not arrived after {MAX_STEPS} steps.")


def _draw(probabilities: Float[np.ndarray, "N X"], rng: np.random.Generator) -> Int[np.ndarray, "N"]:
    """One index from each row."""
    sums = probabilities.cumsum(axis=1)
    return (rng.random((len(sums), 1)) * sums[:, -1:] < sums).argmax(axis=1)


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


# --- policies and how often they visit states ---------------------------------------------------------------


def local_action_probabilities(
    p_transition: Transitions | Table, terminal: Sequence[int], reward: PerState, eps: float = 1e-10
) -> Policy:
    """The backward pass of the handout (Ziebart et al., 2008, algorithm 1), in logarithms.

    Z(s, a) = exp(r(s)) sum_s' p(s' | s, a) Z(s'), Z(s) = sum_a Z(s, a), starting from 1 in the terminal
    states and 0 elsewhere; after 2 S sweeps pi(a | s) = Z(s, a) / Z(s). A factor common to all Z cancels in
    pi, so the sweeps may end as soon as log Z grows by the same amount everywhere. A terminal state takes part
    like any other.
    A state from which 2 S sweeps reach no terminal state gets the uniform distribution.
    """
    transitions = as_transitions(p_transition)
    ends = _check_terminal(transitions.n_states, terminal)
    log_z = np.where(ends, 0.0, -np.inf)
    for _ in range(2 * transitions.n_states):
        log_za = reward[:, None] + transitions.log_expect(log_z)  # (S, A)
        new = _logsumexp(log_za)
        with np.errstate(invalid="ignore"):  # -inf - -inf where no terminal state is within reach yet
            growth = new - log_z
        log_z = new
        if np.ptp(growth) < eps:
            break
    return _normalised(log_za, log_z)


def causal_policy(
    p_transition: Transitions | Table,
    terminal: Sequence[int],
    reward: PerState,
    discount: float,
    eps: float = 1e-7,
    start: PerState | None = None,
) -> tuple[Policy, PerState]:
    """The maximum causal entropy policy (Ziebart, 2010) and its soft values.

    Q(s, a) = r(s) + discount E[V(s')], V(s) = log sum_a exp Q(s, a), V = r where the walk ends, and
    pi = exp(Q - V). The average over s' stands outside the exponential, so that luck on the ice is not mistaken
    for a choice.

    Args:
        eps: stop when no value changes by more.
        start: values to begin from, those of a similar reward for instance.
    """
    transitions = as_transitions(p_transition)
    ends = _check_terminal(transitions.n_states, terminal)
    _check_discount(discount)
    value = np.where(ends, reward, np.zeros(len(reward)) if start is None else start)
    while True:
        q = reward[:, None] + discount * transitions.expect(value)  # (S, A)
        new = np.where(ends, reward, _logsumexp(q))
        change = np.abs(new - value).max()
        value = new
        if not change > eps:
            return _normalised(q, _logsumexp(q)), value


def visitation(
    p_transition: Transitions | Table,
    policy: Policy,
    p_initial: PerState,
    terminal: Sequence[int],
    discount: float = 1.0,
    eps: float = 1e-8,
    steps: float = np.inf,
) -> PerState:
    """The forward pass: how often the policy visits each state, D(s) = sum_t discount^t p(s_t = s).

    The mass on a terminal state counts once and does not move on. The sum ends after `steps` times (the start
    is the first) or when less than `eps` is on its way. Raises ValueError when neither happens.
    """
    transitions = as_transitions(p_transition)
    ends = _check_terminal(transitions.n_states, terminal)
    chain = transitions.under(policy)
    mass = np.asarray(p_initial, dtype=float)
    total = mass.copy()
    for step in range(1, MAX_STEPS):
        moving = np.where(ends, 0.0, mass)
        if step >= steps or moving.sum() < eps:
            return total
        mass = discount * transitions.push(moving, chain)
        total += mass
    raise ValueError(
        f"After {MAX_STEPS} steps {moving.sum():.2g} of the probability has not reached a terminal state. "
        "The policy hardly ever ends: look for rewards that make walking on worth more than arriving."
    )


def compute_expected_svf(
    p_transition: Transitions | Table,
    p_initial: PerState,
    terminal: Sequence[int],
    reward: PerState,
    eps: float = 1e-5,
) -> PerState:
    """Expected state-visitation frequencies: the backward pass, then the forward pass, 2 S times each.

    Args:
        eps: the forward pass ends before when less than this is on its way.

    Raises ValueError as `check_problem` does.
    """
    transitions = as_transitions(p_transition)
    check_problem(transitions, terminal, p_initial)
    policy = local_action_probabilities(transitions, terminal, reward)
    return visitation(transitions, policy, p_initial, terminal, eps=eps, steps=2 * transitions.n_states)


def expected_return(
    p_transition: Transitions | Table,
    policy: Policy,
    p_initial: PerState,
    terminal: Sequence[int],
    reward: PerState,
    discount: float,
) -> float:
    """E[sum_t discount^t r(s_t)] of the policy up to its arrival: the sum over states of D(s) r(s)."""
    return float(visitation(p_transition, policy, p_initial, terminal, discount) @ reward)


# --- optimisers ---------------------------------------------------------------------------------------------


def exponentiated_gradient(learning_rate: float, decay: float = 0.0) -> Optimiser:
    """w <- w exp(lr gradient) with lr = learning_rate / (1 + decay k): positive weights stay positive."""
    return lambda weights, gradient, k: weights * np.exp(learning_rate / (1.0 + decay * k) * gradient)


def gradient_ascent(learning_rate: float, decay: float = 0.0) -> Optimiser:
    """w <- w + lr gradient with lr = learning_rate / (1 + decay k): weights of either sign."""
    return lambda weights, gradient, k: weights + learning_rate / (1.0 + decay * k) * gradient


# --- inverse reinforcement learning -------------------------------------------------------------------------


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

    def solve(reward):
        policy = local_action_probabilities(transitions, terminal, reward)
        return visitation(transitions, policy, p_initial, terminal, steps=counted), {}

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
    _check_discount(discount)
    target = feature_expectation_from_trajectories(features, trajectories, discount)
    target_visits = _visit_counts(transitions.n_states, trajectories, discount)
    p_initial = initial_probabilities_from_trajectories(transitions.n_states, trajectories)
    check_problem(transitions, terminal, p_initial)
    value = None

    def solve(reward):
        nonlocal value  # neighbouring rewards have neighbouring values
        policy, value = causal_policy(transitions, terminal, reward, discount, start=value)
        visits = visitation(transitions, policy, p_initial, terminal, discount)
        return visits, {"loss": float(p_initial @ value - target_visits @ reward)}

    return _fit(solve, features, target, optim, init, eps, max_iterations, gap, on_step)


def _fit(solve, features, target, optim, init, eps, max_iterations, gap, on_step) -> PerState:
    """Step along the feature gap. `solve(reward)` returns the expected visits (S,) and more to record."""
    weights = np.broadcast_to(np.asarray(init, dtype=float), target.shape)
    for k in range(max_iterations):
        visits, metrics = solve(features @ weights)
        gradient = target - visits @ features
        record = {"iteration": k, "gap": feature_gap(target, visits @ features)} | metrics
        if on_step is not None:
            on_step(record)
        if record["gap"] <= gap:
            break
        with np.errstate(over="ignore"):
            new = optim(weights, gradient, k)
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


# --- checks -------------------------------------------------------------------------------------------------


def check_problem(transitions: Transitions, terminal: Sequence[int], p_initial: PerState) -> np.ndarray:
    """Which states are terminal, (S,) booleans.

    Raises ValueError when the terminal states are none or out of range, when `p_initial` is no distribution
    over the states, or when the walk can get into a state from which no terminal state can be reached.
    """
    ends = _check_terminal(transitions.n_states, terminal)
    p_initial = np.asarray(p_initial, dtype=float)
    if p_initial.shape != ends.shape or (p_initial < 0).any() or not np.isclose(p_initial.sum(), 1.0):
        raise ValueError(
            f"The initial probabilities must be {transitions.n_states} numbers of at least 0 that sum to 1; "
            f"found the shape {p_initial.shape} and the sum {p_initial.sum():.6g}."
        )
    possible = (transitions.probabilities > 0).any(axis=2)  # (S, K)

    def entered_from(states):
        return _mark(len(states), transitions.successors[possible & (states & ~ends)[:, None]])

    def leading_to(states):
        return (possible & states[transitions.successors]).any(axis=1)

    reached = _closure(p_initial > 0, entered_from)
    arriving = _closure(ends, leading_to)
    stuck = np.flatnonzero(reached & ~arriving)
    if len(stuck):
        raise ValueError(
            f"No terminal state can be reached from state {stuck[0]} ({len(stuck)} such states can be entered), "
            "so walks through it never end. Change the terminal states or the transitions."
        )
    return ends


def _closure(members: np.ndarray, step: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """The smallest set that holds `members` and what `step` adds to it, as booleans (S,)."""
    while True:
        larger = members | step(members)
        if (larger == members).all():
            return members
        members = larger


def _mark(n: int, indices: np.ndarray) -> np.ndarray:
    marked = np.zeros(n, dtype=bool)
    marked[indices] = True
    return marked


def _check_terminal(n_states: int, terminal: Sequence[int]) -> np.ndarray:
    terminal = np.asarray(terminal, dtype=int)
    if terminal.size == 0:
        raise ValueError("There is no terminal state: name at least one.")
    if terminal.min() < 0 or terminal.max() >= n_states:
        raise ValueError(f"The terminal states {terminal.tolist()} must lie between 0 and {n_states - 1}.")
    return _mark(n_states, terminal)


def _check_discount(discount: float) -> None:
    if not 0.0 <= discount < 1.0:
        raise ValueError(
            f"The discount must be at least 0 and below 1, or values may not settle; found {discount}."
        )


def _logsumexp(x: Float[np.ndarray, "S A"]) -> PerState:
    """log sum_a exp x, where a row may hold only -inf."""
    columns = np.ascontiguousarray(x.T)  # numpy reduces a few long rows faster than many short ones
    top = columns.max(axis=0)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(columns - safe).sum(axis=0)) + safe


def _normalised(log_weights: Float[np.ndarray, "S A"], log_sums: PerState) -> Policy:
    """exp(log_weights - log_sums), uniform where the sum is 0."""
    possible = np.isfinite(log_sums)[:, None]
    with np.errstate(invalid="ignore"):
        return np.where(possible, np.exp(log_weights - log_sums[:, None]), 1.0 / log_weights.shape[1])
