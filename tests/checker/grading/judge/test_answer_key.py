"""The answer key on an exercise so small that each verdict can be worked out by hand."""

import base64
import json
import os
import pickle
import runpy
from dataclasses import replace

import pytest

pytest.importorskip("torch")
pytest.importorskip("cloudpickle")

import torch

from checker.grading.box.inside import exchange
from checker.grading.judge.oracle import key, larger_cases
from shared import check
from shared.exercises.arguments import Numbers
from shared.exercises.calling import Outcome
from shared.exercises.exercise import Exercise
from shared.exercises.own_task.graded import BY_CHECK
from shared.exercises.results import TensorOf
from shared.exercises.stand_ins.tokens import TOKENIZER
from shared.exercises.steps import Steps
from shared.tasks import addition

pytestmark = pytest.mark.usefixtures("shapes_unchecked")
STEPS = Steps()
SEED = 7


@STEPS.step
def doubled(x):
    return 2 * x


@STEPS.slip("doubled", "You take x once.")
def once(x):
    return x


def numbers(*values: float) -> dict:
    return {"x": torch.tensor(values, dtype=torch.float64)}


TWICE = Exercise(
    "twice the number",
    "twice",
    "",
    STEPS,
    {"x": Numbers("B")},
    TensorOf("B"),
    draw=lambda draw: {"x": draw.numbers(2)},
    boundary=lambda: [numbers(1.0, 2.0), numbers(3.0), numbers(4.0)],
    draws=1,
    shows=("shared.b", "shared.a"),
    supplies=("model",),
)


@pytest.fixture
def exercise(monkeypatch):
    """Put an exercise in the place of all others, as `twice`. Its one larger case is the seed."""
    found = (key.hidden, key.expected_outcome, key.free_cases, key.guessed)

    def put(entry):
        for cached in found:
            cached.cache_clear()
        monkeypatch.setattr(check, "EXERCISES", {"twice": entry})
        monkeypatch.setattr(larger_cases, "larger_cases", lambda given, seed: [numbers(seed)] * (given is entry))
        return entry

    yield put
    for cached in found:
        cached.cache_clear()


@pytest.fixture
def twice(exercise):
    return exercise(TWICE)


def outcomes(function, entry=TWICE):
    """The outcomes of a function in each call, as they come out of a box."""
    return [exchange.outcome_of(function, case, vars(entry)) for case in key.asked_cases("twice", SEED)]


def verdict(given):
    """The verdict on a function, or on these outcomes."""
    return key.judge("twice", outcomes(given) if callable(given) else given, SEED)


def values(cases):
    return [case["x"].tolist() for case in cases]


def test_hidden_cases_are_those_of_the_seed_and_a_larger_one(twice):
    """Catches the cases that the check shows, and a case that was left out."""
    for seed in (7, 8):
        drawn = TWICE.cases(seed)[3]["x"].tolist()
        assert values(key.asked_cases("twice", seed)) == [[1.0, 2.0], [3.0], [4.0], drawn, [seed]]
    assert all(near_by == [None, None] for _, *near_by in key.hidden("twice", 7))


def test_near_each_case_two_more_are_asked_where_a_gradient_counts(exercise):
    """Catches a tie that nothing settles, and cases near by that are the case itself."""
    exercise(replace(TWICE, gradient="x"))
    first, up, down, second, *_ = values(key.asked_cases("twice", SEED))
    assert (first, second) == ([1.0, 2.0], [3.0])
    assert all(0.004 < moved - at < 0.016 for moved, at in zip(up, first, strict=True))
    assert all(0.004 < at - moved < 0.016 for moved, at in zip(down, first, strict=True))


def test_a_task_of_ones_own_has_one_case_and_nothing_larger():
    key.hidden.cache_clear()
    assert key.exercise("rows") is BY_CHECK["rows"] and key.exercise("nonsense") is None
    assert not key.has_reference("rows") and key.has_reference("per_token_kl")
    assert key.hidden("rows", SEED) == [({"seed": SEED}, None, None)]


