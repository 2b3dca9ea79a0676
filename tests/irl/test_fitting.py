"""Inverse reinforcement learning: the handout's numbers, a gradient by differences, and bad input."""

from pathlib import Path

import numpy as np
import pytest

from shared import irl
from shared.irl import fitting
from tests.irl.problems import chain_table, one_hot, random_table, steps


def test_feature_expectations_and_starts_of_two_toy_trajectories():
    """The mean over demonstrations, not over steps; the last state counts; a discount starts anew in each."""
    walks = [steps(0, 1, 2), steps(0, 0, 1)]
    expectation = irl.feature_expectation_from_trajectories
    np.testing.assert_allclose(expectation(np.eye(3), walks), [1.5, 1.0, 0.5])
    np.testing.assert_allclose(expectation(np.eye(3), walks, 0.5), [(1 + 1.5) / 2, (0.5 + 0.25) / 2, 0.125])
    np.testing.assert_allclose(irl.initial_probabilities_from_trajectories(3, walks), [1.0, 0.0, 0.0])


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
    fit = irl.maxent_irl(world, features, terminal, demonstrations, optim, init=1.0)
    reward = fit.reward
    assert fit.stopped_by == "eps"
    target = irl.feature_expectation_from_trajectories(features, demonstrations)
    assert irl.feature_gap(target, irl.compute_expected_svf(world, start, terminal, reward)) <= 0.85
    assert (reward > 0).all()


@pytest.mark.filterwarnings("ignore::shared.irl.NotConverged")
def test_causal_entropy_closes_the_gap_and_finds_the_two_rewards(handout):
    world, _, terminal, demonstrations, start, features = handout
    records = []
    rate, stopping = irl.gradient_ascent(2.0), {"max_iterations": 300, "on_step": records.append}
    reward = irl.maxent_causal_irl(world, features, terminal, demonstrations, rate, 0.0, 0.9, **stopping).reward
    target = irl.feature_expectation_from_trajectories(features, demonstrations)
    policy, _ = irl.causal_policy(world, terminal, reward, discount=0.9)
    assert irl.feature_gap(target, irl.visitation(world, policy, start, terminal)) <= 0.05
    assert records[-1]["gap"] <= 0.05
    assert np.argsort(reward)[-2:].tolist() == [8, 24]
    assert all(later["loss"] < earlier["loss"] for earlier, later in zip(records, records[1:]))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::shared.irl.NotConverged")
def test_what_limits_the_handouts_form_is_the_ice():
    """Weights of either sign close the gap where moves are certain: luck taken for choice keeps it open."""
    gaps = {}
    for slip in (0.0, 0.2):
        world = irl.grid_world(5, slip)
        value = irl.value_iteration(world, one_hot(24, 25), discount=0.9)
        expert = irl.stochastic_policy_from_value(world, value, weighting=lambda v: v**20)
        walks = irl.generate_trajectories(200, world, expert, one_hot(0, 25), [24], np.random.default_rng(0))
        gaps[slip] = irl.maxent_irl(world, np.eye(25), [24], walks, irl.gradient_ascent(0.1), 0.0, steps=np.inf).gap
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


def test_a_learning_rate_far_too_large():
    """Without the check the reward comes back as nan, without a word."""
    with pytest.raises(ValueError, match="smaller learning rate"):
        irl.maxent_irl(irl.grid_world(2), np.eye(4), [3], [steps(0, 1, 3)], irl.exponentiated_gradient(1e4), 1.0)


def fit_of_a_square(**options) -> irl.Fit:
    """A fit to three walks through a world of 2 x 2."""
    demonstrations = [steps(0, 1, 3), steps(0, 2, 3), steps(0, 1, 0, 1, 3)]
    optim = irl.gradient_ascent(0.1)
    return irl.maxent_irl(irl.grid_world(2), np.eye(4), [3], demonstrations, optim, 0.0, steps=np.inf, **options)


def test_a_fit_that_was_stopped_says_so_to_the_line_that_called_it():
    """Catches the reward of a fit that was cut off and is read as one that has converged."""
    with pytest.warns(irl.NotConverged, match="after 3 iterations .* has not converged") as told:
        fit = fit_of_a_square(max_iterations=3)
    assert Path(told[0].filename).name != "fitting.py"  # where shapes are checked, a decorator stands in between
    assert fit.stopped_by == "max_iterations" and not fit.converged and fit.iterations == 3


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("options, stopped_by", [({}, "eps"), ({"gap": 0.3}, "gap")])
def test_a_fit_that_converged_warns_of_nothing(options, stopped_by):
    """Catches a warning after every fit, and a record that is one iteration off the gap it was stopped by."""
    records = []
    fit = fit_of_a_square(on_step=records.append, **options)
    assert fit.stopped_by == stopped_by and fit.converged
    assert fit.iterations == len(records) < 1000 and fit.gap == records[-1]["gap"]
    np.testing.assert_array_equal(fit.reward, fit.weights)  # features are one-hot


def test_the_last_of_the_iterations_may_be_the_one_that_converges():
    """Catches a fit that is called stopped because it converged in its very last iteration."""
    iterations = fit_of_a_square().iterations
    assert fit_of_a_square(max_iterations=iterations).converged


def test_the_two_doors_of_the_docstring():
    """Catches a docstring whose numbers nobody computed, and a gradient of the wrong sign or size."""
    table = np.zeros((3, 3, 2))
    table[0, 1, 0] = table[0, 2, 1] = 1.0  # door 1 by action 0, door 2 by action 1
    table[1, 1] = table[2, 2] = 1.0
    walks = [steps(0, 1)] * 3 + [steps(0, 2)]
    seen = []

    def watched(weights, gradient, k):
        seen.append([*weights, *gradient])
        return irl.gradient_ascent(1.0)(weights, gradient, k)

    fit = irl.maxent_causal_irl(table, np.eye(3), [1, 2], walks, watched, 0.0, 0.5, eps=0.0, gap=1e-6)
    assert np.round(seen[0], 3).tolist() == [0, 0, 0, 0, 0.125, -0.125]
    assert np.round(seen[1], 3).tolist() == [0, 0.125, -0.125, 0, 0.109, -0.109]
    assert np.round(fit.weights, 2).tolist() == [0, 1.1, -1.1]
    assert 0.5 * (fit.weights[1] - fit.weights[2]) == pytest.approx(np.log(3), abs=1e-4)
    plain = fitting.plain_fit(table, np.eye(3), [1, 2], walks, discount=0.5, learning_rate=1.0, iterations=2)
    np.testing.assert_allclose(plain, seen[2][:3], atol=1e-6)
