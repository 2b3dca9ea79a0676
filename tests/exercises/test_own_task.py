"""Checks of a reward and of a task of one's own, of which no reference is known."""

import random

import pytest
import torch

from shared import check
from shared.exercises.own_task import LEAST_EVALUATION, verdict_on_reward, verdict_on_task

ROW = {"prompt": "2 + 3 =", "answer": "5"}
OTHER = {"prompt": "4 + 4 =", "answer": "8"}
CASES = [(ROW, " 5", 1.0), (ROW, " 6", 0.0), (OTHER, " 8", 1.0), (OTHER, " 5", 0.0), (ROW, "", 0.0)]


def right(prompts, completions, answer, **columns):
    return [float(text.strip() == wanted) for text, wanted in zip(completions, answer)]


def reads_the_prompt(prompts, completions, answer, **columns):
    return [float((p + c).endswith(a)) for p, c, a in zip(prompts, completions, answer)]


def raises_on_the_empty_text(prompts, completions, answer, **columns):
    return [float(text.split()[0] == wanted) for text, wanted in zip(completions, answer)]


def integers(prompts, completions, answer, **columns):
    return [int(text.strip() == wanted) for text, wanted in zip(completions, answer)]


def not_a_number(prompts, completions, answer, **columns):
    return [float(text.strip() == wanted) if text else float("nan") for text, wanted in zip(completions, answer)]


def one_too_few(prompts, completions, answer, **columns):
    return right(prompts, completions, answer)[1:]


def changes_its_input(prompts, completions, answer, **columns):
    completions[:] = [text.strip() for text in completions]
    return right(prompts, completions, answer)


def relative_to_the_batch(prompts, completions, answer, **columns):
    found = right(prompts, completions, answer)
    return [reward if len(found) == 1 else reward / len(found) for reward in found]


def by_chance(prompts, completions, answer, **columns):
    return [float(text.strip() == wanted) + 0.1 * random.random() for text, wanted in zip(completions, answer)]


def first_answer_for_all(prompts, completions, answer, **columns):
    return right(prompts, completions, answer[:1] * len(completions))


def everything_is_right(prompts, completions, answer, **columns):
    return [1.0] * len(completions)


def endless(prompts, completions, answer, **columns):
    while True:
        pass


WRONG = {
    reads_the_prompt: "it reads the prompt",
    raises_on_the_empty_text: "it raised IndexError",
    integers: "integers where floats",
    not_a_number: "nan",
    one_too_few: "rewards",
    changes_its_input: "changes its arguments",
    relative_to_the_batch: "in a batch",
    by_chance: "it disagrees with you",
    first_answer_for_all: "in a batch",
    everything_is_right: "it disagrees with you",
}


def test_a_right_reward_passes(capsys):
    check.reward_function(right, CASES)
    assert capsys.readouterr().out.startswith("✓ reward function: right in your 5 cases")


@pytest.mark.parametrize("function", WRONG, ids=lambda function: function.__name__)
def test_each_wrong_reward_is_told(function):
    """Catches a reward that trains something else, and one that ends a training run at its first odd completion."""
    verdict = verdict_on_reward(function, CASES)
    assert not verdict.passed
    assert WRONG[function] in verdict.text


def test_a_reward_that_never_ends_is_interrupted(monkeypatch):
    monkeypatch.setattr("shared.exercises.own_task.NEVER_ENDS", 0.2)
    assert "does not return" in verdict_on_reward(endless, CASES).text


@pytest.mark.parametrize("cases", [[(ROW, " 5", 1.0)], [(ROW, " 5")], [({"answer": "5"}, " 5", 1.0)], []])
def test_cases_that_say_nothing_are_refused(cases):
    """Catches a tick for a reward that is only known to pay, and a raw traceback for cases of another form."""
    assert not verdict_on_reward(right, cases).passed


TRAIN = [{"prompt": f"{n} + 1 =", "answer": str(n + 1)} for n in range(60)]
HELD_OUT = [{"prompt": f"{n} + 2 =", "answer": str(n + 2)} for n in range(LEAST_EVALUATION)]
MIXED = torch.tensor([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]])


def test_a_task_that_can_be_learnt_passes(capsys):
    check.task(TRAIN, HELD_OUT, MIXED)
    assert capsys.readouterr().out.startswith("✓ task: 60 training and 30 held-out rows; the model earns 0.500")


@pytest.mark.parametrize(
    ("train_rows", "eval_rows", "rewards", "told"),
    [
        (TRAIN, [*HELD_OUT, TRAIN[0]], MIXED, "trained on and held out"),
        (TRAIN, HELD_OUT[:5], MIXED, "only 5 different prompts"),
        (TRAIN, [*HELD_OUT[:5]] * 10, MIXED, "only 5 different prompts"),
        (TRAIN, [{"prompt": row["prompt"]} for row in HELD_OUT], MIXED, "have the columns"),
        ([*TRAIN, {"question": "?"}], HELD_OUT, MIXED, "row 60 has no text"),
        ([], HELD_OUT, MIXED, "missing"),
        (TRAIN, HELD_OUT, torch.zeros(20, 8), "never sampled"),
        (TRAIN, HELD_OUT, torch.ones(20, 8), "nothing left to learn"),
        (TRAIN, HELD_OUT, torch.tensor([[1.0, 1.0], [0.0, 0.0]] * 10), "groups have a spread"),
        (TRAIN, HELD_OUT, torch.tensor([[1.0, torch.nan]]), "not finite"),
        (TRAIN, HELD_OUT, torch.zeros(8), "no tensor (N, G)"),
    ],
)
def test_why_a_task_will_not_learn_is_told_before_training(train_rows, eval_rows, rewards, told):
    """Catches hours of training on a task whose rewards never differ, or whose result is remembered."""
    verdict = verdict_on_task(train_rows, eval_rows, rewards)
    assert not verdict.passed
    assert told in verdict.text
