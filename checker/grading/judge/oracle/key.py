"""The answer key: a process that draws the hidden cases of exercises and judges what functions gave in them.

    python -m checker.grading.judge.oracle.key SEED

It runs beside the boxes, never in one. It may import torch, and the references: the course's own right functions. It
answers requests, a JSON line each, until stdin ends:

    {"cases": ["kl", "loss"]}              the cases of these checks, pickled for the box (see `cases`)
    {"number": "len(rows)", "program": ""} the number of an expression, after the worked notebook's lines (see `number`)
    {"judge": "kl", "outcomes": [...]}     the verdict, from one outcome for each call and null for none (see `judge`)

The process that asks is `checker/grading/judge/reference_process.py`. What needs torch is imported when it is first used,
so that nothing which a library prints meanwhile is taken for an answer.
"""

from __future__ import annotations

import ast
import base64
import builtins
import json
import os
import re
import sys
import traceback
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import cloudpickle

from checker.grading.judge.oracle.outside import outcome_outside
from checker.grading.judge.oracle.partial_credit import (
    ALWAYS_THE_SAME,
    HANDS_BACK,
    IN_WORDS,
    NO_ANSWER,
    NO_NAME,
    NOT_FILLED_IN,
    by_one_answer,
    counted,
    share,
)
from checker.reading.slicing.numbers import root_of

if TYPE_CHECKING:
    from checker.grading.judge.oracle.constant_answers import Tried
    from checker.grading.judge.oracle.guesses import Guess
    from shared.exercises.calling import Outcome
    from shared.exercises.comparing import Comparison
    from shared.exercises.judging import Trial
    from shared.exercises.steps import Slip

RAISED = re.compile(r"it raised (\w+):")


def main() -> None:
    seed = int(sys.argv[1])
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a library prints is no answer
    for line in sys.stdin:
        try:
            answer = _answer(json.loads(line), seed)
        except Exception:  # one submission's values must not end the judge of all
            answer = {"error": traceback.format_exc()}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _answer(request: dict, seed: int) -> dict:
    if "cases" in request:
        return cases(request["cases"], seed)
    if "number" in request:
        return {"number": number(request["number"], request["program"])}
    return judge(request["judge"], request["outcomes"], seed)


def number(expression: str, program: str) -> float | None:
    """Return the number that an expression of the form `len(x)` or `x.a.b` has; None where it has none.

    program: the lines of the worked notebook that make x. No other code runs here.
    """
    parsed = ast.parse(expression, mode="eval").body
    if not root_of(parsed):
        return None
    try:
        found = eval(expression, _made(program))
    except Exception:  # what has no length, or no such attribute
        return None
    return found if type(found) in (int, float) else None


@cache
def _made(program: str) -> dict:
    """The names that lines of a worked notebook make."""
    names: dict = {}
    exec(program, names)
    return names


def exercise(check: str):
    """Return the exercise, or the part of a student's own task, that a check is about; None if grading knows neither."""
    from shared.check import EXERCISES
    from shared.exercises.own_task.graded import BY_CHECK

    return EXERCISES.get(check) or BY_CHECK.get(check)


def has_reference(check: str) -> bool:
    """Return True if the course has a right function for the check. It has none for a task of a student's own."""
    return hasattr(exercise(check), "reference")


@cache
def hidden(check: str, seed: int) -> list[tuple[dict, dict | None, dict | None]]:
    """Return the cases of a check, each with two cases near by.

    Those near by are drawn where a gradient is compared, to settle ties; elsewhere they are None.
    """
    from checker.grading.judge.oracle.larger_cases import larger_cases
    from shared.exercises.comparing import nearby_cases

    entry = exercise(check)
    drawn = [*entry.cases(seed), *(larger_cases(entry, seed) if has_reference(check) else ())]
    return [(case, *(nearby_cases(case) if entry.gradient else (None, None))) for case in drawn]


def asked_cases(check: str, seed: int) -> list[dict]:
    """Return the arguments of all calls of the function, in order: each case, and those near it."""
    return [case for with_near_by in hidden(check, seed) for case in with_near_by if case is not None]