def test_a_box_gets_what_a_call_needs_and_nothing_of_what_is_right(twice):
    """Catches a call without its cases, a module that is not shown, and a check that nobody knows which stops the others."""
    found = key.cases(["rows", "nonsense", "twice"], SEED)
    assert found["checks"] == ["rows", "twice"] and found["without_reference"] == ["rows"]
    assert found["modules"] == ["shared.a", "shared.b", *BY_CHECK["rows"].shows]
    assert found["supplied_names"] == {"rows": ["tokenizer"], "twice": ["model", "tokenizer"]}
    asked = pickle.loads(base64.b64decode(found["pickled"]))
    assert asked["rows"]["cases"] == [{"seed": SEED}]
    assert values(asked["twice"].pop("cases")) == values(key.asked_cases("twice", SEED))
    assert asked["twice"].pop("call")(lambda x: -x, {"x": 3}) == -3
    assert isinstance(asked["twice"].pop("result"), TensorOf)
    supplied = asked["twice"].pop("supplied")
    assert supplied["model"] is None and vars(supplied["tokenizer"]) == vars(TOKENIZER)
    assert asked["twice"] == {"gradient": None, "relevant": None}


def test_parts_of_a_call_are_those_of_the_exercise(exercise):
    exercise(replace(TWICE, gradient="x", relevant="mask"))
    asked = key.asked_of("twice", SEED)
    assert (asked["gradient"], asked["relevant"]) == ("x", "mask")


def test_who_is_right_everywhere_has_passed(twice):
    assert verdict(lambda x: x + x) == {
        "passed": True, "text": "right in all 5 hidden cases.", "cases": 5, "right": 5, "share": 1.0,
        "finding": False, "only_answers_missing": False, "mistakes": (),
    }  # fmt: skip


def test_a_known_mistake_is_named_with_its_share(twice):
    """Catches a student who is told where it fails, and not what the mistake is; all or nothing; the free case paid."""
    found = verdict(lambda x: x if len(x) > 1 else 2 * x)
    assert (found["passed"], found["right"], found["cases"], found["share"]) == (False, 3, 5, 2 / 4)
    assert found["text"].splitlines()[-2:] == [
        "Right in 3 of 5 hidden cases; another value in 2.",
        "A function that always gives the same would be right in 1, so as many earn nothing: 2 of 4 earn points.",
    ]
    assert not found["finding"] and not found["only_answers_missing"]
    found = verdict(lambda x: x)
    assert found["text"] == (
        "You take x once.\nFor x [1, 2] at completion 1 it gives 1, expected 2; at completion 2 it gives 2, expected 4.\n"
        "Right in 0 of 5 hidden cases; another value in 5."
    )


def test_the_most_important_way_to_fail_is_told(twice):
    """Catches the last mistake told for the first, and one kind told for all."""

    def fails(x):
        if x[0] == 4.0:
            raise KeyError("four")
        return 2 * x.reshape(-1, 1) if x[0] == 3.0 else 2 * x + (len(x) > 1)

    found = verdict(fails)
    assert "KeyError" in found["text"].splitlines()[0]
    assert "an error in 1, another shape in 1, another value in 2." in found["text"]
    assert (found["right"], found["share"]) == (1, 0.0)


def raising(error):
    def fails(x):
        raise error

    return fails


@pytest.mark.parametrize(
    ("function", "mistakes"),
    [
        (lambda x: x, ("You take x once.",)),
        (lambda x: 2 * x + (x > 2), ("another value, by no mistake that has a name",)),
        (raising(ValueError("Ann Lee copied")), ("an error (ValueError), by no mistake that has a name",)),
        (raising(type("AnnLeeCopied", (Exception,), {})()), ("an error, by no mistake that has a name",)),
        (raising(NotImplementedError("Ann Lee copied")), ("it is not filled in yet.",)),
        (lambda x: "Ann Lee copied", ("nothing that can be compared, by no mistake that has a name",)),
    ],
)
def test_mistakes_are_told_to_a_class_in_the_courses_words(function, mistakes, twice):
    """Catches words that a student puts into an error, shown to the whole class in a lecture."""
    assert verdict(function)["mistakes"] == mistakes


