import numpy as np
import pytest

from shared.plots import confusion_matrices, confusion_shares, group_bars, panels, smooth, training_curves

HISTORY = [{"step": i + 1, "reward": i / 10, "entropy": 1.0, "frac_reward_zero_std": 0.5} for i in range(10)]


def test_smoothing_never_looks_ahead():
    """Catches a centred average, which lets step 1 know of the future, and zero padding at the start."""
    assert smooth([1.0, 3.0, 5.0, 7.0], 2).tolist() == [1.0, 2.0, 4.0, 6.0]


def test_a_panel_for_each_recorded_metric():
    figure = training_curves(HISTORY)
    assert [axis.get_title() for axis in figure.axes] == [
        "average reward",
        "entropy (nats per token)",
        "groups with equal rewards",
    ]


def test_runs_are_named_in_a_legend():
    legend = training_curves({"beta 0": HISTORY, "beta 0.1": HISTORY}, ["reward"]).axes[0].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["beta 0", "beta 0.1"]


def test_a_run_without_steps_is_left_out_and_none_at_all_is_a_sentence():
    """A traceback in place of the picture, where a run was stopped before its first step."""
    axis = training_curves({"stopped": [], "whole": HISTORY}, ["reward"]).axes[0]
    assert len(axis.lines) == len(training_curves(HISTORY, ["reward"]).axes[0].lines)
    for histories in ([], {"stopped": [], "this too": []}):
        assert "history is empty" in training_curves(histories).texts[0].get_text()


def test_metrics_that_were_not_recorded_are_a_sentence():
    with pytest.raises(ValueError, match="recorded"):
        training_curves(HISTORY, ["no such metric"])


def test_confusion_rows_are_the_truth_and_other_words_are_counted():
    """Catches a transposed matrix."""
    shares = confusion_shares(["a", "b"], ["a", "a", "b", "b"], ["a", "b", " b ", "nonsense"])
    np.testing.assert_allclose(shares, [[0.5, 0.5, 0], [0, 0.5, 0.5]])


def test_figures_survive_dollar_signs_and_line_breaks():
    """matplotlib reads $...$ as mathematics and fails on half of it."""
    figure = group_bars(["$x", "a\nb $ {"], [0.0, 1.0], [-1.0, 1.0], prompt="costs $5 ^")
    figure.canvas.draw()
    confusion_matrices(["a", "b"], ["a"], {"before": ["b"], "after": ["a"]}).canvas.draw()


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_panels_fit_into_a_window(count):
    """Catches a figure of which a laptop shows one half at a time."""
    figure = panels({f"panel {i}": {"A": [([1, 2], [1.0, 2.0])]} for i in range(count)}, "step")
    assert figure.get_size_inches()[1] * figure.dpi <= 670
    matrices = confusion_matrices(["a", "b"], ["a"], {f"run {i}": ["a"] for i in range(count)})
    assert matrices.get_size_inches()[1] * matrices.dpi <= 670


def test_panels_show_the_first_run_strong_and_the_others_in_its_colour():
    """Catches a legend with a name for each run, and a faint run in the colour of another method."""
    runs = [([1, 2], [1.0, 10.0]), ([1, 2], [2.0, 20.0])]
    figure = panels({"left": {"A": runs, "B": runs[:1]}, "right": {"B": runs[:1]}}, "step", log=["left"])
    left, right = figure.axes
    strong, faint, other = left.lines
    assert strong.get_color() == faint.get_color() != other.get_color() == right.lines[0].get_color()
    assert strong.get_alpha() > faint.get_alpha() and faint.get_ydata().tolist() == [2.0, 20.0]
    assert [text.get_text() for text in left.get_legend().get_texts()] == ["A", "B"]
    assert (left.get_yscale(), right.get_yscale()) == ("log", "linear")
    assert panels({"one": {"A": runs}}, "KL", joined=False).axes[0].lines[0].get_linestyle() == "None"


def test_a_legend_below_stands_once_and_covers_no_line():
    """Catches a legend in each panel besides, and a name that only the second panel has left out."""
    runs = [([1, 2], [1.0, 2.0])]
    figure = panels({"left": {"A": runs}, "right": {"A": runs, "B": runs}}, "step", legend_below=True)
    assert [axis.get_legend() for axis in figure.axes] == [None, None]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["A", "B"]
    figure.draw_without_rendering()
    assert legend.get_window_extent().y1 <= figure.axes[-1].get_tightbbox().y0


@pytest.mark.parametrize("curves", [{}, {"one": {str(i): [] for i in range(7)}}])
def test_panels_that_cannot_be_drawn_are_refused(curves):
    with pytest.raises(ValueError, match="at least one, and at most 6"):
        panels(curves, "step")
