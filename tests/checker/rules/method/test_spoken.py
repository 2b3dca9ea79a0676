"""An environment's words in the loss: each way of handing one over, of masking, and of making a loss."""

import pytest

from checker.rules.method import spoken
from tests.checker.rules.looking import codes, found

GAME = "rollout = sample(model, prompts, environment_factory=Game)\n"

LOSSES = [
    "loss = (lp * rollout.completion_mask).sum()",
    "pg_loss = f(lp, rollout.completion_mask)",
    "losses_of_all = f(lp, response_mask)",
    "total = grpo_loss(lp, rollout.completions_mask)",
    "total = masked_mean(lp, generation_mask)",
    "total = masked_sum(lp, mask=completion_mask)",
    "total = aggregate(lp, completion_mask)",
    "mask = rollout.completion_mask\nloss = f(lp, mask)",
    "mask = completion_mask\nloss = f(lp, mask)",
    "def my_loss(lp, rollout):\n    return -(lp * rollout.completion_mask).sum()",
    "async def my_loss(lp, rollout):\n    return -(lp * rollout.completion_mask).sum()",
]


@pytest.mark.parametrize("lines", LOSSES)
@pytest.mark.parametrize("handed", [GAME, "collect(model, environment=calculator)\n"])
def test_the_completions_mask_in_a_loss_is_asked_about(handed, lines):
    """Catches one way to write a loss, or to hand an environment over, that is not known."""
    (finding,) = found(spoken, handed + lines)
    assert finding.code == "M023" and "environment's words in this loss" in finding.found
    assert "`loss_mask`" in finding.advice


def test_the_first_loss_is_pointed_at_and_asked_about_once():
    (finding,) = found(spoken, GAME, f"x = 1\n{LOSSES[0]}\n{LOSSES[3]}")
    assert finding.cell == 1 and finding.found.startswith("line 2: ")


@pytest.mark.parametrize(
    "handed", ["rollout = sample(model, prompts)\n", "sample(environment=None)\n", "sample(tools=Game)\n"]
)
def test_without_an_environment_all_words_are_the_policys(handed):
    assert codes(spoken, handed + LOSSES[0]) == []


@pytest.mark.parametrize(
    "line",
    [
        *("loss_mask = 1", "x = rollout.policy_masks", "own_tokens(rollout)", "train(mask=1, tool_mask=2)"),
        *("env_mask = 1", "environment_tokens = 1", "action_mask = 1", "assistant_masks = 1", "my_own_mask = 1"),
        *('x = batch["loss_mask"]', 'def f(batch):\n    return batch["policy_mask"]', "spokenmask_ = heard_token"),
    ],
)
def test_where_a_mask_of_the_policys_tokens_is_known_nothing_is_guessed(line):
    """Catches a question to somebody who masks an environment's words under another name."""
    assert codes(spoken, f"{GAME}{line}\n{LOSSES[0]}") == []


@pytest.mark.parametrize(
    "lines",
    [
        "total = (lp * rollout.completion_mask).sum()",
        "gloss = f(rollout.completion_mask)",
        "loss = f(lp, attention_mask)",
        "loss = f(lp, completion_mask_of_all)",
        "mask = f(completion_mask)\nloss = g(lp, mask)",
        "def mean(lp, rollout):\n    return (lp * rollout.completion_mask).sum()",
    ],
)
def test_another_mask_or_another_figure_is_right(lines):
    assert codes(spoken, GAME + lines) == []
