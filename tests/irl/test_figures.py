"""Maps, arrows and curves show what they are given."""

import numpy as np
import pytest

from shared.irl import figures


def test_maps_show_every_state_in_its_place():
    """State 0 is at the lower left; catches rows and columns changed over."""
    figure = figures.grid_maps({"numbers": np.arange(9.0)}, mark={"numbers": [5]})
    axis = figure.axes[0]
    assert {t.get_text(): t.get_position() for t in axis.texts}["5"] == (2, 1)
    assert axis.patches[0].get_x() == pytest.approx(2 - 0.46)


def test_arrows_point_where_the_policy_goes():
    policy = np.tile([0.0, 0.0, 0.97, 0.03], (4, 1))
    figure = figures.grid_maps({"policy": np.zeros(4)}, policies={"policy": policy})
    [arrows] = [c for c in figure.axes[0].collections if hasattr(c, "U")]
    assert len(arrows.U) == 4 and (arrows.U == 0).all() and (arrows.V > 0).all()


def test_curves_hold_every_run_and_the_goal():
    """Catches a curve that begins at iteration 0, which logarithmic axes do not show."""
    figure = figures.gap_curves({"one": [1.0, 0.1], "other": [1.0, 0.2]}, goal=0.05)
    assert [line.get_label() for line in figure.axes[0].lines] == ["one", "other", "goal 0.05"]
    assert figure.axes[0].lines[0].get_xydata().tolist() == [[1, 1.0], [2, 0.1]]


def test_a_map_that_is_no_square():
    with pytest.raises(ValueError, match="do not fill a square"):
        figures.grid_maps({"odd": np.zeros(5)})
