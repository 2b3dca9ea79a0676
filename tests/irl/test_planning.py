"""Values, the backward passes and the forward pass: oracles that enumerate, loop or solve, and bad input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared import irl
from shared.irl import demonstrations, planning
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
    for weights in ([1.0, -1.0, 1.0], [0.0, 0.0, 0.0], [1.0, np.inf, 1.0]):
        with pytest.raises(ValueError, match="The weighting must give finite numbers of at least 0"):
            irl.stochastic_policy_from_value(chain_table(), np.array(weights))


def test_a_reward_that_is_no_number_ends_all_the_same():
    """Catches a notebook that runs for ever after a division by 0."""
    assert np.isnan(irl.value_iteration(row_of_three(), np.array([np.nan, 0.0, 0.0]), discount=0.9)[0])


@pytest.mark.filterwarnings("error")
def test_where_the_end_is_out_of_reach_the_world_stays_as_it_is():
    """Catches transitions that are nan, and a warning about them, for two states that lead to each other alone."""
    table = np.zeros((3, 3, 1))
    table[0, 1] = table[1, 0] = table[2, 2] = 1.0
    np.testing.assert_array_equal(irl.tilted_transitions(table, [2], np.zeros(3)).table(), table)


def row_of_three() -> irl.Transitions:
    """States 0, 1 and 2 in a row; actions left and right, and a move against the border stays."""
    table = np.zeros((3, 3, 2))
    for state in range(3):
        table[state, max(state - 1, 0), 0] = 1.0
        table[state, min(state + 1, 2), 1] = 1.0
    return irl.Transitions.from_table(table)


def test_the_worked_numbers_of_the_module():
    """Catches an example that is not of the code below it: Z after each sweep, visits after each time."""
    world = row_of_three()
    ends = one_hot(2, 3) > 0
    reward = np.log([0.5, 0.5, 1.0])
    z = [(0, 0.5, 1), (0.25, 0.5, 1.5), (0.375, 0.875, 2), (0.625, 1.188, 2.875), (0.906, 1.75, 4.063)]
    for sweeps, row in enumerate([*z, (1.328, 2.484, 5.813)], start=1):
        policy, log_z = planning.backward_pass(world, ends, reward, sweeps)
        np.testing.assert_allclose(np.exp(log_z), row, atol=6e-4)
    np.testing.assert_allclose(policy[:2, 1], [0.659, 0.818], atol=5e-4)
    mass = [(1, 0, 0), (0.341, 0.659, 0), (0.237, 0.225, 0.539), (0.122, 0.156, 0.184), (0.070, 0.080, 0.127)]
    before = np.zeros(3)
    for times, row in enumerate([*mass, (0.038, 0.046, 0.066)], start=1):
        visits = planning.forward_pass(world, policy, one_hot(0, 3), ends, times)
        np.testing.assert_allclose(visits - before, row, atol=5e-4)
        before = visits
    np.testing.assert_allclose(visits, [1.808, 1.166, 0.915], atol=5e-4)
    np.testing.assert_allclose(irl.compute_expected_svf(world, one_hot(0, 3), [2], reward), visits)


@given(SEEDS, st.integers(2, 3))
@settings(max_examples=10, deadline=None)
def test_the_same_as_the_plain_passes(seed, size):
    """Logarithms, and transitions without zeros, must change nothing."""
    rng = np.random.default_rng(seed)
    world = irl.grid_world(size, slip=float(rng.uniform()))
    reward = rng.normal(size=size**2)
    start = rng.dirichlet(np.ones(size**2))
    terminal = [int(rng.integers(size**2))]
    rounds = 2 * size**2
    policy, _ = planning.plain_backward_pass(world.table(), terminal, reward, rounds)
    expected = planning.plain_forward_pass(world.table(), policy, start, terminal, rounds)
    np.testing.assert_allclose(irl.compute_expected_svf(world, start, terminal, reward), expected, rtol=1e-6)


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
    assert not np.isfinite(planning.plain_backward_pass(table, [168], reward, 2 * 169)[0]).all()

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
    found = irl.visitation(table, policy, start, [5], discount)
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
        visits = irl.visitation(table, policy, start, [5], 0.8)
        entropy = -(policy * np.log(policy)).sum(axis=1)
        return visits @ (reward + np.append(entropy[:-1], 0.0))

    assert collected(policy) == pytest.approx(start @ value, abs=1e-8)
    assert collected(rng.dirichlet(np.ones(3), size=6)) < start @ value


def test_a_reward_shifted_with_its_end_keeps_the_causal_policy():
    """Catches an end that is paid once where the notebook's table of a shifted reward takes it as paid for ever."""
    table = random_table(np.random.default_rng(0))
    reward = np.arange(6.0)
    policy, value = irl.causal_policy(table, [5], reward, 0.9, eps=1e-12)
    shifted = reward + 6.2 * np.append(np.ones(5), 1 / (1 - 0.9))
    after, risen = irl.causal_policy(table, [5], shifted, 0.9, eps=1e-12)
    np.testing.assert_allclose(after[:-1], policy[:-1], rtol=1e-8)
    np.testing.assert_allclose(risen - value, 62.0, rtol=1e-8)


