"""Worlds and transition probabilities: distributions everywhere, the same in both forms, and bad input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared import irl
from tests.irl.problems import chain_table, random_table

SEEDS = st.integers(0, 10_000)


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
    values = rng.normal(size=6)
    policy = rng.dirichlet(np.ones(3), size=6)
    np.testing.assert_allclose(transitions.table(), table)
    np.testing.assert_allclose(transitions.expect(values), np.einsum("sta,t->sa", table, values))
    np.testing.assert_allclose(np.exp(transitions.log_expect(values)), np.einsum("sta,t->sa", table, np.exp(values)))
    moved = transitions.push(values, transitions.under(policy))
    np.testing.assert_allclose(moved, np.einsum("s,sa,sta->t", values, policy, table))


def test_a_successor_that_no_action_leads_to_takes_no_digits():
    """A state with one successor is kept with two, as another has two; the second must not set the scale."""
    table = np.zeros((3, 3, 1))
    table[0, 1] = table[2, 2] = 1.0
    table[1, 0] = table[1, 2] = 0.5
    log_values = np.array([0.0, -1000.0, 900.0])
    found = irl.Transitions.from_table(table).log_expect(log_values)
    np.testing.assert_allclose(found[:, 0], [-1000.0, 900.0 - np.log(2), 900.0])


def test_negative_probabilities_that_sum_to_one():
    table = chain_table()
    table[0, :, 0] = [-0.5, 1.5, 0.0]
    with pytest.raises(ValueError, match="negative"):
        irl.Transitions.from_table(table)


@pytest.mark.usefixtures("wrong_shapes")
def test_a_table_with_its_axes_in_another_order():
    with pytest.raises(ValueError, match=r"\(states, states, actions\)"):
        irl.Transitions.from_table(np.moveaxis(chain_table(), 2, 0))


@pytest.mark.parametrize("arguments, message", [((1,), "size of at least 2"), ((3, 1.5), "between 0 and 1")])
def test_worlds_that_are_none(arguments, message):
    with pytest.raises(ValueError, match=message):
        irl.grid_world(*arguments)
