"""Demonstrations: seeded, with the frequencies of their policy, and bad input."""

import numpy as np
import pytest

from shared import irl
from tests.irl.problems import chain_table, one_hot


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


@pytest.mark.usefixtures("wrong_shapes")
@pytest.mark.parametrize("broken", [np.zeros((0, 3), dtype=int), np.array([0, 1, 2]), np.array([(0, 0, 1), (2, 0, 1)])])
def test_trajectories_that_are_none(broken):
    with pytest.raises(ValueError, match="step"):
        irl.Trajectory(broken)


def test_demonstrations_that_would_start_where_they_end():
    with pytest.raises(ValueError, match="start in a terminal state"):
        irl.generate_trajectories(1, chain_table(), np.full((3, 2), 0.5), one_hot(2, 3), [2], np.random.default_rng(0))
