"""Verdicts as a student reads them: twenty of them in `golden/verdicts.txt`.

After a change of words that is meant, `GOLDEN=write pytest tests/exercises/test_wording.py` writes them again; read them.
"""

import os
from pathlib import Path

import numpy as np
import pytest
import torch

from shared.exercises.catalogue.dots import (
    completion_logps,
    get_reward,
    group_advantages,
    grpo_loss,
    per_token_kl,
    step_loss,
)
from shared.exercises.catalogue.gradients import slopes
from shared.exercises.catalogue.maxent_irl import compute_expected_svf
from shared.exercises.catalogue.more_samples import vote
from shared.exercises.catalogue.ppo import advantages_of
from shared.exercises.catalogue.ratio_weights import own_weight
from shared.exercises.comparing import compare
from shared.exercises.judging import judge
from shared.exercises.wording import arguments_in_words, describe, from_where_they_differ

pytestmark = pytest.mark.usefixtures("patient_judge")
GOLDEN = Path(__file__).parent / "golden" / "verdicts.txt"


def slipped(exercise, *names):
    """The reference with some of its slips."""
    return exercise, exercise.reference(tuple(slip for slip in exercise.steps.slips if slip.name in names))


def right(exercise):
    return exercise.reference()


def blank(*_):
    raise NotImplementedError


def raises(*_):
    raise KeyError("answer")


VERDICTS = [
    (per_token_kl.EXERCISE, right(per_token_kl.EXERCISE)),
    (group_advantages.EXERCISE, blank),
    (group_advantages.EXERCISE, lambda rewards, num_generations: None),
    (per_token_kl.EXERCISE, raises),
    (per_token_kl.EXERCISE, lambda logps, ref_logps: 1.1 * right(per_token_kl.EXERCISE)(logps, ref_logps)),
    (per_token_kl.EXERCISE, lambda logps, ref_logps: right(per_token_kl.EXERCISE)(logps, ref_logps).tolist()),
    (per_token_kl.EXERCISE, lambda logps, ref_logps: right(per_token_kl.EXERCISE)(logps, ref_logps)[:1]),
    (per_token_kl.EXERCISE, lambda logps, ref_logps: (right(per_token_kl.EXERCISE)(logps, ref_logps), {})),
    slipped(per_token_kl.EXERCISE, "ratio_detached"),
    slipped(grpo_loss.EXERCISE, "not_clipped"),
    slipped(grpo_loss.EXERCISE, "mask_ignored", "k2_instead"),
    (grpo_loss.EXERCISE, lambda *arguments: right(grpo_loss.EXERCISE)(*arguments[:6], 0.25)),
    slipped(group_advantages.EXERCISE, "sample_standard_deviation", "nothing_added"),
    slipped(advantages_of.EXERCISE, "padding_read_as_a_state"),
    slipped(completion_logps.EXERCISE, "not_shifted"),
    slipped(step_loss.EXERCISE, "prompts_tiled"),
    slipped(get_reward.EXERCISE, "first_word_only"),
    (
        get_reward.EXERCISE,
        lambda prompts, completions, answer, **columns: [int(c.strip() == a) for c, a in zip(completions, answer)],
    ),
    slipped(get_reward.EXERCISE, "whole_completion", "beginning_is_enough"),
    (vote.EXERCISE, lambda answers: "one pair"),
]


def test_a_world_without_luck_is_told_by_where_it_leads():
    """Catches a table of zeros and ones that nobody reads, and one of luck that is told as if there were none."""
    exercise = compute_expected_svf.EXERCISE
    case = exercise.boundary()[1]
    assert "P that leads to the states [[1], [2], [2]]" in arguments_in_words(exercise, case)
    lucky = case | {"P": 0.5 * case["P"] + 0.5 * np.eye(3)[:, :, None]}
    assert "P [[[0.5], [0.5], [0]]," in arguments_in_words(exercise, lucky)


def test_a_state_is_named_by_its_number():
    """Catches state 1 of a verdict that is state 0 of the arguments beside it."""
    verdict = judge(*slipped(compute_expected_svf.EXERCISE, "starts_in_state_0"))
    assert "p_initial all in state 1, terminal [1, 0]" in verdict.text
    assert "at state 1 it gives 0, expected 1" in verdict.text


def test_an_entry_of_a_dict_is_named_by_its_key():
    """Catches "at estimator 3" for the entry "k3" of a dict that is read as one tensor."""
    at_one = {"log_r": torch.tensor([[0.0, 1.0]])}
    wrong = right(slopes.EXERCISE)(**at_one)
    wrong = wrong | {"k3": wrong["k3"] + torch.tensor([[0.0, 1.0]])}
    compared = compare(slopes.EXERCISE, lambda log_r: wrong, at_one)
    assert "at 'k3', completion 2 it gives -0.7183, expected -1.718." in describe(slopes.EXERCISE, compared)
    verdict = judge(slopes.EXERCISE, lambda log_r: right(slopes.EXERCISE)(log_r) | {"k2": log_r**3})
    assert "at 'k2' it gives" in verdict.text and "estimator" not in verdict.text


def test_twenty_verdicts_are_there():
    """Catches a verdict of more than ten lines, and one that is left out below."""
    if os.environ.get("GOLDEN") == "write":
        GOLDEN.write_text("\n\n".join(map(line_of, VERDICTS)) + "\n", encoding="utf-8")
    assert len(golden()) == len(VERDICTS) == 20 and all(len(line.splitlines()) <= 10 for line in golden())


@pytest.mark.parametrize("number", range(20))
def test_twenty_verdicts_read_as_they_did(number):
    """Catches a sentence that breaks, a case that grows."""
    assert line_of(VERDICTS[number]) == golden()[number]


def line_of(verdict: tuple) -> str:
    """The line of a verdict on a function, whatever chance was before it."""
    torch.manual_seed(0)
    return judge(*verdict).line


def golden() -> list[str]:
    return GOLDEN.read_text(encoding="utf-8").removesuffix("\n").split("\n\n")


def test_two_long_texts_are_shown_where_they_differ():
    """Catches texts that are cut before the word that decides, so that both look alike."""
    same = "one more move and " * 20
    mine, right = from_where_they_differ(f"{same}3 moves, and so on", f"{same}4 moves, and so on")
    assert mine.startswith("...") and "3 moves" in mine and "4 moves" in right and len(mine) < 165
    assert from_where_they_differ("a", "b") == ("'a'", "'b'")
    for same in ("x" * 300, "a word and " + "y" * 300, "\x00" * 300):
        mine, right = from_where_they_differ(f"{same}3 moves", f"{same}4 moves")
        assert mine.endswith("3 moves'") and right.endswith("4 moves'")


def test_of_several_weights_the_wrong_one_is_told():
    """Catches "it gives 1.000 at a ratio of 1; expected 1 at a ratio of 1": the first weight, where another is wrong."""
    ratio = torch.tensor([[2.0, 3.0, 4.0]])
    case = {"ratio": ratio, "advantages": torch.tensor([[1.0, 0.0, 1.0]])}
    assert "0.500 at a ratio of 1" in own_weight.call(lambda ratio, advantages: (1 + advantages) / 2, case)
