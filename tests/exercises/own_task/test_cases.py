"""The good and bad cases that the author of a reward lists."""

import pytest

from shared.exercises.own_task.cases import asked, judge_cases, require_cases, verdict_on_cases

ROW = {"prompt": "2 + 3 =", "answer": "5"}
OTHER = {"prompt": "4 + 4 =", "answer": "8"}
GOOD = [(ROW, " 5", 1.0), (OTHER, " 8", 1.0)]
BAD = [(ROW, " 6", 0.0), (OTHER, " 5", 0.5), (ROW, "", 0.0), (OTHER, " ", 0.0)]


def told(flaw, *cases) -> str:
    return flaw(judge_cases, lambda: list(cases), lambda number: None)


def test_enough_good_and_bad_cases_are_counted():
    """Catches a reward that is held against cases which no wrong one fails, and more asked for than is said."""
    begun = []
    assert judge_cases(lambda: (*GOOD, *BAD), begun.append) == ("2 good and 4 bad ones, for 2 prompts.", [])
    assert begun == [0]
    assert judge_cases(lambda: [*GOOD, *BAD, GOOD[0]], begun.append)[0].startswith("3 good and 4 bad")


def test_too_few_of_either_kind_are_told(flaw):
    """Catches five good cases that make up for a bad one."""
    assert told(flaw, GOOD[0], *BAD).startswith("1 cases earn the most (1) and 4 earn less.")
    assert told(flaw, *GOOD, *BAD[:3]).startswith("2 cases earn the most (1) and 3 earn less.")
    assert "2 good" in told(flaw, GOOD[0], *BAD) and "4 bad" in told(flaw, GOOD[0], *BAD)


def test_what_no_case_asks_is_told(flaw):
    """Catches a reward that knows one answer, or ends a training at the first empty completion, and was never asked."""
    one_prompt = [(ROW, *case[1:]) for case in (*GOOD, *BAD)]
    assert "about one prompt" in told(flaw, *one_prompt)
    filled = [(row, completion.strip() or "none", wanted) for row, completion, wanted in (*GOOD, *BAD)]
    assert "the empty completion" in told(flaw, *filled)
    again = "completion ' 6' earns 0 in one case and 1 in another."
    assert told(flaw, *GOOD, *BAD, (dict(ROW), " 6", 1.0)) == again
    assert told(flaw, *GOOD, *BAD, (ROW, " 6", 0.0), (OTHER, " 6", 0.25)) == ""


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize(
    "case", [(ROW, " 5"), [ROW, " 5", 1.0], (3, " 5", 1.0), (ROW, None, 1.0), (ROW, " 5", "1"), (None, 5, 1.0), None]
)
def test_a_case_of_another_form_is_told_by_its_number(flaw, case, number):
    """Catches a traceback of the check's own, and the wrong case looked at."""
    cases = [*GOOD, *BAD]
    cases[number - 1] = case
    assert told(flaw, *cases).startswith(f"case {number} is not of the form")


def test_a_row_of_another_form_is_told_by_its_number(flaw):
    """Catches a row that the data set cannot hold."""
    assert "row of case 2 has no 'prompt'" in flaw(require_cases, [GOOD[0], ({"answer": "5"}, "a", 0.0)])
    wider = (OTHER | {"hint": ""}, " 8", 1.0)
    assert "row of case 2 has other columns" in flaw(require_cases, [GOOD[0], wider, BAD[0]])
    assert "row of case 3 has other columns" in flaw(require_cases, [*GOOD, wider])


def test_cases_that_are_all_alike_say_nothing(flaw):
    assert "all alike" in flaw(require_cases, GOOD) and "all alike" in flaw(require_cases, [])
    assert flaw(require_cases, [GOOD[0], BAD[0]]) == ""


def test_a_function_that_lists_no_cases_is_told(flaw):
    """Catches a traceback that is not the student's, and a generator that is empty when it is asked again."""
    assert "`return` missing" in flaw(asked, lambda: None) and "returns no list" in flaw(asked, lambda: iter(GOOD))
    assert flaw(asked, lambda: 1 / 0) == "the function of the cases raised ZeroDivisionError: division by zero."

    def blank():
        raise NotImplementedError

    assert flaw(asked, blank) == "it is not filled in yet."
    assert asked(tuple(GOOD)) == asked(lambda: tuple(GOOD)) == GOOD


def test_the_verdict_is_on_the_cases_and_says_what_was_going_on(judgements):
    """Catches a function that never returns, of which nothing is said."""
    verdict = verdict_on_cases(lambda: [*GOOD, *BAD])
    assert (verdict.line, verdict.cases) == ("✓ cases: 2 good and 4 bad ones, for 2 prompts.", 1)
    ((judgement, progress),) = judgements
    assert judgement.in_words(progress.case).endswith("`f()`")
    assert judgement.in_words(0).startswith("the call")