def test_a_constant_is_a_finding_at_the_end(twice):
    """Catches a suspicion that the student reads and the instructor does not."""
    found = verdict(lambda x: 0 * x)
    assert found["text"].endswith("\nIt gives 0, whatever its arguments are.") and found["finding"]
    assert found["right"] == 0
    assert verdict(lambda x: x * (len(x) > 1) * 2)["text"].endswith(
        "\nIn the others it gives 0, whatever its arguments are."
    )


def test_missing_answers_cost_their_part_and_are_no_mistake(twice):
    """Catches a mistake looked for where a program ended, and what was answered before that for nothing."""
    given = outcomes(lambda x: 2 * x)
    expected = {
        "passed": False, "cases": 5, "right": 3, "share": 2 / 4, "finding": False, "only_answers_missing": True,
        "text": "it gave 3 of 5 answers.\nRight in 3 of 5 hidden cases; no answer in 2.\nA function that always gives the same"
        " would be right in 1, so as many earn nothing: 2 of 4 earn points.", "mistakes": ("no answer, by no mistake that has a name",),
    }  # fmt: skip
    assert verdict(given[:3]) == verdict([given[0], None, None, *given[3:]]) == expected
    wrong = outcomes(lambda x: x)
    found = verdict([wrong[0], None, None, *given[3:]])
    assert "another value in 1, no answer in 2." in found["text"] and not found["only_answers_missing"]
    assert (found["right"], found["share"]) == (2, 1 / 4)


def test_what_is_not_filled_in_is_told_in_its_words(twice):
    """Catches an exercise that a student left out called wrong, and cases after it that are compared."""

    def blank(x):
        if x[0] == 3.0:
            raise NotImplementedError
        return x

    found = verdict(blank)
    assert found["text"].startswith("it is not filled in") and found["passed"] is False
    assert (found["cases"], found["right"], found["share"], found["finding"]) == (1, 0, 0.0, False)
    said = key.compared("twice", [exchange.decoded(record) for record in outcomes(blank)], SEED)
    assert len(said.answered) == len(said.trial.comparisons) == 1
    record = exchange.encoded(Outcome(blank=True))
    assert verdict([record])["text"] == "it is not filled in yet."


def test_a_gradient_that_differs_at_a_tie_alone_is_right(exercise):
    """Catches a case compared with the reference's answer near it, and one near it with that in the case itself."""
    entry = exercise(replace(TWICE, gradient="x"))
    right = outcomes(lambda x: 2 * x, entry)
    none = outcomes(lambda x: 2 * x.detach(), entry)
    assert len(right) == 15
    at_ties = [wrong if number % 3 == 0 else good for number, (wrong, good) in enumerate(zip(none, right, strict=True))]
    assert verdict(right)["passed"] and verdict(at_ties)["passed"]
    one_side = [
        wrong if number % 3 != 1 else good for number, (wrong, good) in enumerate(zip(none, right, strict=True))
    ]
    assert verdict(one_side)["passed"]
    found = verdict(none)
    assert "another gradient in 5" in found["text"] and found["right"] == 0
    missing = [wrong if number % 3 == 0 else None for number, wrong in enumerate(none)]
    assert verdict(missing)["right"] == 0, "what was not answered near by settles nothing"


