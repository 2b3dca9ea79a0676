"""Inverse reinforcement learning: the handout's numbers, oracles that enumerate or solve, and bad input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.irl import expected_svf_with_loops
from shared import irl, irl_plots

SEEDS = st.integers(0, 10_000)


def steps(*states: int) -> irl.Trajectory:
    """A trajectory through these states by action 0."""
    return irl.Trajectory(np.array([(here, 0, there) for here, there in zip(states, states[1:])]))


def one_hot(index: int, n: int) -> np.ndarray:
    return np.eye(n)[index]


def random_table(rng: np.random.Generator, n_states: int = 6, n_actions: int = 3) -> np.ndarray:
    """A table with gaps, from which the last state can always be reached."""
    table = rng.random((n_states, n_states, n_actions)) * (rng.random((n_states, n_states, n_actions)) < 0.5)
    table[:, -1] += 0.05
    return table / table.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def handout():
    """The handout's setting: world, reward, terminal, demonstrations, start, features."""
    world = irl.grid_world(5, slip=0.2)
    reward = np.zeros(25)
    reward[24], reward[8] = 1.0, 0.65
    value = irl.value_iteration(world, reward, discount=0.9)
    expert = irl.stochastic_policy_from_value(world, value, weighting=lambda v: v**50)
    start = one_hot(0, 25)
    demonstrations = irl.generate_trajectories(200, world, expert, start, [24], np.random.default_rng(11))
    return world, reward, [24], demonstrations, start, np.eye(25)


# --- worlds


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("slip", [0.0, 0.2, 1.0])
def test_every_row_of_a_grid_world_is_a_distribution(size, slip):
    """Catches a corner or border that loses the probability of slipping against the wall."""
    table = irl.grid_world(size, slip).table()
    assert table.shape == (size**2, size**2, 4)
    np.testing.assert_allclose(table.sum(axis=1), 1.0)
    assert (table >= 0).all()


def test_corners_borders_and_the_inside_by_hand():
    """Two of four slips from a corner stay in it; published code forgets one, or counts one twice, here."""
    right, left, up, _ = range(4)
    table = irl.grid_world(5, slip=0.2).table()
    assert table[0, 0, left] == pytest.approx(0.8 + 2 * 0.05)
    assert table[0, 1, left] == table[0, 5, left] == pytest.approx(0.05)
    assert table[0, 0, right] == pytest.approx(2 * 0.05)
    assert table[0, 1, right] == pytest.approx(0.85)
    assert table[2, 2, up] == pytest.approx(0.05)
    assert table[2, 7, up] == pytest.approx(0.85)
    assert table[12, 13, right] == pytest.approx(0.85) and table[12, 12, right] == 0.0
    assert table[24, 24, up] == pytest.approx(0.9)


def test_without_ice_every_move_is_certain():
    table = irl.grid_world(4).table()
    assert set(np.unique(table)) == {0.0, 1.0}
    assert table[5, 6, 0] == table[5, 4, 1] == table[5, 9, 2] == table[5, 1, 3] == 1.0


@given(SEEDS)
@settings(max_examples=30, deadline=None)
def test_successors_and_table_say_the_same(seed):
    """Catches a successor dropped where states have different numbers of them."""
    rng = np.random.default_rng(seed)
    table = random_table(rng)
    transitions = irl.Transitions.from_table(table)
    values, policy = rng.normal(size=6), rng.dirichlet(np.ones(3), size=6)
    np.testing.assert_allclose(transitions.table(), table)
    np.testing.assert_allclose(transitions.expect(values), np.einsum("sta,t->sa", table, values))
    np.testing.assert_allclose(
        np.exp(transitions.log_expect(values)), np.einsum("sta,t->sa", table, np.exp(values))
    )
    moved = transitions.push(values, transitions.under(policy))
    np.testing.assert_allclose(moved, np.einsum("s,sa,sta->t", values, policy, table))


# --- the handout's unit tests


def test_feature_expectations_of_two_toy_trajectories():
    """The mean over demonstrations, not over steps, and the last state counts."""
    found = irl.feature_expectation_from_trajectories(np.eye(3), [steps(0, 1, 2), steps(0, 0, 1)])
    np.testing.assert_allclose(found, [1.5, 1.0, 0.5])


