"""Inverse reinforcement learning: the handout's numbers, a gradient by differences, and bad input."""

import numpy as np
import pytest

from shared import irl
from tests.irl.problems import chain_table, one_hot, random_table, steps


def test_feature_expectations_of_two_toy_trajectories():
    """The mean over demonstrations, not over steps, and the last state counts."""
    found = irl.feature_expectation_from_trajectories(np.eye(3), [steps(0, 1, 2), steps(0, 0, 1)])
    np.testing.assert_allclose(found, [1.5, 1.0, 0.5])


def test_discounted_feature_expectations_start_anew_in_every_trajectory():
    found = irl.feature_expectation_from_trajectories(np.eye(3), [steps(0, 1, 2), steps(0, 0, 1)], discount=0.5)
    np.testing.assert_allclose(found, [(1 + 1.5) / 2, (0.5 + 0.25) / 2, 0.125])


def test_initial_histogram():
    found = irl.initial_probabilities_from_trajectories(3, [steps(0, 1, 2), steps(0, 0, 1)])
    np.testing.assert_allclose(found, [1.0, 0.0, 0.0])


def test_no_demonstrations():
    with pytest.raises(ValueError, match="no demonstrations"):
        irl.maxent_irl(chain_table(), np.eye(3), [2], [], irl.gradient_ascent(0.1), 0.0)


def test_demonstrations_of_another_world():
    with pytest.raises(ValueError, match="states 0 to 7"):
        irl.feature_expectation_from_trajectories(np.eye(3), [steps(0, 7)])


def test_optimisers_step_up_the_gradient_and_slow_down():
    weights = np.array([1.0, 2.0])
    gradient = np.array([1.0, -1.0])
    np.testing.assert_allclose(irl.exponentiated_gradient(0.5)(weights, gradient, 7), [np.exp(0.5), 2 * np.exp(-0.5)])
    np.testing.assert_allclose(irl.gradient_ascent(0.5, decay=1.0)(weights, gradient, 1), [1.25, 1.75])


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


@pytest.mark.slow
def test_what_limits_the_handouts_form_is_the_ice():
    """Weights of either sign close the gap where moves are certain: luck taken for choice keeps it open."""
    gaps = {}
    for slip in (0.0, 0.2):
        world = irl.grid_world(5, slip)
        value = irl.value_iteration(world, one_hot(24, 25), discount=0.9)
        expert = irl.stochastic_policy_from_value(world, value, weighting=lambda v: v**20)
        demonstrations = irl.generate_trajectories(200, world, expert, one_hot(0, 25), [24], np.random.default_rng(0))
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


def test_the_causal_gradient_is_that_of_its_loss():
    """Central differences; a discount forgotten on one side, or an end counted twice, shows here."""
    rng = np.random.default_rng(3)
    table = random_table(rng)
    features = rng.normal(size=(6, 4))
    demonstrations = [steps(0, 1, 5), steps(1, 2, 2, 5), steps(0, 5)]
    weights = rng.normal(size=4)
    discount = 0.8
    h = 1e-3

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


@pytest.mark.slow
def test_a_large_world_takes_seconds():
    """2,500 states as a dense table would be 25 million numbers in every sweep."""
    world = irl.grid_world(50, slip=0.2)
    start = one_hot(0, 2500)
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


def test_a_learning_rate_far_too_large():
    """Without the check the reward comes back as nan, without a word."""
    with pytest.raises(ValueError, match="smaller learning rate"):
        irl.maxent_irl(irl.grid_world(2), np.eye(4), [3], [steps(0, 1, 3)], irl.exponentiated_gradient(1e4), 1.0)