def cases(checks: list[str], seed: int) -> dict:
    """Return what a box needs to call the functions of these checks.

    What the catalogue of exercises defines travels as its code. The catalogue itself, with the references, stays here.

    Returns:
        checks: those that have hidden cases.
        pickled: for each of them what `asked_of` returns, pickled and base64.
        modules: modules of the project that the calls need; exercises name them in `shows`.
        without_reference: those of the checks that are about a student's own task.
        supplied_names: by check, the names that its function finds besides its arguments.
    """
    from shared.exercises import catalogue

    cloudpickle.register_pickle_by_value(catalogue)  # and all modules in it
    known = [check for check in checks if exercise(check) is not None]
    asked = {check: asked_of(check, seed) for check in known}
    return {
        "checks": known,
        "pickled": base64.b64encode(cloudpickle.dumps(asked)).decode(),
        "modules": sorted({module for check in known for module in exercise(check).shows}),
        "without_reference": [check for check in known if not has_reference(check)],
        "supplied_names": {check: sorted(asked[check]["supplied"]) for check in known},
    }


def asked_of(check: str, seed: int) -> dict:
    """Return the cases of a check, the parts of a call that are compared, and the variables that stand for a notebook's."""
    entry = exercise(check)
    return {
        "cases": asked_cases(check, seed),
        "call": entry.call,
        "result": entry.result,
        "gradient": entry.gradient,
        "relevant": entry.relevant,
        "supplied": supplied_in(check),
    }


def supplied_in(check: str) -> dict:
    """Return the variables that exist when a notebook's statements run; None is the value of one that the cases bring."""
    from shared.exercises.stand_ins.tokens import TOKENIZER

    return dict.fromkeys(getattr(exercise(check), "supplies", ())) | {"tokenizer": TOKENIZER}


def judge(check: str, outcomes: list, seed: int) -> dict:
    """Return the verdict on what a function gave, one outcome for each call, None where there is none.

    Returns:
        passed: right in all hidden cases.
        text: sentences for the student.
        cases, right: how many cases there are, and in how many it is right.
        share: the part of the points that this earns, from 0 to 1.
        finding: the function does not look at its arguments, which the instructor should see.
        only_answers_missing: it failed because answers are missing. No answer that it gave is wrong.
        mistakes: what is wrong in the course's words alone. In `text` a student's own may stand, as those of an error.
    """
    from checker.grading.judge.oracle.constant_answers import constant_answer_remark
    from shared.exercises.judging import slips_in
    from shared.exercises.wording import describe, hint_for

    found = outcomes_of(check, outcomes, seed)
    if not has_reference(check):
        return _verdict_without_reference(found)
    beside_right = compared(check, found, seed)
    if (blank := beside_right.blank) is not None:
        text = blank.raised or NOT_FILLED_IN
        return _verdict(False, text, beside_right.blank_case, 0, 0.0, mistakes=(NOT_FILLED_IN,))
    total = len(hidden(check, seed))
    answered = beside_right.answered
    trial = beside_right.trial
    wrong = [difference for difference, failures in trial.failures.items() for _ in failures]
    right = len(answered) - len(wrong)
    if right == total:
        return _verdict(True, f"right in all {total} hidden cases.", total, right, 1.0)
    slips = slips_in(exercise(check), trial, lambda: True) if wrong else []
    has_a_name = bool(slips) or bool(wrong) and trial.main_difference.has_right_numbers
    free, who = _free(check, seed, answered, has_a_name)
    earned = share(right, total, free)
    count = counted(wrong + [NO_ANSWER] * (total - len(answered)), total, free, who)
    # Answers are missing and none is wrong: there is no mistake to look for.
    if not wrong:
        text = f"it gave {len(answered)} of {total} answers.\n{count}"
        mistakes = (f"{NO_ANSWER}, {NO_NAME}",)
        return _verdict(False, text, total, right, earned, only_answers_missing=True, mistakes=mistakes)
    entry = exercise(check)
    shown = trial.failures[trial.main_difference][0]
    reason = describe(entry, shown, slips)
    constant = constant_answer_remark(answered)
    text = "\n".join(line for line in (reason, hint_for(slips), count, constant) if line)
    return _verdict(False, text, total, right, earned, finding=bool(constant), mistakes=_mistakes(slips, shown))


def outcomes_of(check: str, records: list, seed: int) -> list[Outcome | None]:
    """Return the outcomes that a box's records stand for, one for each call."""
    with_reference = has_reference(check)
    return [
        None if record is None else outcome_outside(record, exercise(check), case, with_reference)
        for record, case in zip(records, asked_cases(check, seed))
    ]


def _mistakes(slips: list[tuple[Slip, ...]], shown: Comparison) -> tuple[str, ...]:
    """The slips that explain a function, the first of two explanations; else the way in which it fails."""
    if slips:
        return tuple(slip.explanation for slip in slips[0])
    way = IN_WORDS[shown.difference]
    error = RAISED.match(shown.actual.raised or "")
    if error and hasattr(builtins, error[1]):  # else a class of the student's, whose name may say anything
        way = f"{way} ({error[1]})"
    return (f"{way}, {NO_NAME}",)


