"""Planning in a world whose reward is known: the policy that a reward calls for, and how often it visits each state.

First stand the two passes of maximum-entropy inverse reinforcement learning (Ziebart et al., AAAI 2008, algorithm 1), which
`notebooks/maxent_irl.ipynb` derives, as the paper has them:

    plain_backward_pass    a reward -> a policy      Z(s) = exp(r(s)) sum_a sum_s' p(s' | s, a) Z(s'), sweep after sweep
    plain_forward_pass     a policy -> visits        D(s) = sum over times of p(s_t = s)

Three states in a row, 0 1 2, actions left and right, a move against the border stays. The walk starts in 0 and ends in 2.
exp(r) is 1/2 in states 0 and 1, and 1 in state 2. Both passes take 2 S = 6 rounds:

    backward    Z(0)   Z(1)   Z(2)             forward    in 0   in 1   in 2
    begin       0      0      1                time 1     1      0      0
    sweep 1     0      0.5    1                time 2     0.341  0.659  0
    sweep 2     0.25   0.5    1.5              time 3     0.237  0.225  0.539
    sweep 3     0.375  0.875  2                time 4     0.122  0.156  0.184     only what arrives then
    sweep 4     0.625  1.188  2.875            time 5     0.070  0.080  0.127
    sweep 5     0.906  1.75   4.063            time 6     0.038  0.046  0.066
    sweep 6     1.328  2.484  5.813            sum D      1.808  1.166  0.915     0.085 is still on its way

    p(right | 0) = 1/2 x Z(1) / Z(0) = 0.5 x 1.75 / 1.328 = 0.659, with the Z(1) of sweep 5
    p(right | 1) = 1/2 x Z(2) / Z(1) = 0.5 x 4.063 / 2.484 = 0.818

`backward_pass` and `forward_pass` compute the same, with two departures:

- The backward pass works with logarithms, because Z grows by a factor in each sweep and overflows: with reward 1 and four
  actions in every world of more than 148 states.
- A world is kept as the K states that can follow each state (`Transitions`), not as a table of S x S x A.

Behind them: `visitation`, which counts until everything has arrived and not for 2 S rounds; `causal_policy`, the maximum
causal entropy form of Ziebart's thesis (2010); `value_iteration` and a policy that prefers valuable neighbours, which make
an expert. All are for small worlds: 2 S sweeps cost S^2, and `visitation` solves for S unknowns.
"""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Bool

from shared.irl.checks import check_discount, check_problem, check_terminal, entered
from shared.irl.logarithms import logsumexp, normalised
from shared.irl.worlds import PerState, Policy, Table, Transitions, as_transitions

TOLERANCE = 1e-6  # the share of the walks that rounding may lose


def plain_backward_pass(
    p_transition: Table, terminal: Sequence[int], reward: PerState, sweeps: int
) -> tuple[Policy, PerState]:
    """The policy pi(a | s) = Z(s, a) / Z(s), and Z(s), after so many sweeps; p_transition[s, s', a] is p(s' | s, a)."""
    z = np.zeros(len(reward))
    z[terminal] = 1.0
    for _ in range(sweeps):
        z_action = np.exp(reward)[:, None] * np.einsum("sna,n->sa", p_transition, z)  # n: the next state s'
        z = z_action.sum(axis=1)
    return z_action / z[:, None], z


def plain_forward_pass(
    p_transition: Table, policy: Policy, p_initial: PerState, terminal: Sequence[int], times: int
) -> PerState:
    """The visits D(s) over so many times, the start being the first. Where the walk has ended nothing moves on."""
    moves = np.einsum("sna,sa->sn", p_transition, policy)
    moves[terminal] = 0.0
    visits = mass = p_initial
    for _ in range(times - 1):
        mass = mass @ moves
        visits = visits + mass
    return visits


def backward_pass(
    transitions: Transitions, ends: Bool[np.ndarray, "S"], reward: PerState, sweeps: int
) -> tuple[Policy, PerState]:
    """`plain_backward_pass` in logarithms: the policy after so many sweeps (at least 1), and log Z(s).

    A terminal state (`ends`) takes part like any other. Where Z(s) is still 0 the policy is uniform.
    """
    log_z = np.where(ends, 0.0, -np.inf)  # (S,)
    for _ in range(sweeps):
        log_za = reward[:, None] + transitions.log_expect(log_z)  # (S, A)
        log_z = logsumexp(log_za)
    return normalised(log_za, log_z), log_z


