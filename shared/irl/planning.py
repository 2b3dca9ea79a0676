"""What to do in a world whose reward is known, and how often that visits each state.

Values and an expert's policy; the backward passes of maximum-entropy inverse reinforcement learning, which turn a
reward into a policy; and the forward pass, which turns a policy into visits. Derived in notebooks/maxent_irl.ipynb,
after Ziebart et al. (AAAI 2008) and Ziebart's thesis (2010). Where this module departs from the handout:

- The backward pass works with logarithms, because the plain sums grow by a factor per sweep and overflow: with reward
  1 and four actions in every world of more than 148 states. It ends early once the action probabilities stand still.
  How it sweeps numbers in between, which is faster, is optional reading: `sweeps.py`.
- The forward pass can also run until everything has arrived; the handout's 2 S steps leave some probability uncounted.
  Walks that take long are not followed step by step but solved for; optional reading: `elimination.py`.
"""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from shared.irl.checks import check_discount, check_problem, check_terminal
from shared.irl.elimination import visits_until_arrival
from shared.irl.logarithms import logsumexp, normalised
from shared.irl.sweeps import log_partition
from shared.irl.worlds import PerState, Policy, Table, Transitions, as_transitions

COUNTED = 500  # steps that are summed one by one before the rest is solved for, which costs about as much as they


def value_iteration(
    p_transition: Transitions | Table, reward: PerState, discount: float, eps: float = 1e-9
) -> PerState:
    """V(s) = r(s) + discount max_a E[V(s')], iterated until no value changes by more than `eps`."""
    transitions = as_transitions(p_transition)
    check_discount(discount)
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


def local_action_probabilities(
    p_transition: Transitions | Table, terminal: Sequence[int], reward: PerState, eps: float = 1e-10
) -> Policy:
    """The backward pass of the handout (Ziebart et al., 2008, algorithm 1).

    Z(s, a) = exp(r(s)) sum_s' p(s' | s, a) Z(s'), Z(s) = sum_a Z(s, a), starting from 1 in the terminal
    states and 0 elsewhere; after 2 S sweeps pi(a | s) = Z(s, a) / Z(s). A factor common to all Z cancels in
    pi, so the sweeps may end as soon as log Z grows by the same amount everywhere, up to `eps`. A terminal state takes
    part like any other. A state from which 2 S sweeps reach no terminal state gets the uniform distribution.
    """
    transitions = as_transitions(p_transition)
    ends = check_terminal(transitions.n_states, terminal)
    log_z = log_partition(transitions, ends, reward, 2 * transitions.n_states - 1, eps)
    log_za = reward[:, None] + transitions.log_expect(log_z)  # (S, A), the last sweep
    return normalised(log_za, logsumexp(log_za))


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
    ends = check_terminal(transitions.n_states, terminal)
    check_discount(discount)
    guess = np.zeros(len(reward)) if start is None else start
    value = np.where(ends, reward, guess)
    while True:
        q = reward[:, None] + discount * transitions.expect(value)  # (S, A)
        new = np.where(ends, reward, logsumexp(q))
        change = np.abs(new - value).max()
        value = new
        if not change > eps:
            return normalised(q, logsumexp(q)), value


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
    is the first) or when no more than `eps` is on its way. Without a limit on the steps, all later visits of what is on
    its way after `COUNTED` of them come from one solve. Raises ValueError when some of it never arrives.
    """
    transitions = as_transitions(p_transition)
    ends = check_terminal(transitions.n_states, terminal)
    chain = np.where(ends[:, None], 0.0, transitions.under(policy))  # (S, K), rows of zeros where the walk ends
    mass = np.asarray(p_initial, dtype=float)
    without_limit = np.isinf(steps)
    counted = COUNTED if without_limit else steps
    total, moving = _count(transitions, chain, mass, ends, discount, eps, counted)
    if not without_limit or moving.sum() <= eps:
        return total
    later = visits_until_arrival(transitions, chain, moving, discount)
    return total + discount * transitions.push(later, chain)


def _count(
    transitions: Transitions,
    chain: Float[np.ndarray, "S K"],
    mass: PerState,
    ends: np.ndarray,
    discount: float,
    eps: float,
    steps: float,
) -> tuple[PerState, PerState]:
    """The visits in the first `steps` times, and the mass (S,) that is on its way at the last of them."""
    arrivals = transitions.successors.T.ravel()  # (K S), long rows being faster than short ones
    chain = discount * np.ascontiguousarray(chain.T)  # (K, S)
    total = mass.copy()
    step = 1
    while True:
        moving = np.where(ends, 0.0, mass)
        if step >= steps or moving.sum() <= eps:
            return total, moving
        mass = np.bincount(arrivals, weights=(moving * chain).ravel(), minlength=len(mass))
        total += mass
        step += 1


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
