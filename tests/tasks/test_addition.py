import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.tasks import addition
from shared.tasks.tags import parse, tagged

GOOD = "<think>\n17 + 25 = 42\n</think>\n<answer>\n42\n</answer>"


def test_the_format_asked_for_is_accepted():
    assert tagged("17 + 25 = 42", "42") == GOOD
    assert parse(GOOD) == ("17 + 25 = 42", "42")
    assert addition.format_reward([""] * 2, [GOOD, f"  {GOOD}\n"]) == [1.0, 1.0]


@pytest.mark.parametrize(
    "completion",
    [
        "",
        "42",
        GOOD + " so 42",
        "well, " + GOOD,
        GOOD + "\n" + GOOD,
        "<think> 17 + 25 = 42 </think> <answer> 42 </answer>",
        "<think>\n17 + 25 = 42\n</think>\n42",
        "<answer>\n42\n</answer>",
        "<think>\n\n</think>\n<answer>\n</answer>",
        "<answer>\n42\n</answer>\n<think>\n17 + 25\n</think>",
        "<think>\n<answer>\n42\n</answer>\n</think>\n<answer>\n42\n</answer>",
    ],
)
def test_what_only_resembles_the_format_is_refused(completion):
    """`re.search` or a `.*` without anchors accepts half of these."""
    assert addition.format_reward([""], [completion]) == [0.0]


def test_correctness_needs_the_number_alone_in_the_answer_block():
    wrong = [GOOD.replace("\n42\n", f"\n{said}\n") for said in ("43", "142", "about 42")] + ["42"]
    assert addition.correctness_reward([""] * 5, [GOOD, *wrong], ["42"] * 5) == [1, 0, 0, 0, 0]
    assert addition.reward([""] * 5, [GOOD, *wrong], ["42"] * 5) == [1, 0.5, 0.5, 0.5, 0]


def test_a_sum_is_held_out_in_both_orders():
    pairs = [(a, b) for a in range(10, 40) for b in range(10, 40)]
    assert all(addition.pair_split(a, b) == addition.pair_split(b, a) for a, b in pairs)


def test_the_layout_that_chat_models_are_shown_is_the_one_that_is_rewarded():
    layout = addition.CHAT_SYSTEM_PROMPT.partition("The layout:\n")[2]
    assert addition.format_reward([""], [layout]) == [1.0]


@given(st.text())
def test_rewards_take_any_text(text):
    assert addition.reward(["x"], [text], ["42"])[0] in (0.0, 0.5, 1.0)
    assert addition.reward(["x"], [tagged(text, text)], ["42"])[0] in (0.0, 0.5, 1.0)