def test_a_policy_that_never_arrives(monkeypatch):
    monkeypatch.setattr(demonstrations, "MAX_STEPS", 50)
    table = np.zeros((2, 2, 2))
    table[0, 0, 0] = table[0, 1, 1] = table[1, 1] = 1.0
    stay = np.array([[1.0, 0.0], [0.5, 0.5]])
    with pytest.raises(ValueError, match="hardly ever ends"):
        irl.visitation(table, stay, one_hot(0, 2), [1])
    with pytest.raises(ValueError, match="have not arrived"):
        irl.generate_trajectories(3, table, stay, one_hot(0, 2), [1], np.random.default_rng(0))


def test_parts_that_nobody_enters_are_not_solved_for():
    """Catches two rows of fields with an end each beside an endless one, whose equations have no solution."""
    table = np.zeros((9, 9, 1))
    for row in (0, 3):
        table[row, row + 1] = 1.0
        table[row + 1, row] = table[row + 1, row + 2] = 0.5
        table[row + 2, row + 2] = 1.0
    table[6, 7] = table[7, 8] = table[8, 6] = 1.0
    start = np.array([0.5, 0, 0, 0, 0.5, 0, 0, 0, 0])
    np.testing.assert_allclose(irl.visitation(table, np.ones((9, 1)), start, [2, 5]), [1, 1, 0.5, 0.5, 1, 0.5, 0, 0, 0])


def test_a_limit_on_the_steps():
    """Catches a walk without an end that is refused although only its first times are counted."""
    table = np.zeros((3, 3, 1))
    table[0, 1] = table[1, 0] = table[2, 2] = 1.0
    found = irl.visitation(table, np.ones((3, 1)), one_hot(0, 3), [2], steps=2001)
    np.testing.assert_allclose(found, [1001, 1000, 0])


@pytest.mark.parametrize("leave", [0.0, 1e-14])
def test_walks_that_hardly_ever_end(leave):
    """Digits are gone when only one step in 1e14 arrives, and the solve's own answer is wrong."""
    table = np.zeros((2, 2, 1))
    table[0, :, 0] = [1 - leave, leave]
    table[1, 1] = 1.0
    with pytest.raises(ValueError, match="hardly ever ends"):
        irl.visitation(table, np.ones((2, 1)), one_hot(0, 2), [1])


def test_states_from_which_no_end_can_be_reached():
    """They keep their logarithm of 0 and hinder nobody; the policy there is uniform."""
    table = np.zeros((3, 3, 2))
    table[0, 1] = table[1, 1] = table[2, 2] = 1.0
    policy = irl.local_action_probabilities(table, [1], np.zeros(3))
    np.testing.assert_allclose(policy[2], 0.5)
    assert np.isfinite(policy).all()


@settings(deadline=None, max_examples=20)
@given(SEEDS)
def test_the_tilted_world_prefers_next_states_with_a_large_z(seed):
    """Catches a tilt by the wrong sweep, by the reward in place of Z, and rows that are no distribution."""
    rng = np.random.default_rng(seed)
    table, reward = random_table(rng, 5, 2), rng.normal(size=5)
    _, z = planning.plain_backward_pass(table, [4], reward, 2 * 5 - 1)
    expected = table * z[None, :, None]
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(irl.tilted_transitions(table, [4], reward).table(), expected, atol=1e-9)


def test_the_tilted_visits_are_the_gradient_of_the_partition_function():
    """Catches D counted on the real ice: only in the tilted world is it d log Z / d r, which the likelihood needs."""
    world, terminal, start = irl.grid_world(4, slip=0.4), [15], one_hot(0, 16)
    reward = np.append(np.random.default_rng(3).normal(scale=0.3, size=15), 3.0)  # the end draws walks to it
    steps = world.table().sum(axis=2)  # (S, S)
    growth = np.abs(np.linalg.eigvals(np.exp(reward)[:, None] * steps)).max()
    walking = np.delete(np.arange(16), terminal)

    def log_partition(reward):
        """log of the summed weights of all walks from state 0 to the end; each step costs log(growth)."""
        weights = np.exp(reward)[:, None] / growth * steps
        inner = np.eye(15) - weights[np.ix_(walking, walking)]
        return np.log(np.linalg.solve(inner, weights[walking, 15])[0])

    nudges = 1e-5 * np.eye(16)[walking]
    slopes = [(log_partition(reward + nudge) - log_partition(reward - nudge)) / 2e-5 for nudge in nudges]
    policy = irl.local_action_probabilities(world, terminal, reward)
    tilted = irl.visitation(irl.tilted_transitions(world, terminal, reward), policy, start, terminal)
    np.testing.assert_allclose(tilted[walking], slopes, rtol=0.01)
    assert np.abs(irl.visitation(world, policy, start, terminal)[walking] - slopes).max() > 0.1