def test_discounted_feature_expectations_start_anew_in_every_trajectory():
    found = irl.feature_expectation_from_trajectories(
        np.eye(3), [steps(0, 1, 2), steps(0, 0, 1)], discount=0.5
    )
    np.testing.assert_allclose(found, [(1 + 1.5) / 2, (0.5 + 0.25) / 2, 0.125])


def test_initial_histogram():
    found = irl.initial_probabilities_from_trajectories(3, [steps(0, 1, 2), steps(0, 0, 1)])
    np.testing.assert_allclose(found, [1.0, 0.0, 0.0])


@pytest.mark.parametrize("n_actions", [1, 2])
def test_visitation_of_the_three_state_chain(n_actions):
    """The end counts once although its mass could stay there for ever."""
    chain = np.zeros((3, 3, n_actions))
    chain[0, 1] = chain[1, 2] = chain[2, 2] = 1.0
    found = irl.compute_expected_svf(chain, one_hot(0, 3), [2], np.zeros(3))
    np.testing.assert_allclose(found, [1.0, 1.0, 1.0])


def test_the_handouts_algorithm_reaches_the_handouts_gap(handout):
    world, _, terminal, demonstrations, start, features = handout
    optim = irl.exponentiated_gradient(0.2, decay=1.0)
    reward = irl.maxent_irl(world, features, terminal, demonstrations, optim, init=1.0)
    target = irl.feature_expectation_from_trajectories(features, demonstrations)
    assert irl.feature_gap(target, irl.compute_expected_svf(world, start, terminal, reward)) <= 0.85
    assert (reward > 0).all()


def test_causal_entropy_closes_the_gap_and_finds_the_two_rewards(handout):
    world, _, terminal, demonstrations, start, features = handout
    records = []
    reward = irl.maxent_causal_irl(
        world,
        features,
        terminal,
        demonstrations,
        irl.gradient_ascent(2.0),
        init=0.0,
        discount=0.9,
        max_iterations=300,
        on_step=records.append,
    )
    target = irl.feature_expectation_from_trajectories(features, demonstrations)
    policy, _ = irl.causal_policy(world, terminal, reward, discount=0.9)
    assert irl.feature_gap(target, irl.visitation(world, policy, start, terminal)) <= 0.05
    assert records[-1]["gap"] <= 0.05
    assert np.argsort(reward)[-2:].tolist() == [8, 24]
    assert all(later["loss"] < earlier["loss"] for earlier, later in zip(records, records[1:]))


def test_what_limits_the_handouts_form_is_the_ice():
    """Weights of either sign close the gap where moves are certain: luck taken for choice keeps it open."""
    gaps = {}
    for slip in (0.0, 0.2):
        world = irl.grid_world(5, slip)
        value = irl.value_iteration(world, one_hot(24, 25), discount=0.9)
        expert = irl.stochastic_policy_from_value(world, value, weighting=lambda v: v**20)
        demonstrations = irl.generate_trajectories(
            200, world, expert, one_hot(0, 25), [24], np.random.default_rng(0)
        )
        records = []
        irl.maxent_irl(
            world,
            np.eye(25),
            [24],
            demonstrations,
            irl.gradient_ascent(0.1),
            init=0.0,
            max_iterations=1000,
            on_step=records.append,
            steps=np.inf,
        )
        gaps[slip] = records[-1]["gap"]
    assert gaps[0.0] <= 0.05 < 0.1 <= gaps[0.2]


# --- the two passes


