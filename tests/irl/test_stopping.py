"""The end of the fits and the iterations of inverse RL: at the gap, at the change or at the number that was asked for."""

import numpy as np
import pytest

from shared import irl
from tests.irl.problems import steps

pytestmark = pytest.mark.filterwarnings("ignore::shared.irl.NotConverged")
WORLD = irl.grid_world(2)
DEMONSTRATIONS = [steps(0, 1, 3), steps(0, 2, 3), steps(0, 1, 3)]


def plain(optim, **options):
    return irl.maxent_irl(WORLD, np.eye(4), [3], DEMONSTRATIONS, optim, 0.0, **options).reward


def causal(optim, **options):
    return irl.maxent_causal_irl(WORLD, np.eye(4), [3], DEMONSTRATIONS, optim, 0.0, 0.9, **options).reward


def halving(weights, gradient, k):
    """Steps of 1/2, 1/4, 1/8, ... whatever the gradient: exact in binary."""
    return weights + 0.5 ** (k + 1)


@pytest.mark.parametrize("fit", [plain, causal])
def test_a_fit_stops_at_the_gap_and_steps_no_further(fit):
    """Catches a gap that is never asked for: a fit that has arrived goes on for a thousand iterations."""
    records = []
    fit(irl.gradient_ascent(0.1), max_iterations=6, on_step=records.append)
    assert len(records) == 6
    assert all(later["gap"] < earlier["gap"] for earlier, later in zip(records, records[1:]))
    again = []
    reward = fit(irl.gradient_ascent(0.1), max_iterations=6, gap=records[2]["gap"], on_step=again.append)
    assert again == records[:3]
    np.testing.assert_array_equal(reward, fit(irl.gradient_ascent(0.1), max_iterations=2))


@pytest.mark.parametrize("fit", [plain, causal])
def test_a_fit_stops_when_no_weight_changes_by_more(fit):
    """Catches a change that is compared with something else, or a last step that is thrown away."""
    records = []
    reward = fit(halving, eps=0.25, on_step=records.append)
    assert len(records) == 2
    np.testing.assert_array_equal(reward, np.full(4, 0.75))
    assert [record["iteration"] for record in records] == [0, 1]


@pytest.mark.parametrize("fit", [plain, causal])
def test_the_largest_change_decides(fit):
    """Catches a fit that stops because one weight or their mean has come to rest."""
    records = []

    def one_moves(weights, gradient, k):
        return weights + np.array([0.0, 0.0, 0.0, 1.0])

    fit(one_moves, eps=0.5, max_iterations=4, on_step=records.append)
    assert len(records) == 4
