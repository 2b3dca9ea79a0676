"""The backward pass in numbers beside the same in logarithms: worlds in which rescaling could go wrong."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared import irl
from shared.irl import planning, sweeps
from tests.irl.problems import one_hot, random_table


def compare(transitions: irl.Transitions, terminal: int, reward: np.ndarray, n: int, tolerance: float = 1e-9) -> None:
    """Both forms after n sweeps, up to the factor that is common to all states."""
    ends = one_hot(terminal, transitions.n_states) > 0
    plain = planning.backward_pass(transitions, ends, reward, n)[1] if n else np.where(ends, 0.0, -np.inf)
    fast = sweeps.log_partition(transitions, ends, reward, n)
    reached = np.isfinite(plain)
    np.testing.assert_array_equal(np.isfinite(fast), reached)
    if reached.any():
        difference = fast[reached] - plain[reached]
        np.testing.assert_allclose(difference, difference[0], atol=tolerance)


@pytest.mark.parametrize("n", [1, 2, 8, 9, 10, 109, 110, 111, 112, 450])
def test_as_many_sweeps_as_were_asked_for(n):
    """One sweep too many or too few after a rescaling; with rewards that differ, every sweep counts for a while."""
    reward = np.random.default_rng(0).normal(size=225)
    compare(irl.grid_world(15, slip=0.2), 112, reward, n)


@given(st.integers(0, 10_000), st.sampled_from([0.1, 1.0, 20.0]), st.integers(0, 300))
@settings(max_examples=60)
def test_random_worlds_and_rewards(seed, scale, n):
    """Rewards up to 60 apart: the sweeps must be broken off before a number becomes 0."""
    rng = np.random.default_rng(seed)
    transitions = irl.Transitions.from_table(random_table(rng))
    compare(transitions, int(rng.integers(6)), scale * rng.normal(size=6), n)


def loops_and_dead_ends() -> irl.Transitions:
    """0 and 1 lead only into 2, the end, which keeps to itself; 3 and 4 may also go round; nothing leads out of 5."""
    table = np.zeros((6, 6, 2))
    table[0, 1] = 1.0
    table[1, 2] = 1.0
    table[2, 2] = 1.0
    table[3, 4, 0] = table[3, 2, 1] = 1.0
    table[4, 3, 0] = table[4, 4, 1] = 1.0
    table[5, 5] = 1.0
    return irl.Transitions.from_table(table)


@pytest.mark.parametrize("cost", [0.0, 5.0, 50.0, 500.0])
def test_parts_of_the_world_that_grow_at_different_rates(cost):
    """Z of the end shrinks by exp(-cost) a sweep against Z of a loop, for ever: 100 sweeps would make it 0."""
    reward = np.array([0.3, -0.2, -cost, 0.5, 0.1, 1.0])
    compare(loops_and_dead_ends(), 2, reward, 400)


def test_states_from_which_no_end_can_be_reached():
    """They keep their logarithm of 0 and hinder nobody; the policy there is uniform."""
    policy = irl.local_action_probabilities(loops_and_dead_ends(), [2], np.zeros(6))
    np.testing.assert_allclose(policy[5], 0.5)
    assert np.isfinite(policy).all()


@pytest.mark.parametrize("n", [0, 1, 7, 50, 51])
def test_a_world_in_which_states_are_reached_in_turn(n):
    """A ring of three without a choice: after n sweeps Z is above 0 in one state only, another one each time."""
    ring = np.zeros((3, 3, 1))
    ring[0, 1] = ring[1, 2] = ring[2, 0] = 1.0
    compare(irl.Transitions.from_table(ring), 2, np.array([0.1, -0.4, 0.7]), n)


def test_an_end_to_which_nothing_leads():
    """After one sweep no state has any Z left; the smallest of no numbers would be an error."""
    table = np.zeros((2, 2, 1))
    table[0, 1] = table[1, 1] = 1.0
    compare(irl.Transitions.from_table(table), 0, np.zeros(2), 10)


def test_two_s_sweeps_and_not_their_limit():
    """In a world of 20 x 20 the policy has not settled after 2 S sweeps, and its limit is another one."""
    world = irl.grid_world(20, slip=0.2)
    reward = np.full(400, 0.1)
    policy = irl.local_action_probabilities(world, [399], reward)

    def after(n):
        return planning.backward_pass(world, one_hot(399, 400) > 0, reward, n)[0]

    np.testing.assert_allclose(policy, after(2 * 400), atol=1e-10)
    assert np.abs(policy - after(2 * 400 - 1)).max() > 1e-7
    assert np.abs(policy - after(5 * 400)).max() > 1e-4