def test_an_error_as_large_as_the_tolerance_allows_is_right(exercise):
    """Catches a tolerance that is not the exercise's own."""
    exercise(replace(TWICE, tolerance=0.5))
    assert verdict(lambda x: 2 * x + 0.4)["passed"] and not verdict(lambda x: 2 * x + 60)["passed"]


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        (Outcome(raised="it raised E"), "it raised E"),
        (Outcome(harm="it changes x."), "it changes x."),
        (Outcome(complaint="it is a list."), "it is a list."),
        (Outcome(value="no rows."), "no rows."),
    ],
)
def test_what_is_said_of_a_task_of_ones_own_is_its_verdict(outcome, text):
    wrong = {"passed": False, "text": text, "cases": 1, "right": 0, "share": 0.0, "finding": False}
    assert key.judge("rows", [exchange.encoded(outcome) | {"result": outcome.value}], SEED) == wrong | {
        "only_answers_missing": False,
        "mistakes": (),
    }


def _rows(split, n, seed):
    return addition.dataset("eval" if split == "new" else split, n, seed)


def test_a_task_of_ones_own_is_well_made_by_its_answers_alone():
    """Catches points for a box's own word that nothing is wrong."""
    silent = exchange.encoded(Outcome(value="")) | {"result": ""}
    assert not key.judge("rows", [silent], SEED)["passed"]
    right = exchange.outcome_of(_rows, {"seed": SEED}, key.asked_of("rows", SEED))
    well = {
        "passed": True,
        "text": "well made, as far as can be told of any task.",
        "cases": 1,
        "right": 1,
        "share": 1.0,
    }
    assert key.judge("rows", [json.loads(json.dumps(right))], SEED) == well | {
        "finding": False,
        "only_answers_missing": False,
        "mistakes": (),
    }
    none = {
        "passed": False,
        "text": "it gave no answer.",
        "cases": 1,
        "right": 0,
        "share": 0.0,
        "finding": False,
        "mistakes": (),
    }
    assert key.judge("rows", [], SEED) == key.judge("rows", [None], SEED) == none | {"only_answers_missing": True}


def test_each_request_is_answered_on_a_line_of_its_own(monkeypatch, capfd):
    """Catches an answer that is not sent before the next question, a library's line among them, and a judge that ends."""
    monkeypatch.setattr("sys.argv", ["key", "7"])
    monkeypatch.setattr(key, "cases", lambda checks, seed: [checks, seed, "ü"])

    def judged(check, found, seed):
        os.write(1, b"a library speaks\n")
        return [check, found, seed]

    monkeypatch.setattr(key, "judge", judged)
    answers = []

    def questions():
        for question in ({"cases": ["kl"]}, {"judge": "kl", "outcomes": [None]}, {"no": "question"}):
            yield json.dumps(question)
            answers.append(json.loads(capfd.readouterr().out))

    monkeypatch.setattr("sys.stdin", questions())
    out = os.dup(1)
    try:
        key.main()
    finally:
        os.dup2(out, 1)
        os.close(out)
    assert answers[:2] == [[["kl"], 7, "ü"], ["kl", [None], 7]]
    assert answers[2].keys() == {"error"} and "KeyError: 'judge'" in answers[2]["error"]


def test_the_program_answers_where_it_is_run(monkeypatch, capfd):
    """Catches a program that does nothing, of which it is said that it ended."""
    monkeypatch.setattr("sys.argv", ["key", "7"])
    monkeypatch.setattr("sys.stdin", ['{"cases": []}'])
    out = os.dup(1)
    try:
        runpy.run_path(key.__file__, run_name="__main__")
    finally:
        os.dup2(out, 1)
        os.close(out)
    assert json.loads(capfd.readouterr().out)["checks"] == []


def test_a_number_is_that_of_a_length_or_an_attribute_alone():
    """Catches a text of a worked notebook, or code of a student, that passes where numbers are asked for."""
    made = "from types import SimpleNamespace as S\nrows = [7, 8]\nmodel = S(config=S(size=12, name='x', _own=3))\n"
    assert key.number("len(rows)", made) == 2 and key.number("model.config.size", made) == 12
    for refused in (
        "rows[0]",
        "model.config.name",
        "model.config._own",
        "len(nowhere)",
        "len(rows + rows)",
        "print(1)",
    ):
        assert key.number(refused, made) is None, refused