@given(SEEDS, st.integers(2, 3))
@settings(max_examples=10, deadline=None)
def test_the_same_as_the_loops(seed, size):
    """The loops are the handout's formulas; logarithms and early stopping must change nothing."""
    rng = np.random.default_rng(seed)
    world = irl.grid_world(size, slip=float(rng.uniform()))
    reward, start = rng.normal(size=size**2), rng.dirichlet(np.ones(size**2))
    terminal = [int(rng.integers(size**2))]
    expected = expected_svf_with_loops(world.table(), start, terminal, reward)
    np.testing.assert_allclose(
        irl.compute_expected_svf(world, start, terminal, reward, eps=0.0), expected, rtol=1e-6
    )


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
    table, reward = world.table(), np.ones(169)
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
    table, policy, start = random_table(rng), rng.dirichlet(np.ones(3), size=6), rng.dirichlet(np.ones(6))
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
    table, reward, start = random_table(rng), rng.normal(size=6), rng.dirichlet(np.ones(6))
    order = rng.permutation(6)  # the new state i is the old order[i]
    terminal = [int(np.flatnonzero(order == 5)[0])]
    renamed = table[order][:, order]

    local, causal = (
        irl.local_action_probabilities(table, [5], reward),
        irl.causal_policy(table, [5], reward, 0.9)[0],
    )
    np.testing.assert_allclose(local.sum(axis=1), 1.0)
    np.testing.assert_allclose(causal.sum(axis=1), 1.0)
    found = irl.local_action_probabilities(renamed, terminal, reward[order])
    np.testing.assert_allclose(found, local[order], rtol=1e-6)
    np.testing.assert_allclose(
        irl.causal_policy(renamed, terminal, reward[order], 0.9)[0], causal[order], rtol=1e-5
    )
    svf = irl.compute_expected_svf(table, start, [5], reward)
    renamed_svf = irl.compute_expected_svf(renamed, start[order], terminal, reward[order])
    np.testing.assert_allclose(renamed_svf, svf[order], rtol=1e-4)


@given(SEEDS)
@settings(max_examples=20, deadline=None)
def test_soft_values_are_the_best_return_plus_entropy(seed):
    """V is what the policy collects, reward and discounted entropy; no other policy collects more."""
    rng = np.random.default_rng(seed)
    table, reward, start = random_table(rng), rng.normal(size=6), rng.dirichlet(np.ones(6))
    policy, value = irl.causal_policy(table, [5], reward, 0.8, eps=1e-12)

    def collected(policy):
        visits = irl.visitation(table, policy, start, [5], 0.8, eps=1e-14)
        entropy = -(policy * np.log(policy)).sum(axis=1)
        return visits @ (reward + np.append(entropy[:-1], 0.0))

    assert collected(policy) == pytest.approx(start @ value, abs=1e-8)
    assert collected(rng.dirichlet(np.ones(3), size=6)) < start @ value


def test_the_causal_gradient_is_that_of_its_loss():
    """Central differences; a discount forgotten on one side, or an end counted twice, shows here."""
    rng = np.random.default_rng(3)
    table, features = random_table(rng), rng.normal(size=(6, 4))
    demonstrations = [steps(0, 1, 5), steps(1, 2, 2, 5), steps(0, 5)]
    weights, discount, h = rng.normal(size=4), 0.8, 1e-3

    def loss(w):
        records = []
        irl.maxent_causal_irl(
            table,
            features,
            [5],
            demonstrations,
            irl.gradient_ascent(0.0),
            w,
            discount,
            max_iterations=1,
            on_step=records.append,
        )
        return records[0]["loss"]

    numeric = [(loss(weights + h * e) - loss(weights - h * e)) / (2 * h) for e in np.eye(4)]
    policy, _ = irl.causal_policy(table, [5], features @ weights, discount)
    start = irl.initial_probabilities_from_trajectories(6, demonstrations)
    target = irl.feature_expectation_from_trajectories(features, demonstrations, discount)
    gap = target - irl.visitation(table, policy, start, [5], discount) @ features
    np.testing.assert_allclose(numeric, -gap, atol=1e-3)


def test_a_large_world_takes_seconds():
    """2,500 states as a dense table would be 25 million numbers in every sweep."""
    world, start = irl.grid_world(50, slip=0.2), one_hot(0, 2500)
    value = irl.value_iteration(world, one_hot(2499, 2500), discount=0.99)
    expert = irl.stochastic_policy_from_value(world, value, weighting=lambda v: (v / v.max()) ** 300)
    demonstrations = irl.generate_trajectories(50, world, expert, start, [2499], np.random.default_rng(0))
    records = []
    irl.maxent_causal_irl(
        world,
        np.eye(2500),
        [2499],
        demonstrations,
        irl.gradient_ascent(0.3),
        init=-4.0,
        discount=0.99,
        max_iterations=10,
        on_step=records.append,
    )
    assert records[-1]["gap"] < 0.5 * records[0]["gap"]


# --- demonstrations


