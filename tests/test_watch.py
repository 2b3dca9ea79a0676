"""The recorded run that the site shows: what stands in the file is what the course's own functions say of it."""

import json
from pathlib import Path

import pytest

from benchmarks.group_picture import picture
from shared.tasks import dots

FOLDER = Path(__file__).parents[1] / "benchmarks"
RECORD = FOLDER / "watch.json"


@pytest.fixture(scope="module")
def record() -> dict:
    return json.loads(RECORD.read_text(encoding="utf-8"))


def test_the_record_is_small_and_whole(record):
    """Catches a record that makes the page heavy, or a look at the policy that one of the prompts lacks."""
    assert RECORD.stat().st_size < 100_000
    assert len(record["held_out"]) == len(record["steps"])
    for prompt in record["prompts"]:
        assert len(prompt["groups"]) == len(prompt["probabilities"]) == len(record["steps"])


def test_rewards_and_advantages_are_those_of_the_completions(record):
    """Catches groups that were put beside the wrong prompt, and advantages of another group."""
    for prompt in record["prompts"]:
        row = prompt["prompt"].removeprefix("Count the dots: ").partition("\n")[0]
        assert prompt["answer"] == str(dots.count_dots(row))
        for group in prompt["groups"]:
            right = [completion.strip() == prompt["answer"] for completion in group["completions"]]
            assert group["rewards"] == [int(one) for one in right]
            mean = sum(right) / len(right)
            deviation = (mean * (1 - mean)) ** 0.5  # of zeros and ones
            expected = [(one - mean) / (deviation + 1e-4) for one in right]
            assert group["advantages"] == pytest.approx(expected, abs=0.006)


def test_no_shown_prompt_was_trained_on(record):
    trained = {row["prompt"] for row in dots.dataset("train", 512, seed=0)}
    assert not trained & {prompt["prompt"] for prompt in record["prompts"]}


def test_the_picture_is_of_the_record(record):
    """Catches a picture of an older run, or one that somebody edited: `python -m benchmarks.group_picture`."""
    assert (FOLDER / "group.svg").read_text(encoding="utf-8") == picture(record)
