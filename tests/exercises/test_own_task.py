"""Checks of rows, cases, a reward and a task of one's own, of which no reference is known, as a student calls them.

Each runs in a child process here. What it says of which mistake is tried in `own_task/`.
"""

import random

import pytest
import torch

from shared import check
from shared.exercises.own_task.reward import verdict_on_reward
from shared.exercises.own_task.rows import verdict_on_rows
from shared.tasks import addition, analogies, countdown, dots, poker, sentences
from shared.tasks.split import split_of

pytestmark = pytest.mark.usefixtures("patient_judge")

ROW = {"prompt": "2 + 3 =", "answer": "5"}
OTHER = {"prompt": "4 + 4 =", "answer": "8"}
CASES = [(ROW, " 5", 1.0), (ROW, " 6", 0.0), (OTHER, " 8", 1.0), (OTHER, " 5", 0.0), (ROW, "", 0.0)]


def right(prompts, completions, answer, **columns):
    return [float(text.strip() == wanted) for text, wanted in zip(completions, answer)]


def reads_the_prompt(prompts, completions, answer, **columns):
    return [float((p + c).endswith(a)) for p, c, a in zip(prompts, completions, answer)]


def by_chance(prompts, completions, answer, **columns):
    return [float(text.strip() == wanted) + 0.1 * random.random() for text, wanted in zip(completions, answer)]


def first_answer_for_all(prompts, completions, answer, **columns):
    return right(prompts, completions, answer[:1] * len(completions))


def grows_tired(prompts, completions, answer, **columns):
    grows_tired.calls += 1
    return [float(text.strip() == wanted and grows_tired.calls < 33) for text, wanted in zip(completions, answer)]


grows_tired.calls = 0


def sums_up(prompts, completions, answer, **columns):
    return sum(right(prompts, completions, answer))


def without_columns(prompts, completions):
    return [1.0 for _ in completions]


def a_generator(prompts, completions, answer, **columns):
    yield from right(prompts, completions, answer)


def ends_the_process(prompts, completions, answer, **columns):
    if completions[0] == "":
        raise SystemExit
    return right(prompts, completions, answer)


def endless(prompts, completions, answer, **columns):
    while True:
        pass


WRONG = {
    reads_the_prompt: "it reads the prompt",
    by_chance: "it disagrees with you",
    first_answer_for_all: "in a batch",
    grows_tired: "in a batch",
    sums_up: "return a list",
    without_columns: "unexpected keyword argument",
    a_generator: "generator",
    ends_the_process: "it raised SystemExit",
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
    monkeypatch.setattr("shared.exercises.process.CASE_LIMIT", 0.3)
    verdict = verdict_on_reward(endless, CASES)
    assert "does not return" in verdict.text and "completion ' 5'" in verdict.text


def test_what_a_reward_does_stays_in_the_child():
    """Catches a check after which the notebook's own variables are others."""
    seen = []

    def keeps_what_it_saw(prompts, completions, answer, **columns):
        seen.extend(completions)
        return right(prompts, completions, answer)

    assert verdict_on_reward(keeps_what_it_saw, CASES).passed
    assert seen == []


def listing(*cases):
    return lambda: list(cases)


GOOD_AND_BAD = (*CASES, (OTHER, " five", 0.0))


def test_good_and_bad_cases_pass(capsys):
    check.cases(listing(*GOOD_AND_BAD))
    assert capsys.readouterr().out == "✓ cases: 2 good and 4 bad ones, for 2 prompts.\n"


def sums(split, n, seed):
    chance = random.Random(f"{split} {seed}")
    pairs = [(a, b) for a in range(40) for b in range(40) if split_of(f"{a} {b}") == split]
    return [{"prompt": f"{a} + {b} =", "answer": str(a + b)} for a, b in chance.sample(pairs, n)]


TWO = ("train", "eval")


@pytest.mark.parametrize("make", [sums, *(t.dataset for t in (addition, analogies, countdown, dots, poker, sentences))])
def test_rows_as_they_should_be_pass(make):
    """Catches a check that asks for more than the course's own tasks do."""
    verdict = verdict_on_rows(make, TWO)
    assert verdict.passed, verdict.text


TRAIN = [{"prompt": f"{n} + 1 =", "answer": str(n + 1)} for n in range(60)]
HELD_OUT = [{"prompt": f"{n} + 2 =", "answer": str(n + 2)} for n in range(30)]


def test_a_task_that_can_be_learnt_passes(capsys):
    check.task(TRAIN, HELD_OUT, torch.tensor([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]]))
    assert capsys.readouterr().out.startswith("✓ task: 60 training and 30 held-out rows; base reward 0.500")


def test_a_split_that_is_not_there_is_told(capsys):
    check.rows(sums)
    assert 'for split "new", n 30, seed 0' in capsys.readouterr().out