def test_demonstrations_are_seeded_start_right_and_end_once(handout):
    world, _, _, demonstrations, _, _ = handout
    table = world.table()
    assert len(demonstrations) == 200
    for trajectory in demonstrations:
        states = trajectory.states()
        assert states[0] == 0 and states[-1] == 24 and (states[:-1] != 24).all()
        assert all(table[s, following, a] > 0 for s, a, following in trajectory.transitions())


def test_simulated_visits_agree_with_the_forward_pass():
    """Two roads to the same number; catches a sampler that ignores the action or the slip."""
    world = irl.grid_world(3, slip=0.3)
    policy = np.random.default_rng(0).dirichlet(np.ones(4), size=9)
    start = np.array([0.5, 0.5, 0, 0, 0, 0, 0, 0, 0])
    sample = irl.generate_trajectories(20_000, world, policy, start, [8], np.random.default_rng(1))
    found = irl.feature_expectation_from_trajectories(np.eye(9), sample)
    np.testing.assert_allclose(found, irl.visitation(world, policy, start, [8]), rtol=0.05)


def test_value_iteration_solves_the_bellman_equation():
    world, reward = irl.grid_world(4, slip=0.2), np.arange(16.0)
    value = irl.value_iteration(world, reward, discount=0.9)
    np.testing.assert_allclose(value, reward + 0.9 * world.expect(value).max(axis=1))


def test_the_expert_prefers_the_intended_neighbour():
    world = irl.grid_world(2, slip=0.2)
    policy = irl.stochastic_policy_from_value(world, np.array([1.0, 2.0, 3.0, 4.0]), weighting=lambda v: v)
    np.testing.assert_allclose(policy[0], np.array([2, 1, 3, 1]) / 7)


# --- optimisers


def test_optimisers_step_up_the_gradient_and_slow_down():
    weights, gradient = np.array([1.0, 2.0]), np.array([1.0, -1.0])
    np.testing.assert_allclose(
        irl.exponentiated_gradient(0.5)(weights, gradient, 7), [np.exp(0.5), 2 * np.exp(-0.5)]
    )
    np.testing.assert_allclose(irl.gradient_ascent(0.5, decay=1.0)(weights, gradient, 1), [1.25, 1.75])


# --- figures


def test_maps_show_every_state_in_its_place():
    """State 0 is at the lower left; catches rows and columns changed over."""
    figure = irl_plots.grid_maps({"numbers": np.arange(9.0)}, mark={"numbers": [5]})
    axis = figure.axes[0]
    assert {t.get_text(): t.get_position() for t in axis.texts}["5"] == (2, 1)
    assert axis.patches[0].get_x() == pytest.approx(2 - 0.46)


def test_arrows_point_where_the_policy_goes():
    policy = np.tile([0.0, 0.0, 0.97, 0.03], (4, 1))
    figure = irl_plots.grid_maps({"policy": np.zeros(4)}, policies={"policy": policy})
    [arrows] = [c for c in figure.axes[0].collections if hasattr(c, "U")]
    assert len(arrows.U) == 4 and (arrows.U == 0).all() and (arrows.V > 0).all()


def test_curves_hold_every_run_and_the_goal():
    records = [{"iteration": 0, "gap": 1.0}, {"iteration": 1, "gap": 0.1}]
    figure = irl_plots.gap_curves({"one": records, "other": records}, goal=0.05)
    assert [line.get_label() for line in figure.axes[0].lines] == ["one", "other", "goal 0.05"]


def test_a_map_that_is_no_square():
    with pytest.raises(ValueError, match="do not fill a square"):
        irl_plots.grid_maps({"odd": np.zeros(5)})


# --- bad input


def chain_table() -> np.ndarray:
    table = np.zeros((3, 3, 2))
    table[0, 1] = table[1, 2] = table[2, 2] = 1.0
    return table


def test_rows_that_do_not_sum_to_one():
    table = chain_table()
    table[1, 2, 1] = 0.9
    with pytest.raises(ValueError, match="state 1 and action 1 sum to 0.9"):
        irl.compute_expected_svf(table, one_hot(0, 3), [2], np.zeros(3))


def test_negative_probabilities_that_sum_to_one():
    table = chain_table()
    table[0, :, 0] = [-0.5, 1.5, 0.0]
    with pytest.raises(ValueError, match="negative"):
        irl.Transitions.from_table(table)


