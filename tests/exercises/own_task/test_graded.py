"""The checks of any task as grading asks them: a sentence, "" for a right function."""

import pytest

from shared.exercises import calling
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


def test_nothing_is_said_of_a_right_function():
    """Catches points lost for a task that the notebook's check passed."""
    assert sentence("rows", rows) == sentence("cases", lambda: LISTED) == ""
    for name in ("all_cases", "good_and_bad_cases"):
        assert sentence("reward_function", program("", **{name: lambda: LISTED})["reward"]) == ""


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
