"""Problems that cannot be solved are refused in a sentence."""

import numpy as np
import pytest

from shared import irl
from tests.irl.problems import chain_table, one_hot


def test_rows_that_do_not_sum_to_one():
    table = chain_table()
    table[1, 2, 1] = 0.9
    with pytest.raises(ValueError, match="state 1 and action 1 sum to 0.9"):
        irl.compute_expected_svf(table, one_hot(0, 3), [2], np.zeros(3))


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
    np.testing.assert_allclose(irl.compute_expected_svf(table, one_hot(0, 3), [1], np.zeros(3)), [1.0, 1.0, 0.0])


@pytest.mark.usefixtures("wrong_shapes")
@pytest.mark.parametrize("start", [np.ones(3), np.array([1.5, -0.5, 0.0]), np.array([1.0, 0.0])])
def test_initial_probabilities_that_are_none(start):
    with pytest.raises(ValueError, match="initial probabilities"):
        irl.compute_expected_svf(chain_table(), start, [2], np.zeros(3))


@pytest.mark.parametrize("discount", [1.0, -0.1, 1.5])
def test_discounts_that_have_no_finite_value(discount):
    with pytest.raises(ValueError, match="discount"):
        irl.causal_policy(chain_table(), [2], np.zeros(3), discount)
