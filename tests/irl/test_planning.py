"""Values, the backward passes and the forward pass: oracles that enumerate, loop or solve, and bad input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.irl import expected_svf_with_loops
from shared import irl
from shared.irl import demonstrations
from tests.irl.problems import chain_table, one_hot, random_table

SEEDS = st.integers(0, 10_000)


def test_value_iteration_solves_the_bellman_equation():
    world = irl.grid_world(4, slip=0.2)
    reward = np.arange(16.0)
    value = irl.value_iteration(world, reward, discount=0.9)
    np.testing.assert_allclose(value, reward + 0.9 * world.expect(value).max(axis=1))


def test_the_expert_prefers_the_intended_neighbour():
    world = irl.grid_world(2, slip=0.2)
    policy = irl.stochastic_policy_from_value(world, np.array([1.0, 2.0, 3.0, 4.0]), weighting=lambda v: v)
    np.testing.assert_allclose(policy[0], np.array([2, 1, 3, 1]) / 7)


def test_a_weighting_that_is_no_weighting():
    with pytest.raises(ValueError, match="weighting"):
        irl.stochastic_policy_from_value(chain_table(), np.array([1.0, -1.0, 1.0]))


@pytest.mark.parametrize("n_actions", [1, 2])
def test_visitation_of_the_three_state_chain(n_actions):
    """The end counts once although its mass could stay there for ever."""
    chain = np.zeros((3, 3, n_actions))
    chain[0, 1] = chain[1, 2] = chain[2, 2] = 1.0
    found = irl.compute_expected_svf(chain, one_hot(0, 3), [2], np.zeros(3))
    np.testing.assert_allclose(found, [1.0, 1.0, 1.0])


@given(SEEDS, st.integers(2, 3))
@settings(max_examples=10, deadline=None)
def test_the_same_as_the_loops(seed, size):
    """The loops are the handout's formulas; logarithms and early stopping must change nothing."""
    rng = np.random.default_rng(seed)
    world = irl.grid_world(size, slip=float(rng.uniform()))
    reward = rng.normal(size=size**2)
    start = rng.dirichlet(np.ones(size**2))
    terminal = [int(rng.integers(size**2))]
    expected = expected_svf_with_loops(world.table(), start, terminal, reward)
    np.testing.assert_allclose(irl.compute_expected_svf(world, start, terminal, reward, eps=0.0), expected, rtol=1e-6)


def test_paths_have_the_probability_of_their_exponentiated_reward():
    """Enumerates the three paths of a small world without luck.

    The end keeps to itself under both actions, so its Z grows by 2 exp(r) per sweep and early arrivals gain;
    r = -log 2 there makes that factor 1 and the recursion exact.
    """
    table = np.zeros((4, 4, 2))
    moves = [(0, 0, 1), (0, 1, 2), (1, 0, 3), (1, 1, 2), (2, 0, 3), (2, 1, 3), (3, 0, 3), (3, 1, 3)]
    for state, action, following in moves:
        table[state, following, action] = 1.0
    reward = np.array([0.3, -0.5, 0.8, -np.log(2)])
    weight = {  # exp of the rewards collected before the end, times 2: both actions of state 2 do the same
        (0, 1, 3): np.exp(0.3 - 0.5),
        (0, 1, 2, 3): 2 * np.exp(0.3 - 0.5 + 0.8),
        (0, 2, 3): 2 * np.exp(0.3 + 0.8),
    }
    total = sum(weight.values())
    expected = [sum(w for path, w in weight.items() if state in path) / total for state in range(4)]
    np.testing.assert_allclose(irl.compute_expected_svf(table, one_hot(0, 4), [3], reward), expected)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_logarithms_where_the_plain_sums_overflow():
    """Every sweep multiplies Z by up to 4 e: 2 x 169 sweeps pass the largest float, and nan comes out."""
    world = irl.grid_world(13, slip=0.2)
    table = world.table()
    reward = np.ones(169)
    z = one_hot(168, 169)
    for _ in range(2 * 169):
        z_action = np.e * np.einsum("sta,t->sa", table, z)
        z = z_action.sum(axis=1)
    assert not np.isfinite(z_action / z[:, None]).all()

    z = one_hot(168, 169)
    for _ in range(2 * 169):
        z_action = np.e * np.einsum("sta,t->sa", table, z)
        z = z_action.sum(axis=1) / z_action.sum()  # rescaling is the other remedy
    found = irl.local_action_probabilities(world, [168], reward)
    np.testing.assert_allclose(found, z_action / z_action.sum(axis=1, keepdims=True), rtol=1e-6)


