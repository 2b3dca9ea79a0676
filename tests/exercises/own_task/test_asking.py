"""A reward function of which nothing is known is asked for its rewards."""

import pytest
import torch

from shared.exercises.calling import Unfinished
from shared.exercises.own_task.asking import rewards_of

ROWS = [{"prompt": "2 + 3 =", "answer": "5"}, {"prompt": "4 + 4 =", "answer": "8"}]
GIVEN = [" 5", " 9"]


def length(prompts, completions, answer):
    return [float(len(p) + 10 * len(c) + 100 * int(a)) for p, c, a in zip(prompts, completions, answer)]


def test_a_reward_gets_prompts_completions_and_columns():
    """Catches a reward that is asked about other rows than its completions belong to, and a prompt that is not exchanged."""
    assert rewards_of(length, ROWS, GIVEN).tolist() == [527.0, 827.0]
    assert rewards_of(length, ROWS, tuple(GIVEN), prompts=("", "p")).tolist() == [520.0, 821.0]


def answering(*rewards):
    return lambda prompts, completions, answer: list(rewards)


def raising(error):
    def function(prompts, completions, answer):
        raise error

    return function


def writes_into_a_column(prompts, completions, answer):
    answer[0] = ""
    return [0.0] * len(completions)


ONE = "for completion ' 5'"
TWO = "for 2 completions"


@pytest.mark.parametrize(
    ("function", "said", "named"),
    [
        (lambda prompts, completions, answer: None, "`return` missing", True),
        (raising(IndexError("of the student")), "it raised IndexError: of the student", True),
        (raising(SystemExit("bye")), "it raised SystemExit: bye", True),
        (raising(NotImplementedError()), "it is not filled in yet.", False),
        (raising(NotImplementedError("fill in `score`")), "it is not filled in yet (fill in `score`).", False),
        (lambda prompts, completions, answer: [1] * len(completions), "integers where floats", False),
        (answering(1.0, 2.0, 3.0), "it returns 3 rewards", True),
        (writes_into_a_column, "it changes its arguments", True),
    ],
)
def test_what_a_reward_does_wrong_is_told_with_the_completion(flaw, function, said, named):
    """Catches a sentence from which nobody learns what was asked, and one about a single text where many were."""
    one, two = flaw(rewards_of, function, ROWS[:1], GIVEN[:1]), flaw(rewards_of, function, ROWS, GIVEN)
    assert said in one and said in two
    assert (ONE in one) is (TWO in two) is named and TWO not in one and "' 5'" not in two


def test_the_first_number_that_is_not_finite_is_told(flaw):
    said = flaw(rewards_of, answering(1.0, float("inf"), float("nan")), [ROWS[0]] * 3, ["a", "b", "c"])
    assert said.startswith("it returns inf for 3 completions")
    assert flaw(rewards_of, answering(float("nan")), ROWS[:1], GIVEN[:1]).startswith(f"it returns nan {ONE}")


def test_the_rows_are_untouched_by_a_reward_that_changes_its_arguments(flaw):
    """Catches a data set that is another one after the check."""
    completions = list(GIVEN)

    def empties(prompts, completions, answer):
        completions.clear()
        return torch.zeros(2)

    assert "changes its arguments" in flaw(rewards_of, empties, ROWS, completions) and completions == GIVEN


def test_an_interruption_is_no_flaw():
    """Catches "it raised Unfinished" in the place of a time that is up."""
    with pytest.raises(Unfinished):
        rewards_of(raising(Unfinished()), ROWS, GIVEN)
