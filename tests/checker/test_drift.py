"""A text quotes the saved run: a fresh one that ends elsewhere is told."""

import pytest

from checker.drift import drifted
from checker.notebook import read
from tests.checker.conftest import code

LINE = "{} reward  {}   (95 % interval {} to {}, 200 held-out prompts)\n"


@pytest.fixture
def printing(save):
    def make(text: str):
        cell = code("print()")
        cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": text}]
        content = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        return read(save(content))

    return make


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (LINE.format("fine-tuned", "0.985", "0.957", "0.995"), 0),
        (LINE.format("fine-tuned", "0.957", "0.900", "0.980"), 0),
        (LINE.format("fine-tuned", "0.940", "0.900", "0.970"), 1),
        (LINE.format("fine-tuned", "1.000", "0.981", "1.000"), 1),
        ("the fine-tuned model is good\n", 0),
    ],
)
def test_a_reward_outside_of_the_saved_interval_is_told(printing, now, said):
    """Outputs of yesterday's code under a text that praises them."""
    saved = printing(LINE.format("fine-tuned", "0.985", "0.957", "0.995"))
    found = drifted(saved, printing(now))
    assert len(found) == said
    assert all("0.985 (0.957 to 0.995)" in sentence for sentence in found)


def test_both_rewards_are_looked_at(printing):
    """A baseline that moves because the data or the model did."""
    saved = printing(
        LINE.format("baseline", "0.000", "0.000", "0.019") + LINE.format("fine-tuned", "0.9", "0.8", "0.95")
    )
    fresh = printing(
        LINE.format("baseline", "0.100", "0.050", "0.150") + LINE.format("fine-tuned", "0.9", "0.8", "0.95")
    )
    assert ["baseline" in sentence for sentence in drifted(saved, fresh)] == [True]


def test_a_notebook_without_saved_rewards_is_left_alone(printing):
    """A blank edition, or a notebook that prints its rewards in another way."""
    assert drifted(printing("nothing\n"), printing(LINE.format("baseline", "0.1", "0.0", "0.2"))) == []
