"""The rules on learning: rewards that did not rise, and groups without a spread."""

import pytest

from checker.rules.learning import nothing_gained
from tests.checker.conftest import HEADER, code


def compared(good, before: str, after: str) -> None:
    good["cells"][7]["outputs"][0]["text"] = f"baseline reward {before}\nfine-tuned reward {after}\n"


@pytest.mark.parametrize(("before", "after"), [("0.250", "0.250"), ("0.4", "0.38"), ("-0.5", "-1.5")])
def test_a_reward_that_is_not_above_the_baseline_is_told_with_both(good, told, before, after):
    """Catches the two told the wrong way round, and equal ones taken for a gain."""
    compared(good, before, after)
    (finding,) = told("N001")
    assert finding.cell == 7
    assert (
        finding.found == f"the fine-tuned reward ({float(after):.3f}) is not above the baseline ({float(before):.3f})"
    )
    assert "say it in Cell 8" in finding.advice and finding.advice.startswith("Look for the reason")


@pytest.mark.parametrize(
    "text", ["baseline reward 0.4", "fine-tuned reward 0.3", "", "baseline reward 0.4\nfine-tuned reward 0.41"]
)
def test_a_gain_or_a_figure_that_is_missing_is_no_loss(good, told, text):
    good["cells"][7]["outputs"][0]["text"] = text
    assert told("N001") == []


def test_a_notebook_that_measures_need_not_gain(good, told):
    compared(good, "0.4", "0.3")
    good["cells"][0]["source"] = HEADER.replace("jupyter:", "course:\n  claim: measures\njupyter:")
    assert told("N001") == []


def test_without_labels_the_last_cell_of_code_is_the_comparison(good, told):
    """Catches the finding of a notebook that is laid out otherwise, which points to its first cell or to none."""
    compared(good, "0.4", "0.3")
    good["cells"][7]["source"] = "compare()"
    good["cells"][6]["source"] = "train()"
    assert [finding.cell for finding in told("N001")] == [7]
    good["cells"].insert(7, code("# Cell 7: Evaluation", "", 6))
    good["cells"][8]["execution_count"] = 7
    assert [finding.cell for finding in told("N001")] == [7]


def test_a_notebook_without_any_cell_is_told_as_a_whole():
    """Catches a traceback where figures are given and no cell is."""

    class Figures:
        rewards, claim, sections = (0.4, 0.3), "learns", {}

        class notebook:
            code_cells = ()

    assert [cell for cell, *_ in nothing_gained.check(Figures)] == [None]


IDLE = [
    *("equal groups {}", "equal_groups: {}", "equal-groups = {}", "idle groups {}", "Idle_Groups {}", "idle-groups {}"),
    *(
        "groups without signal {}",
        "group without spread: {}",
        "groups with equal rewards {}",
        "frac_reward_zero_std {}",
    ),
]


@pytest.mark.parametrize("words", IDLE)
def test_logs_in_which_no_group_has_a_spread_are_told(good, told, words):
    """Catches one way to log the share of groups without a spread that is not known."""
    for values, is_told in (
        (("1.000", "1"), True),
        (("100%", "100.0 %"), True),
        (("1.0", "0.9"), False),
        (("99%", "100%"), False),
    ):
        lines = [f"step {n} reward 0.1 loss 0.1 {words.format(value)}\n" for n, value in enumerate(values)]
        good["cells"][6]["outputs"][0]["text"] = "".join(lines)
        findings = told("N002")
        assert [finding.cell for finding in findings] == [6] * is_told
        assert all("every group earn the same" in f.found and "Make the task easier" in f.advice for f in findings)


SPREADS = [
    "Reward std {}",
    "reward_std={}",
    "reward-std: {}",
    "std of rewards {}",
    "std_of_reward {}",
    "reward spread {}",
]


@pytest.mark.parametrize("words", SPREADS)
@pytest.mark.parametrize(
    ("values", "is_told"),
    [(("0.0", "0.000", "0"), True), (("0", "0"), True), (("0.0",), False), (("0.0", "0.1", "0.0"), False)],
)
def test_logs_whose_spread_is_0_throughout_are_told(good, told, words, values, is_told):
    """Catches one line that is taken for a log, and one way to log the spread that is not known."""
    good["cells"][6]["outputs"][0]["text"] = "".join(f"reward 0.1 loss 0.1 {words.format(value)}\n" for value in values)
    assert bool(told("N002")) is is_told


def test_a_share_of_groups_outweighs_the_spread(good, told):
    """Catches a spread of 0 over the batch told against groups of which some have one."""
    good["cells"][6]["outputs"][0]["text"] = "reward std 0.0 equal groups 0.5\n" * 3
    assert told("N002") == []


def test_a_log_that_says_both_is_told(good, told):
    good["cells"][6]["outputs"][0]["text"] = "equal groups 1.0 reward std 0.0 reward spread 0.0\n" * 3
    assert len(told("N002")) == 1


def test_a_log_of_anything_else_is_right(good, told):
    good["cells"][6]["outputs"][0]["text"] = "groups 1 std 0 spread 0\nequal rewards 1.0\n" * 3
    assert told("N002") == []
    good["cells"][6]["outputs"] = []
    assert told("N002") == []
