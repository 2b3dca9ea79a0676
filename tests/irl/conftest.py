"""The handout's problem, which several files of tests need."""

import numpy as np
import pytest

from shared import irl
from tests.irl.problems import one_hot


@pytest.fixture(scope="module")
def handout():
    """The handout's setting: world, reward, terminal, demonstrations, start, features."""
    world = irl.grid_world(5, slip=0.2)
    reward = np.zeros(25)
    reward[24] = 1.0
    reward[8] = 0.65
    value = irl.value_iteration(world, reward, discount=0.9)
    expert = irl.stochastic_policy_from_value(world, value, weighting=lambda v: v**50)
    start = one_hot(0, 25)
    demonstrations = irl.generate_trajectories(200, world, expert, start, [24], np.random.default_rng(11))
    return world, reward, [24], demonstrations, start, np.eye(25)