@dataclass(frozen=True)
class Compared:
    """The answers of a function beside those of the reference.

    trial: the comparison with the reference in each case that was answered.
    answered: the same, as the search for constant answers reads them.
    blank: the outcome that says the exercise is not filled in, None where none does. Nothing is compared after it.
    blank_case: the number of its case.
    """

    trial: Trial
    answered: list[Tried]
    blank: Outcome | None = None
    blank_case: int = 0


def compared(check: str, found: list, seed: int) -> Compared:
    """Compare the outcomes of all calls with the reference's, up to the first that is blank.

    A case may be called three times: with its arguments, and with two sets near by where a gradient is compared.
    """
    from checker.grading.judge.oracle.constant_answers import Tried
    from shared.exercises.comparing import Comparison, Difference, confirm_difference, first_difference
    from shared.exercises.judging import Trial

    tolerance = exercise(check).tolerance
    done = Compared(trial=Trial([]), answered=[])
    calls_before = 0
    for number, with_near_by in enumerate(hidden(check, seed)):
        calls = [case for case in with_near_by if case is not None]
        given = found[calls_before : calls_before + len(calls)]
        calls_before += len(calls)
        if not given or given[0] is None:
            continue
        if given[0].blank:
            return replace(done, blank=given[0], blank_case=number)
        expected = [expected_outcome(check, seed, number, which) for which in range(len(given))]
        differences = [
            first_difference(outcome, right, tolerance) if outcome is not None else Difference.RAISED
            for outcome, right in zip(given, expected)
        ]
        difference = confirm_difference(differences[0], differences[1:])
        done.trial.comparisons.append(Comparison(calls[0], difference, given[0], expected[0]))
        done.answered.append(Tried(given[0], expected[0], not difference))
    return done


def _verdict_without_reference(found: list) -> dict:
    """The verdict on a part of a student's own task: right unless its one call found something to say of it."""
    outcome = found[0] if found else None
    if outcome is None:
        return _verdict(False, "it gave no answer.", 1, 0, 0.0, only_answers_missing=True)
    complaint = outcome.raised or outcome.harm or outcome.complaint or outcome.value
    if complaint:
        return _verdict(False, str(complaint), 1, 0, 0.0)
    return _verdict(True, "well made, as far as can be told of any task.", 1, 1, 1.0)


def _verdict(
    passed: bool,
    text: str,
    cases: int,
    right: int,
    share: float,
    finding: bool = False,
    only_answers_missing: bool = False,
    mistakes: tuple[str, ...] = (),
) -> dict:
    """The record that answers a request for a verdict; `judge` describes its fields."""
    return {
        "passed": passed,
        "text": text,
        "cases": cases,
        "right": right,
        "share": share,
        "finding": finding,
        "only_answers_missing": only_answers_missing,
        "mistakes": mistakes,
    }


def _free(check: str, seed: int, answered: list[Tried], has_a_name: bool) -> tuple[int, str]:
    """Return the number of cases that earn nothing, and words on the function that is right in them.

    has_a_name: the function makes a known mistake, or is right but for what it changes and for its type. Where it is right,
        it is so by thought, unless it is a guess itself.
    """
    constant = free_cases(check, seed)
    values = [one.found.value for one in answered]
    guesses = guessed(check, seed)
    if has_a_name and not any(guess.is_made_by(values) for guess in guesses):
        return constant, ALWAYS_THE_SAME
    by_guess = max((guess.right for guess in guesses), default=0)
    return (by_guess, HANDS_BACK) if by_guess > constant else (constant, ALWAYS_THE_SAME)


@cache
def guessed(check: str, seed: int) -> list[Guess]:
    """Return the guesses by an argument of a check that are right in some of its cases."""
    from checker.grading.judge.oracle.guesses import guesses

    cases = [case for case, *_ in hidden(check, seed)]
    return list(guesses(exercise(check), cases, lambda number: expected_outcome(check, seed, number, 0)))


@cache
def free_cases(check: str, seed: int) -> int:
    """Return how many cases earn nothing, since one constant answer is right in as many."""
    return by_one_answer(expected_outcome(check, seed, number, 0).value for number in range(len(hidden(check, seed))))


@cache
def expected_outcome(check: str, seed: int, number: int, which: int):
    """Return the reference's outcome in a case (`which` 0), or in one near it (1, 2)."""
    from shared.exercises.calling import call

    entry = exercise(check)
    return call(entry, entry.reference(), hidden(check, seed)[number][which])


if __name__ == "__main__":
    main()
