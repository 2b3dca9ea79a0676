"""The checks of any task as grading asks them: a sentence, "" for a right function."""

import json

import pytest

from shared.exercises import calling
from shared.exercises.own_task import cases, reward
from shared.exercises.own_task import rows as of_rows
from shared.exercises.own_task.graded import BY_CHECK
from shared.tasks import addition

ROW = {"prompt": "2 + 3 =", "answer": "5"}
OTHER = {"prompt": "4 + 4 =", "answer": "8"}
LISTED = [(ROW, " 5", 1.0), (OTHER, " 8", 1.0), (ROW, " 6", 0.0), (OTHER, " 5", 0.0), (ROW, "", 0.0), (ROW, " 8", 0.0)]


def program(source: str, **variables) -> dict:
    """A program's variables: a reward that pays for the answer, and what else is in it."""
    code = "def reward(prompts, completions, answer):\n    return [float(c.strip() == a) for c, a in zip(completions, answer)]\n"
    exec(code + source, variables)
    return variables


def sentence(check: str, function) -> str:
    """The sentence that grading reads of one call in its box."""
    entry = BY_CHECK[check]
    (case,) = entry.cases(seed=3)
    outcome = calling.call(entry, function, case)
    assert outcome.raised is None and not outcome.complaint and not outcome.harm and outcome.gradient is None
    return outcome.value


def rows(split, n, seed):
    return addition.dataset("eval" if split == "new" else split, n, seed)


RIGHT = {
    "rows": rows,
    "cases": lambda: LISTED,
    "reward_function": program("", good_and_bad_cases=lambda: LISTED)["reward"],
}
TENSORS = "import torch\npaid = reward\ndef reward(**given):\n    return torch.tensor(paid(**given))\n"


def test_nothing_is_said_of_a_right_function():
    """Catches points lost for a task that the notebook's check passed."""
    assert [sentence(check, function) for check, function in RIGHT.items()] == [""] * 3
    assert sentence("reward_function", program(TENSORS, all_cases=lambda: LISTED)["reward"]) == ""


@pytest.mark.parametrize("check", RIGHT)
def test_the_answers_say_the_same_again_and_nothing_else_does(check, monkeypatch):
    """Catches points for who says of himself that all is well, and a right function whose answers are lost on the way."""
    entry = BY_CHECK[check]
    answers = json.loads(json.dumps(entry.call(RIGHT[check], {"seed": 3}).answers))
    assert entry.again(answers) == ""
    forged = [None, {}, answers[:-1], [answers[-1] | {"gave": "[]"}] * 99, [{}] * 99, [3], [{"raised": 1, "words": 2}]]
    assert all(map(entry.again, forged))
    assert check == "cases" or entry.again(answers[:1] * 999)
    with monkeypatch.context() as beside_the_function:
        for module, name in ((of_rows, "judge_rows"), (cases, "judge_cases"), (reward, "judge_reward")):
            beside_the_function.setattr(module, name, lambda *given: None)
        told = entry.call(RIGHT[check], {"seed": 3})
    assert told == "" and entry.again(told.answers)


def test_what_a_reward_does_to_its_arguments_and_what_it_raises_comes_back():
    """Catches a reward that changes what is trained on, or fails, whose record says nothing of it."""
    for source, said in (("completions.pop()", "it changes its arguments"), ("1 / 0", "it raised ZeroDivisionError")):
        wrong = f"paid = reward\ndef reward(prompts, completions, answer):\n    found = paid(prompts, completions, answer)\n    {source}\n    return found\n"
        told = BY_CHECK["reward_function"].call(program(wrong, all_cases=lambda: LISTED)["reward"], {"seed": 3})
        assert said in told and BY_CHECK["reward_function"].again(told.answers) == told


@pytest.mark.parametrize(
    ("check", "function", "said"),
    [
        ("rows", lambda split, n, seed: rows(split, n - 1, seed), "it gives 99 rows"),
        ("cases", lambda: LISTED[:3], "2 cases earn the most"),
        ("reward_function", program("", all_cases=lambda: [*LISTED, (OTHER, "8!", 1.0)])["reward"], "it disagrees"),
        ("reward_function", program("")["reward"], "there is no function `good_and_bad_cases`"),
    ],
)
def test_the_flaw_is_said(check, function, said):
    """Catches points for what the notebook's check refuses."""
    assert said in sentence(check, function)


def test_all_cases_count_before_the_good_and_bad_ones():
    """Catches a reward that is graded by fewer cases than its notebook holds it against."""
    more = [*LISTED, (OTHER, "8!", 1.0)]
    variables = program("", all_cases=lambda: more, good_and_bad_cases=lambda: LISTED)
    assert "it disagrees" in sentence("reward_function", variables["reward"])


def test_the_one_case_tells_of_its_seed():
    """Catches two cases of one seed, and a name under which an answer is looked for and not found."""
    assert [BY_CHECK[check].cases(5) for check in ("rows", "cases", "reward_function")] == [[{"seed": 5}]] * 3
