"""Maps and arrows show what they are given."""

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


def test_a_map_that_is_no_square():
    with pytest.raises(ValueError, match="do not fill a square"):
        figures.grid_maps({"odd": np.zeros(5)})
