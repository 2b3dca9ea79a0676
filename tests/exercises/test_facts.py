"""Facts that a verdict tells of a function where no slip explains it."""

import random
import statistics
from dataclasses import replace

import pytest
import torch

from shared.check import EXERCISES
from shared.exercises.catalogue.dots import get_reward, group_advantages, per_token_kl
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


@pytest.mark.parametrize("name", ["get_reward", "per_token_kl", "hand_type", "token_weights"])
def test_a_yield_is_named_whatever_is_asked_for(name):
    """Catches "it returns None" and "no optimiser step" of a function whose body never ran."""

    def yields(*arguments, **named):
        yield 1.0

    text = judge(EXERCISES[name], yields).text
    assert text.startswith("it has a `yield` and so gives a generator") and "None" not in text


def test_a_generator_expression_is_called_one():
    assert "a generator" in judge(KL, lambda logps, ref_logps: (row for row in right_kl(logps, ref_logps))).text
    texts = judge(REWARD, lambda prompts, completions, **columns: (0.0 for _ in completions)).text
    assert texts.startswith("it gives 0 whatever it gets.") and "it returns a generator" in texts


def test_an_argument_changed_in_place_is_told_although_torch_forbids_it_first():
    """Catches torch's own words about a leaf, which say nothing to a student."""

    def clamped_in_place(logps, ref_logps):
        logps.clamp_(max=0)
        return right_kl(logps, ref_logps)

    text = judge(KL, clamped_in_place).text
    assert text.startswith("it changes an argument in place") and "in line" in text and "leaf" not in text


def test_an_argument_that_is_never_read_is_named():
    """Catches two numbers alone, where the function takes a variable of its notebook in the argument's place."""

    def of_the_notebook(trajectory, reward=None):
        return float(len(trajectory.states()) ** 2)

    def walk_reward(reward, trajectory):
        return of_the_notebook(trajectory)

    verdict = judge(EXERCISES["walk_reward"], walk_reward)
    assert verdict.text.startswith("it never reads its argument `reward`.") and verdict.slips == ()


def test_an_argument_that_an_inner_function_reads_is_read():
    def nearly_right(logps, ref_logps):
        def gap(row):
            return ref_logps[row] - logps[row]

        return torch.stack([1.1 * gap(row) for row in range(len(logps))])

    assert "never reads" not in judge(KL, nearly_right).text


GROUPS_OF_TWO = 4  # the number of a boundary case in which the median is the smallest


def in_one_case(exercise, number: int, *names):
    """The exercise with one boundary case, which leaves much open, and with these slips alone."""
    steps = replace(exercise.steps, slips=[slip for slip in exercise.steps.slips if slip.name in names])
    return replace(exercise, steps=steps, boundary=lambda: [exercise.boundary()[number]], draws=0)


def slipped(exercise, name: str):
    return exercise.reference(tuple(slip for slip in exercise.steps.slips if slip.name == name))


def test_of_two_slips_that_no_case_tells_apart_both_are_offered():
    """Catches the first of two that fit, named as if no other did."""
    exercise = group_advantages.EXERCISE
    names = ("median_subtracted", "smallest_subtracted")
    function = slipped(exercise, "median_subtracted")
    verdict = judge(in_one_case(exercise, GROUPS_OF_TWO, *names), function)
    lines = verdict.text.splitlines()
    assert lines[0].startswith("either this: You subtract the median")
    assert lines[1].startswith("or this: You subtract the smallest")
    assert verdict.slips == ()
    assert judge(exercise, function).slips == ("median_subtracted",)


def test_what_three_slips_explain_is_told_none():
    """Catches a list of guesses."""
    exercise = group_advantages.EXERCISE
    names = ("not_centred", "median_subtracted", "smallest_subtracted")
    verdict = judge(in_one_case(exercise, 0, *names), slipped(exercise, "median_subtracted"))
    assert verdict.slips == () and "this:" not in verdict.text


def test_of_two_pairs_the_slip_that_both_have_is_recorded():
    """Catches a record that says for certain what the sentence leaves open."""
    exercise = group_advantages.EXERCISE
    made = tuple(slip for slip in exercise.steps.slips if slip.name in ("left_in_groups", "median_subtracted"))
    few = in_one_case(exercise, GROUPS_OF_TWO, "left_in_groups", "median_subtracted", "smallest_subtracted")
    verdict = judge(few, exercise.reference(made))
    assert verdict.slips == ("left_in_groups",) and verdict.text.count("two things at once") == 2


def test_a_line_of_the_standard_library_is_not_the_students():
    """Catches "in line 713: `raise StatisticsError(...)`", of a function that is two lines long."""

    def voted(answers):
        return statistics.mode(answer for answer in answers if answer)

    text = judge(EXERCISES["vote"], voted).text
    assert "it raised StatisticsError" in text and "statistics.mode(answer" in text


def test_what_comes_of_the_result_is_not_said_to_be_raised():
    """Catches "it raised" of a function that has returned: its result is what cannot be used."""
    verdict = judge(EXERCISES["accumulate"], lambda rollout, advantages, parts: ((0.0, 0.0), 0.0))
    assert "What it returns cannot be used (RuntimeError" in verdict.text
    assert "it raised TypeError" in judge(KL, lambda logps: logps).text


def test_a_changed_argument_is_told_beside_a_wrong_number():
    """Catches a function that pops the last guess, of which only the number that follows from it is told."""

    def popped(prompts, completions, environments, **columns):
        return [float(bool(game.guesses) and game.guesses.pop() == game.secret) for game in environments]

    twice = EXERCISES["win_reward"].boundary()[0]["environments"][:1] * 2
    case = {"prompts": [""] * 2, "completions": [""] * 2, "environments": twice}
    exercise = replace(EXERCISES["win_reward"], boundary=lambda: [case], draws=1)
    text = judge(exercise, popped).text
    assert "it changes its argument `environments` in place" in text


def test_a_truth_is_told_as_one():
    """Catches "it gives 1, expected 0" of booleans."""
    text = judge(EXERCISES["prefers_first"], lambda first, second, noise, uniform: uniform > 0.5).text
    assert "it gives True, expected False" in text or "it gives False, expected True" in text


def test_a_list_is_no_number():
    """Catches "it gives the shape (1,); expected ()" of a list with the right number in it."""
    assert "return one number" in judge(EXERCISES["pass_at_k"], lambda count, right, k: [right / count]).text
