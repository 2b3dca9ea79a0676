"""A task, before any training: can it be learnt, and its result measured?"""

import pytest
import torch

from shared.exercises.own_task.learnable import verdict_on_task

TRAIN = [{"prompt": f"{n} + 1 =", "answer": str(n + 1)} for n in range(40)]
HELD_OUT = [{"prompt": f"{n} + 2 =", "answer": str(n + 2)} for n in range(30)]
MIXED = torch.tensor([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def told(train=TRAIN, held_out=HELD_OUT, rewards=MIXED, chosen_on=()) -> str:
    verdict = verdict_on_task(train, held_out, rewards, chosen_on)
    assert verdict.exercise == "task" and verdict.cases == 1
    return "" if verdict.passed else verdict.text


def test_a_task_that_can_be_learnt_is_told_in_numbers():
    """Catches a reward or a share that is another one than what is printed beside it later."""
    verdict = verdict_on_task(TRAIN, HELD_OUT, MIXED)
    assert verdict.passed and verdict.cases == 1
    assert verdict.text == "40 training and 30 held-out rows; base reward 0.500, a spread in 0.50 of the groups."


def test_the_rows_are_named_in_which_a_flaw_is():
    """Catches a mistake that is looked for in other rows."""
    odd = [{"question": "?"}]
    assert told(train=odd).startswith("training row 0") and told(held_out=odd).startswith("held-out row 0")
    assert told(chosen_on=odd).startswith("validation row 0")
    assert told(train=[]).startswith(("training", "held-out")) and "missing" in told(held_out=[])


def test_all_flaws_of_the_rows_are_told_each_on_a_line():
    """Catches a task that is mended five times, one flaw after the other."""
    columns, both, third, few = told(held_out=[{"prompt": TRAIN[0]["prompt"]}], chosen_on=TRAIN[:1]).split("\n")
    assert columns == "training rows have the columns ['answer', 'prompt'], held-out ones ['prompt']."
    assert both.startswith("1 prompts are trained on and held out") and "third set" in third
    assert few.startswith("only 1 different prompts are held out")


def test_columns_that_one_row_has_are_those_of_all():
    assert "have the columns" in told(held_out=[{"prompt": row["prompt"]} for row in HELD_OUT])


def test_validation_rows_of_their_own_are_allowed():
    """Catches validation rows that are refused whatever they are, and those of another split that are let pass."""
    assert told(chosen_on=[{"prompt": "another", "answer": ""}]) == ""
    assert "third set" in told(chosen_on=TRAIN[:1]) and "third set" in told(chosen_on=HELD_OUT[-1:])


def groups(*, spread: int, paid: int = 0, count: int = 100, size: int = 4) -> torch.Tensor:
    """Rewards of so many groups: some with one completion that is paid, some in which all are."""
    rewards = torch.zeros(count, size)
    rewards[:spread, 0] = 1.0
    rewards[spread : spread + paid] = 1.0
    return rewards


@pytest.mark.parametrize(
    ("rewards", "said"),
    [
        (groups(spread=0), "all completions earn 0.000"),
        (-torch.ones(4, 2), "all completions earn -1.000"),
        (torch.ones(4, 2), "the model earns 1.000 before training: there is nothing left"),
        (torch.full((4, 2), 0.96), "the model earns 0.960 before training: there is nothing left"),
        (torch.full((4, 2), 0.94), "only 0.00 of the groups have a spread"),
        (torch.full((4, 2), 3.0), "only 0.00 of the groups have a spread"),
        (groups(spread=1, count=200), "the model earns 0.001 before training: hardly a group"),
        (groups(spread=5, paid=40), "only 0.05 of the groups have a spread"),
        (groups(spread=9, paid=1), "only 0.09 of the groups have a spread"),
        (groups(spread=12), ""),
        (torch.tensor([[-1.0, -2.0], [0.0, -1.0]]), ""),
        (torch.tensor([[0.0, -1.0], [0.0, 0.0]]), ""),
        (torch.tensor([[2.0, 3.0], [4.0, 1.0]]), ""),
    ],
)
def test_first_rewards_tell_whether_there_is_something_to_learn(rewards, said):
    """Catches hours of training without a gradient, and a task refused because its rewards are no rates."""
    found = told(rewards=rewards)
    assert found.startswith(said) and bool(found) == bool(said) and "\n" not in found


def test_what_to_do_is_said_too():
    """Catches a refusal after which nobody knows how to go on."""
    for rewards in (groups(spread=0), groups(spread=1, count=200)):
        assert "Make the task easier, show the format" in told(rewards=rewards)
    assert "Make the task harder" in told(rewards=torch.ones(4, 2))
    assert "larger groups, a reward with more steps" in told(rewards=groups(spread=5, paid=40))


@pytest.mark.parametrize("rewards", [None, [[1.0, 0.0]], torch.ones(4), torch.ones(4, 1), torch.ones(2, 2, 2)])
def test_rewards_of_another_form_are_told(rewards):
    """Catches groups of one, in which every advantage is 0, and a traceback of the check's own."""
    assert told(rewards=rewards).startswith("base_rewards is no tensor (N, G)")


@pytest.mark.parametrize(
    "rewards", [torch.zeros(0, 4), torch.tensor([[1.0, float("nan")]]), torch.full((2, 2), torch.inf)]
)
def test_rewards_that_are_no_numbers_are_told(rewards):
    assert told(rewards=rewards).startswith("the base rewards are none, or hold a number that is not finite")


def test_rewards_of_integers_are_read_too():
    assert told(rewards=MIXED.long()) == ""