def forward_pass(
    transitions: Transitions,
    policy: Policy,
    p_initial: PerState,
    ends: Bool[np.ndarray, "S"],
    times: int,
    discount: float = 1.0,
) -> PerState:
    """`plain_forward_pass` with a discount: the visits D(s) = sum_t discount^t p(s_t = s) over so many times."""
    chain = np.where(ends[:, None], 0.0, transitions.under(policy))  # (S, K), the moves; none where the walk ends
    visits = mass = np.asarray(p_initial, dtype=float)
    for _ in range(times - 1):
        mass = discount * transitions.push(mass, chain)
        visits = visits + mass
    return visits


def local_action_probabilities(p_transition: Transitions | Table, terminal: Sequence[int], reward: PerState) -> Policy:
    """The policy of `backward_pass` after 2 S sweeps (Ziebart et al., 2008, algorithm 1).

    Raises ValueError when the terminal states are none or out of range.
    """
    transitions = as_transitions(p_transition)
    ends = check_terminal(transitions.n_states, terminal)
    return backward_pass(transitions, ends, reward, 2 * transitions.n_states)[0]


def compute_expected_svf(
    p_transition: Transitions | Table, p_initial: PerState, terminal: Sequence[int], reward: PerState
) -> PerState:
    """Expected state-visitation frequencies: the backward pass, then the forward pass, of 2 S rounds each.

    Raises ValueError as `check_problem` does.
    """
    transitions = as_transitions(p_transition)
    check_problem(transitions, terminal, p_initial)
    policy = local_action_probabilities(transitions, terminal, reward)
    return visitation(transitions, policy, p_initial, terminal, steps=2 * transitions.n_states)


def visitation(
    p_transition: Transitions | Table,
    policy: Policy,
    p_initial: PerState,
    terminal: Sequence[int],
    discount: float = 1.0,
    steps: float = np.inf,
) -> PerState:
    """The visits D(s) = sum_t discount^t p(s_t = s) of `forward_pass` over so many `steps`, by default until arrival.

    Without a limit they solve D = p_initial + discount P^T D, P being the moves of a walk that has not ended.

    Raises ValueError when some of it never arrives, or the terminal states are none or out of range.
    """
    transitions = as_transitions(p_transition)
    ends = check_terminal(transitions.n_states, terminal)
    start = np.asarray(p_initial, dtype=float)
    if steps < np.inf:
        return forward_pass(transitions, policy, start, ends, int(steps), discount)
    chain = np.where(ends[:, None], 0.0, transitions.under(policy))  # (S, K), the moves; none where the walk ends
    moves = np.zeros((len(start), len(start)))
    np.add.at(moves, (np.arange(len(start))[:, None], transitions.successors), chain)
    here = entered(transitions, chain > 0, start > 0)  # elsewhere a walk may be endless, and nobody is there
    visits = np.zeros_like(start)
    try:
        visits[here] = np.linalg.solve(np.eye(here.sum()) - discount * moves[here][:, here].T, start[here])
    except np.linalg.LinAlgError:  # a state is never left
        visits[here] = np.nan
    accounted = visits[ends].sum() + (1 - discount) * visits[~ends].sum()
    if not abs(accounted - start.sum()) <= TOLERANCE:  # nan is refused too
        raise ValueError(
            "The policy hardly ever ends: its walks are too long to be counted, if they arrive at all. Look for "
            "rewards that make walking on worth more than arriving."
        )
    return visits


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
    pi = exp(Q - V). The backward pass averages exp V(s'), so that a lucky move to a good state counts as if it had
    been chosen. Here V(s') itself is averaged.

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


def tilted_transitions(p_transition: Transitions | Table, terminal: Sequence[int], reward: PerState) -> Transitions:
    """The world in which the walks of the backward pass are drawn: p(s' | s, a) Z(s') / sum_s' p(s' | s, a) Z(s').

    The distribution over walks exp(sum_t r(s_t)) prod_t p(s_t+1 | s_t, a_t) is not only a policy: given a
    state and an action, it prefers next states with a large Z as well. Together with `local_action_probabilities`
    these transitions are that distribution. Where no terminal state is within reach the transitions stay as they are.

    Raises ValueError when the terminal states are none or out of range.
    """
    transitions = as_transitions(p_transition)
    ends = check_terminal(transitions.n_states, terminal)
    _, log_z = backward_pass(transitions, ends, reward, 2 * transitions.n_states - 1)
    following = log_z[transitions.successors]  # (S, K)
    top = following.max(axis=1, keepdims=True)
    top[~np.isfinite(top)] = 0.0
    weighted = transitions.probabilities * np.exp(following - top)[:, :, None]  # (S, K, A)
    total = weighted.sum(axis=1, keepdims=True)  # (S, 1, A)
    tilted = np.divide(weighted, total, out=transitions.probabilities.astype(float), where=total > 0)
    return Transitions(transitions.successors, tilted)


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
