"""Visits of long walks by elimination: against a dense solve, the flow equations and the sum over steps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared import irl
from shared.irl import counting
from shared.irl.elimination import visits_until_arrival
from tests.irl.problems import one_hot, random_table

SEEDS = st.integers(0, 10_000)


def dense(transitions: irl.Transitions, chain: np.ndarray, mass: np.ndarray, discount: float) -> np.ndarray:
    """The same by one solve of all states."""
    moves = np.zeros((transitions.n_states, transitions.n_states))
    np.add.at(moves, (np.arange(transitions.n_states)[:, None], transitions.successors), chain)
    moves[:, (chain == 0).all(axis=1)] = 0.0  # who arrives makes no more visits here
    return np.linalg.solve(np.eye(len(mass)) - discount * moves.T, mass)


def walk(transitions: irl.Transitions, rng: np.random.Generator, terminal: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """The moves (S, K) of a random policy, none from the terminal states, and a start outside them."""
    chain = transitions.under(rng.dirichlet(np.ones(transitions.n_actions), size=transitions.n_states))
    chain[terminal] = 0.0
    mass = rng.random(transitions.n_states)
    mass[terminal] = 0.0
    return chain, mass


@given(SEEDS, st.sampled_from([0.5, 0.99, 1.0]))
@settings(max_examples=30)
def test_random_worlds(seed, discount):
    rng = np.random.default_rng(seed)
    transitions = irl.Transitions.from_table(random_table(rng, n_states=12))
    chain, mass = walk(transitions, rng, [11])
    found = visits_until_arrival(transitions, chain, mass, discount)
    np.testing.assert_allclose(found, dense(transitions, chain, mass, discount), rtol=1e-9)


@given(SEEDS, st.integers(2, 9), st.sampled_from([0.0, 0.3]))
@settings(max_examples=30)
def test_grids_with_ends_anywhere(seed, size, slip):
    """Levels that are joined the wrong way round, or a corner that lists itself twice and is counted once."""
    rng = np.random.default_rng(seed)
    world = irl.grid_world(size, slip)
    terminal = rng.choice(size**2, size=2, replace=False).tolist()
    chain, mass = walk(world, rng, terminal)
    np.testing.assert_allclose(
        visits_until_arrival(world, chain, mass, 1.0), dense(world, chain, mass, 1.0), rtol=1e-9, atol=1e-12
    )


def test_parts_that_no_move_connects():
    """Two rows of fields with an end each, and an endless one that nobody enters and that must not be solved for."""
    table = np.zeros((9, 9, 1))
    for row in (0, 3):
        table[row, row + 1] = 1.0
        table[row + 1, row] = table[row + 1, row + 2] = 0.5
        table[row + 2, row + 2] = 1.0
    table[6, 7] = table[7, 8] = table[8, 6] = 1.0
    start = np.array([0.5, 0, 0, 0, 0.5, 0, 0, 0, 0])
    found = irl.visitation(table, np.ones((9, 1)), start, [2, 5], eps=0.0)
    np.testing.assert_allclose(found, [1, 1, 0.5, 0.5, 1, 0.5, 0, 0, 0])


def test_walks_too_long_to_be_followed():
    """At 30 x 30 with reward -2 a walk takes 7,690 steps on average, and 100,000 steps leave some on their way."""
    world = irl.grid_world(30, slip=0.2)
    policy = irl.local_action_probabilities(world, [899], np.full(900, -2.0))
    found = irl.visitation(world, policy, one_hot(0, 900), [899])
    moves = np.where(np.arange(900)[:, None] == 899, 0.0, world.under(policy))
    np.testing.assert_allclose(found, one_hot(0, 900) + world.push(found, moves), rtol=1e-9)  # the flow equations
    assert found[899] == pytest.approx(1.0, abs=1e-9)
    assert found.sum() > 7000


@pytest.mark.parametrize("counted", [1, 2, 17, 5000])
@pytest.mark.parametrize("discount", [0.9, 1.0])
def test_summing_first_and_solving_then_changes_nothing(monkeypatch, counted, discount):
    """The last of the counted steps must be counted once, and discounted once, wherever the sum breaks off."""
    monkeypatch.setattr(counting, "COUNTED", counted)
    world = irl.grid_world(6, slip=0.2)
    policy = np.full((36, 4), 0.25)
    found = irl.visitation(world, policy, one_hot(0, 36), [35], discount, eps=1e-13)
    chain = np.where(np.arange(36)[:, None] == 35, 0.0, world.under(policy))
    expected = dense(world, chain, one_hot(0, 36), discount)
    expected[35] = discount * world.push(expected, chain)[35]
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_a_limit_on_the_steps_holds_beyond_those_that_are_counted():
    """Two states that change places and never end: after 2,001 times each was visited as often as that."""
    table = np.zeros((3, 3, 1))
    table[0, 1] = table[1, 0] = table[2, 2] = 1.0
    found = irl.visitation(table, np.ones((3, 1)), one_hot(0, 3), [2], steps=2001)
    np.testing.assert_allclose(found, [1001, 1000, 0])


@pytest.mark.parametrize("leave", [0.0, 1e-14])
def test_walks_that_hardly_ever_end(leave):
    """Digits are gone when only one step in 1e14 arrives; the solve's own answer is a tenth off."""
    table = np.zeros((2, 2, 1))
    table[0, :, 0] = [1 - leave, leave]
    table[1, 1] = 1.0
    with pytest.raises(ValueError, match="hardly ever ends"):
        irl.visitation(table, np.ones((2, 1)), one_hot(0, 2), [1])
