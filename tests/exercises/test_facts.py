"""Facts that a verdict tells of a function where no slip explains it."""

import random

import pytest
import torch

from shared.check import EXERCISES
from shared.exercises.catalogue.dots import get_reward, per_token_kl
from shared.exercises.judging import judge
from shared.rewards import score

pytestmark = pytest.mark.usefixtures("few_draws", "shapes_unchecked")
KL = per_token_kl.EXERCISE
REWARD = get_reward.EXERCISE


def right_kl(logps, ref_logps):
    log_r = ref_logps - logps
    return torch.exp(log_r) - log_r - 1


@pytest.mark.parametrize("number", [0.0, 1.0, -1.0])
def test_what_gives_the_same_whatever_it_gets_is_told_no_slip(number):
    """Catches "right and wrong are exchanged", said of a function that reads nothing."""
    verdict = judge(REWARD, lambda prompts, completions, **columns: [number] * len(completions))
    assert verdict.text.startswith(f"it gives {number:g} whatever it gets.") and verdict.slips == ()


def test_a_tensor_that_is_never_filled_is_told_so():
    """Catches a slip that happens to give 0 wherever it was tried."""
    verdict = judge(KL, lambda logps, ref_logps: torch.zeros_like(logps))
    assert verdict.text.startswith("it gives 0 whatever it gets.") and verdict.slips == ()


def test_a_text_that_is_always_the_same_is_told_so():
    verdict = judge(EXERCISES["hand_type"], lambda cards: "flush")
    assert verdict.text.startswith("it gives 'flush' whatever it gets.") and verdict.slips == ()


def test_chance_of_its_own_is_told():
    """Catches two numbers of a draw, told as if the next call gave them again."""
    verdict = judge(KL, lambda logps, ref_logps: right_kl(logps, ref_logps) + random.random())
    assert verdict.text.startswith("it gives something else when it is called again")


def test_a_backward_pass_of_its_own_is_told_as_such():
    """Catches the judge's own gradient, which raises after it, told in its place."""

    def backwards(logps, ref_logps):
        kl = right_kl(logps, ref_logps)
        kl.sum().backward()
        return kl

    assert judge(KL, backwards).text.startswith("it calls `backward` itself.")


def test_a_gradient_of_nan_is_told_as_such():
    """Catches advice on `.detach()` where an infinity is multiplied by 0."""

    def rooted(logps, ref_logps):
        return right_kl(logps, ref_logps) + 0 * (logps - logps).sqrt()

    assert "its gradient by `logps` is nan" in judge(KL, rooted).text


def test_a_line_of_the_library_is_not_the_students():
    """Catches a line of `shared/` that is quoted as if the student had written it."""

    def through_the_library(prompts, completions, **columns):
        return score([], prompts, completions, {}).sum(dim=1).tolist()

    text = judge(REWARD, through_the_library).text
    assert "it raised" in text and "score([], prompts" in text


def test_an_ellipsis_keeps_its_dots():
    def raises(logps, ref_logps):
        raise ValueError("not now...")

    assert "ValueError: not now...," in judge(KL, raises).text