def test_a_table_with_its_axes_in_another_order():
    with pytest.raises(ValueError, match=r"\(states, states, actions\)"):
        irl.Transitions.from_table(np.moveaxis(chain_table(), 2, 0))


@pytest.mark.parametrize(
    "terminal, message", [([3], "between 0 and 2"), ([-1], "between 0 and 2"), ([], "name at least one")]
)
def test_terminal_states_out_of_range(terminal, message):
    with pytest.raises(ValueError, match=message):
        irl.compute_expected_svf(chain_table(), one_hot(0, 3), terminal, np.zeros(3))


def test_an_unreachable_terminal_state():
    """The walk from state 1 can only go to 2; without the check the forward pass runs until it gives up."""
    with pytest.raises(ValueError, match="No terminal state can be reached from state 1"):
        irl.compute_expected_svf(chain_table(), one_hot(1, 3), [0], np.zeros(3))


def test_a_state_that_cannot_be_entered_need_not_lead_anywhere():
    table = np.zeros((3, 3, 1))
    table[0, 1] = table[1, 1] = table[2, 2] = 1.0
    np.testing.assert_allclose(
        irl.compute_expected_svf(table, one_hot(0, 3), [1], np.zeros(3)), [1.0, 1.0, 0.0]
    )


@pytest.mark.parametrize("start", [np.ones(3), np.array([1.5, -0.5, 0.0]), np.array([1.0, 0.0])])
def test_initial_probabilities_that_are_none(start):
    with pytest.raises(ValueError, match="initial probabilities"):
        irl.compute_expected_svf(chain_table(), start, [2], np.zeros(3))


def test_no_demonstrations():
    with pytest.raises(ValueError, match="no demonstrations"):
        irl.maxent_irl(chain_table(), np.eye(3), [2], [], irl.gradient_ascent(0.1), 0.0)


def test_demonstrations_of_another_world():
    with pytest.raises(ValueError, match="states 0 to 7"):
        irl.feature_expectation_from_trajectories(np.eye(3), [steps(0, 7)])


@pytest.mark.parametrize(
    "broken", [np.zeros((0, 3), dtype=int), np.array([0, 1, 2]), np.array([(0, 0, 1), (2, 0, 1)])]
)
def test_trajectories_that_are_none(broken):
    with pytest.raises(ValueError, match="step"):
        irl.Trajectory(broken)


def test_demonstrations_that_would_start_where_they_end():
    with pytest.raises(ValueError, match="start in a terminal state"):
        irl.generate_trajectories(
            1, chain_table(), np.full((3, 2), 0.5), one_hot(2, 3), [2], np.random.default_rng(0)
        )


@pytest.mark.parametrize("discount", [1.0, -0.1, 1.5])
def test_discounts_that_have_no_finite_value(discount):
    with pytest.raises(ValueError, match="discount"):
        irl.causal_policy(chain_table(), [2], np.zeros(3), discount)


def test_a_weighting_that_is_no_weighting():
    with pytest.raises(ValueError, match="weighting"):
        irl.stochastic_policy_from_value(chain_table(), np.array([1.0, -1.0, 1.0]))


def test_a_policy_that_never_arrives(monkeypatch):
    monkeypatch.setattr(irl, "MAX_STEPS", 50)
    table = np.zeros((2, 2, 2))
    table[0, 0, 0] = table[0, 1, 1] = table[1, 1] = 1.0
    stay = np.array([[1.0, 0.0], [0.5, 0.5]])
    with pytest.raises(ValueError, match="hardly ever ends"):
        irl.visitation(table, stay, one_hot(0, 2), [1])
    with pytest.raises(ValueError, match="have not arrived"):
        irl.generate_trajectories(3, table, stay, one_hot(0, 2), [1], np.random.default_rng(0))


def test_a_learning_rate_far_too_large():
    """Without the check the reward comes back as nan, without a word."""
    with pytest.raises(ValueError, match="smaller learning rate"):
        irl.maxent_irl(
            irl.grid_world(2), np.eye(4), [3], [steps(0, 1, 3)], irl.exponentiated_gradient(1e4), 1.0
        )


@pytest.mark.parametrize("arguments, message", [((1,), "size of at least 2"), ((3, 1.5), "between 0 and 1")])
def test_worlds_that_are_none(arguments, message):
    with pytest.raises(ValueError, match=message):
        irl.grid_world(*arguments)