@pytest.mark.parametrize("level", [-1000.0, 1000.0])
def test_extreme_rewards_leave_finite_policies(level):
    world = irl.grid_world(4, slip=0.2)
    for policy in (
        irl.local_action_probabilities(world, [15], np.full(16, level)),
        irl.causal_policy(world, [15], np.full(16, level), discount=0.9)[0],
    ):
        assert np.isfinite(policy).all()
        np.testing.assert_allclose(policy.sum(axis=1), 1.0)


@given(SEEDS, st.sampled_from([0.5, 0.9, 1.0]))
@settings(max_examples=30, deadline=None)
def test_visitation_solves_the_flow_equations(seed, discount):
    """D = p_initial + discount P^T D, the end passing nothing on: nothing lost, nothing counted twice."""
    rng = np.random.default_rng(seed)
    table = random_table(rng)
    policy = rng.dirichlet(np.ones(3), size=6)
    start = rng.dirichlet(np.ones(6))
    chain = np.einsum("sa,sta->st", policy, table)
    chain[-1] = 0.0
    expected = np.linalg.solve(np.eye(6) - discount * chain.T, start)
    found = irl.visitation(table, policy, start, [5], discount, eps=1e-12)
    np.testing.assert_allclose(found, expected, rtol=1e-8)
    if discount == 1.0:
        assert found[-1] == pytest.approx(1.0)  # everybody arrives, once


@given(SEEDS)
@settings(max_examples=30, deadline=None)
def test_policies_are_distributions_and_follow_a_renaming_of_the_states(seed):
    rng = np.random.default_rng(seed)
    table = random_table(rng)
    reward = rng.normal(size=6)
    start = rng.dirichlet(np.ones(6))
    order = rng.permutation(6)  # the new state i is the old order[i]
    terminal = [int(np.flatnonzero(order == 5)[0])]
    renamed = table[order][:, order]

    local = irl.local_action_probabilities(table, [5], reward)
    causal, _ = irl.causal_policy(table, [5], reward, 0.9)
    np.testing.assert_allclose(local.sum(axis=1), 1.0)
    np.testing.assert_allclose(causal.sum(axis=1), 1.0)
    found = irl.local_action_probabilities(renamed, terminal, reward[order])
    np.testing.assert_allclose(found, local[order], rtol=1e-6)
    np.testing.assert_allclose(irl.causal_policy(renamed, terminal, reward[order], 0.9)[0], causal[order], rtol=1e-5)
    svf = irl.compute_expected_svf(table, start, [5], reward)
    renamed_svf = irl.compute_expected_svf(renamed, start[order], terminal, reward[order])
    np.testing.assert_allclose(renamed_svf, svf[order], rtol=1e-4)


@given(SEEDS)
@settings(max_examples=20, deadline=None)
def test_soft_values_are_the_best_return_plus_entropy(seed):
    """V is what the policy collects, reward and discounted entropy; no other policy collects more."""
    rng = np.random.default_rng(seed)
    table = random_table(rng)
    reward = rng.normal(size=6)
    start = rng.dirichlet(np.ones(6))
    policy, value = irl.causal_policy(table, [5], reward, 0.8, eps=1e-12)

    def collected(policy):
        visits = irl.visitation(table, policy, start, [5], 0.8, eps=1e-14)
        entropy = -(policy * np.log(policy)).sum(axis=1)
        return visits @ (reward + np.append(entropy[:-1], 0.0))

    assert collected(policy) == pytest.approx(start @ value, abs=1e-8)
    assert collected(rng.dirichlet(np.ones(3), size=6)) < start @ value


def test_a_policy_that_never_arrives(monkeypatch):
    monkeypatch.setattr(demonstrations, "MAX_STEPS", 50)
    table = np.zeros((2, 2, 2))
    table[0, 0, 0] = table[0, 1, 1] = table[1, 1] = 1.0
    stay = np.array([[1.0, 0.0], [0.5, 0.5]])
    with pytest.raises(ValueError, match="hardly ever ends"):
        irl.visitation(table, stay, one_hot(0, 2), [1])
    with pytest.raises(ValueError, match="have not arrived"):
        irl.generate_trajectories(3, table, stay, one_hot(0, 2), [1], np.random.default_rng(0))
