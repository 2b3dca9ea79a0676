"""A verdict in its steps, on an exercise so small that each can be worked out by hand."""

import random
import time
from dataclasses import replace

import pytest
import torch

from shared.exercises import judging
from shared.exercises.arguments import Mask, Numbers
from shared.exercises.comparing import Difference
from shared.exercises.exercise import Exercise
from shared.exercises.judging import (
    Explanation,
    Listener,
    Verdict,
    always_the_same,
    explain,
    judge,
    slips_in,
    try_cases,
)
from shared.exercises.results import TensorOf, Text
from shared.exercises.steps import Steps

pytestmark = pytest.mark.usefixtures("shapes_unchecked")
STEPS = Steps()


@STEPS.step
def doubled(x):
    return 2 * x


@STEPS.slip("doubled", "You take x once.")
def once(x):
    return x


@STEPS.slip("doubled", "The sign is flipped.")
def negative(doubled):
    return -doubled


@STEPS.slip("x", "You take what is below zero for zero.")
def clamped(x):
    return x.clamp(min=0)


def numbers(*values: float) -> dict:
    return {"x": torch.tensor(values, dtype=torch.float64)}


BOUNDARY = [numbers(1.0, 2.0, -3.0), numbers(4.0, -5.0), numbers(-6.0)]
TWICE = Exercise(
    "twice the number",
    "twice",
    "",
    STEPS,
    {"x": Numbers("B")},
    TensorOf("B"),
    draw=lambda draw: {"x": draw.numbers(2)},
    boundary=lambda: [dict(case) for case in BOUNDARY],
    draws=3,
)
ALWAYS = lambda: True  # noqa: E731
NEVER = lambda: False  # noqa: E731


def right(x):
    return x + x


def blank(x):
    raise NotImplementedError


def slipped(*names: str):
    return TWICE.reference(tuple(slip for slip in STEPS.slips if slip.name in names))


def names(explanations) -> list[tuple[str, ...]]:
    return [tuple(slip.name for slip in slips) for slips in explanations]


def test_a_right_function_has_passed_in_all_cases():
    """Catches a verdict without its name or its count, and one on a drawn case too few."""
    verdict = judge(TWICE, right)
    assert verdict == Verdict("twice the number", passed=True, text="right in all 6 cases.", cases=6)
    assert (verdict.mark, verdict.line) == ("✓", "✓ twice the number: right in all 6 cases.")
    assert explain(TWICE, right) is None


def test_a_blank_one_is_open_and_not_wrong():
    verdict = judge(TWICE, blank)
    assert verdict == Verdict("twice the number", passed=False, text="it is not filled in yet.")
    assert (verdict.mark, judge(TWICE, lambda x: x).mark) == ("○", "✗")
    trial = try_cases(TWICE, blank, ALWAYS)
    assert trial.comparisons == [] and trial.blank.blank and trial.failures == {}


def test_a_blank_one_is_open_although_it_was_right_before():
    """Catches a function that is judged by the cases before the one in which it says that it is not filled in."""
    verdict = judge(TWICE, lambda x: blank(x) if len(x) == 1 else x)
    assert (verdict.text, verdict.cases, verdict.mark) == ("it is not filled in yet.", 2, "○")


def test_a_mistake_is_named_and_shown_in_the_smallest_case():
    """Catches a verdict without its slip or its case, and one on the first case that fails."""
    verdict = judge(TWICE, lambda x: x)
    assert verdict.text == "You take x once.\nFor x 1 it gives 1, expected 2."
    assert (verdict.exercise, verdict.passed, verdict.cases) == ("twice the number", False, 6)
    assert verdict.slips == ("once",)
    assert names(explain(TWICE, lambda x: -2 * x).slips) == [("negative",)]
    both = judge(TWICE, slipped("negative", "clamped"))
    assert both.slips == ("negative", "clamped") and both.text.startswith(
        "two things at once. (1) The sign is flipped."
    )


def test_the_record_has_the_facts_and_no_text():
    nothing_else = {"cases": 0, "slips": (), "first": (), "right_after": False}
    assert Verdict("a", False, "b").record == {"version": 1, "exercise": "a", "passed": False} | nothing_else
    record = Verdict("a", False, "b", 3, ("c",), ("d",), True).record
    assert record == {
        "version": 1, "exercise": "a", "passed": False, "cases": 3, "slips": ("c",), "first": ("d",), "right_after": True,
    }  # fmt: skip


def test_the_cases_at_the_boundary_and_one_drawn_are_tried_however_slow_it_is():
    """Catches boundary cases that are skipped on a slow machine, and a verdict that waits for drawn ones."""
    assert len(try_cases(TWICE, right, NEVER).comparisons) == 4
    assert len(try_cases(TWICE, right, ALWAYS).comparisons) == 6
    left = iter([True, False])
    assert len(try_cases(TWICE, right, lambda: next(left)).comparisons) == 5


def test_a_listener_hears_of_each_case_and_of_the_first_failure_alone():
    """Catches a judge that is stopped and knows nothing, and a later failure told in the place of the first."""
    heard = []
    listener = Listener(on_case=heard.append, on_verdict=heard.append)
    try_cases(TWICE, lambda x: x if len(x) < 3 else 2 * x, ALWAYS, listener)
    told = [one for one in heard if isinstance(one, Verdict)]
    assert [one for one in heard if not isinstance(one, Verdict)] == list(range(6)) and heard.index(told[0]) == 2
    assert len(told) == 1 and (told[0].exercise, told[0].passed, told[0].cases) == ("twice the number", False, 2)
    assert told[0].text.startswith("For x [4, -5] at completion 1 it gives 4, expected 8")
    heard.clear()
    judge(TWICE, right, listener)
    assert heard == list(range(6))


def test_the_most_important_failure_is_the_main_one():
    """Catches the last failure told for the first in importance."""
    fails = {3: lambda x: x.tolist(), 2: lambda x: x, 1: lambda x: 2 * x.view(1, -1)}
    trial = try_cases(TWICE, lambda x: fails[len(x)](x), ALWAYS)
    assert list(trial.failures) == [Difference.VALUE, Difference.SHAPE]
    assert [len(failing) for failing in trial.failures.values()] == [5, 1]
    assert trial.main_difference == Difference.SHAPE


def test_numbers_of_a_wrong_type_have_no_slip():
    trial = try_cases(TWICE, lambda x: (2 * x).tolist(), ALWAYS)
    assert trial.main_difference == Difference.TYPE and slips_in(TWICE, trial, ALWAYS) == []
    assert names(slips_in(TWICE, try_cases(TWICE, lambda x: x, ALWAYS), ALWAYS)) == [("once",)]
    assert slips_in(TWICE, try_cases(TWICE, lambda x: x, ALWAYS), NEVER) == []


def test_what_is_in_all_explanations_is_recorded():
    """Catches a mistake that is counted although the student may have made another."""
    one, two, three = STEPS.slips
    assert judging._in_all([(one, two), (two, three)]) == ("negative",)
    assert judging._in_all([(one,), (two,)]) == () and judging._in_all([]) == ()
    assert judging._in_all([(one, three)]) == ("once", "clamped")


def test_more_explanations_than_two_are_none(monkeypatch):
    """Catches "either ... or ..." with the first two of three."""
    trial = try_cases(TWICE, lambda x: x, ALWAYS)
    three = [(slip,) for slip in STEPS.slips]
    for count, offered in ((2, three[:2]), (3, [])):
        monkeypatch.setattr(judging, "find_explanations", lambda *_, count=count: three[:count])
        assert slips_in(TWICE, trial, ALWAYS) == offered


def test_a_wrong_guess_is_refuted_first_where_numbers_are_wrong(monkeypatch):
    """Catches cases and outcomes in two orders, and right cases that are tried before wrong ones."""
    seen = []
    monkeypatch.setattr(judging, "find_explanations", lambda *given: seen.append(given) or [])
    trial = try_cases(TWICE, lambda x: 2 * x if len(x) > 2 else (2 * x).tolist() if len(x) > 1 else x, ALWAYS)
    slips_in(TWICE, trial, ALWAYS)
    exercise, cases, outcomes, time_left = seen[0]
    assert exercise is TWICE and len(cases[0]["x"]) == 1 and len(cases) == 6 and time_left()
    for case, outcome in zip(cases, outcomes, strict=True):
        assert outcome.value.shape == case["x"].shape


def test_a_function_that_gives_one_number_is_told_so():
    """Catches a slip that is named by chance, and a sentence on a function that was seen to give it twice."""
    zero = try_cases(TWICE, torch.zeros_like, ALWAYS)
    assert always_the_same(TWICE, zero) == "it gives 0 whatever it gets." and slips_in(TWICE, zero, ALWAYS) == []
    assert always_the_same(TWICE, replace(zero, comparisons=zero.comparisons[:3])) != ""
    assert always_the_same(TWICE, replace(zero, comparisons=zero.comparisons[:2])) == ""
    assert always_the_same(TWICE, try_cases(TWICE, lambda x: x, ALWAYS)) == ""
    assert always_the_same(TWICE, try_cases(TWICE, lambda x: 0 * x[:1].view(1, 1), ALWAYS)) == "", "another shape"
    verdict = judge(TWICE, torch.zeros_like)
    assert verdict.text.startswith("it gives 0 whatever it gets.\nFor x ") and verdict.slips == ()


def test_what_the_reference_gives_everywhere_is_no_constant_of_the_students():
    """Catches "whatever it gets" where the right result is the same in all cases as well."""
    same = replace(TWICE, boundary=lambda: [numbers(1.0), numbers(1.0), numbers(1.0)], draws=0)
    assert always_the_same(same, try_cases(same, torch.zeros_like, ALWAYS)) == ""


def test_what_does_not_matter_is_none_of_the_numbers():
    """Catches padding that makes two numbers of one."""
    arguments = {"x": Numbers("B"), "mask": Mask("B")}
    case = numbers(1.0, 2.0, 3.0) | {"mask": torch.tensor([1, 1, 0])}
    masked = replace(TWICE, arguments=arguments, relevant="mask")
    assert judging._values(masked, case, torch.tensor([7.0, 7.0, 8.0])) == {7.0}
    assert judging._values(masked, case, torch.tensor([7.0, 8.0])) == {7.0, 8.0}, "another shape has no padding"
    assert judging._values(TWICE, case, torch.tensor([7.0, 8.0])) == {7.0, 8.0}
    assert judging._values(TWICE, case, "text") == {"text"} and judging._values(TWICE, case, None) == {None}


def test_what_changes_from_call_to_call_is_told():
    """Catches chance that shows in the second call alone or in the last, and gradients that are compared for it."""
    calls = iter(range(1000))
    trial = try_cases(TWICE, lambda x: x, ALWAYS)
    told = "it gives something else when it is called again: it draws chance of its own, or keeps what it had before."
    assert judging._from_call_to_call(TWICE, lambda x: x + next(calls), trial, BOUNDARY[0]) == told
    asked = []
    assert judging._from_call_to_call(TWICE, lambda x: asked.append(1) or x, trial, BOUNDARY[0]) == ""
    assert len(asked) == 6
    last = iter([0, 0, 0, 0, 0, 1])
    assert judging._from_call_to_call(TWICE, lambda x: x + next(last), trial, BOUNDARY[0]) == told
    shapes = try_cases(TWICE, lambda x: x[:1].view(1, 1), ALWAYS)
    assert judging._from_call_to_call(TWICE, lambda x: x + next(calls), shapes, BOUNDARY[0]) == ""
    assert told in judge(TWICE, lambda x: x + random.random()).text


def test_what_is_kept_between_calls_is_named():
    """Catches a memory by half of what it should be kept by, told as an order that matters, and a list that is only read."""
    SEEN.clear()
    assert "it keeps something in `SEEN` from one call to the next" in judge(TWICE, remembered).text and len(SEEN) > 1
    assert try_cases(TWICE, remembered, ALWAYS).kept == ""


SEEN: dict[int, torch.Tensor] = {}
READ = [2]


def remembered(x):
    if len(x) not in SEEN:
        SEEN[len(x)] = READ[0] * x
    return SEEN[len(x)]


def test_an_argument_that_is_never_read_is_named():
    """Catches "it never reads its argument" of one that it reads, and the remark on a function with a slip."""
    two = Steps()

    @two.step
    def added(x, y):
        return x + 3 * y

    case = numbers(1.0, 2.0) | {"y": torch.tensor([5.0, 7.0], dtype=torch.float64)}
    arguments = {"x": Numbers("B"), "y": Numbers("B")}
    adds = replace(TWICE, steps=two, arguments=arguments, boundary=lambda: [dict(case)] * 3, draws=0)

    def unread(x, y):
        return x**2 + 11

    def wrong(x, y):
        return x**2 + y + 11

    assert "it never reads its argument `y`." in judge(adds, unread).text
    assert judge(adds, wrong).text.startswith("For x ")
    trial = try_cases(adds, lambda x, y: (x + 3 * y).tolist(), ALWAYS)
    assert judging._remark(adds, unread, trial, case, ALWAYS) == ""


def test_the_smallest_failing_case_is_simplified_from_the_smallest_that_failed():
    """Catches a search that begins at a large case, or ends in one in which the function fails otherwise."""
    trial = try_cases(TWICE, lambda x: x, ALWAYS)
    assert judging._smallest_failure(TWICE, lambda x: x, trial, NEVER)["x"].tolist() == [-6]
    assert judging._smallest_failure(TWICE, lambda x: x, trial, ALWAYS)["x"].tolist() == [1]

    def raises_where_it_is_simpler(x):
        return x if len(x) > 1 or float(x) == -6 else x / []

    trial = try_cases(TWICE, raises_where_it_is_simpler, ALWAYS)
    assert judging._smallest_failure(TWICE, raises_where_it_is_simpler, trial, ALWAYS)["x"].tolist() == [-6]


def test_an_explanation_is_what_its_parts_are():
    explanation = explain(TWICE, lambda x: x)
    assert isinstance(explanation, Explanation) and explanation.difference == Difference.VALUE
    assert (names(explanation.slips), explanation.smallest["x"].tolist(), explanation.remark) == ([("once",)], [1], "")
    assert explain(TWICE, torch.zeros_like).remark == "it gives 0 whatever it gets."


def test_a_text_is_judged_too():
    """Catches a remark on the numbers of a text."""
    words = Steps()

    @words.step
    def word(x):
        return "many" if len(x) > 1 else "one"

    spoken = replace(TWICE, steps=words, result=Text())
    assert judge(spoken, lambda x: "many" if len(x) > 1 else "one").passed
    assert judge(spoken, lambda x: "many").text.startswith("it gives 'many' whatever it gets.")


def test_a_wrong_helper_is_to_be_mended_first():
    """Catches a right function that is blamed for the wrong one that it calls."""
    scope = {"torch": torch}
    exec("def twice(x):\n    return x\n\ndef four_times(x):\n    return twice(twice(x))", scope)
    four = Steps()

    @four.step
    def result(x):
        return 4 * x

    calls = replace(TWICE, name="four times", function="four_times", steps=four, needs=(TWICE,))
    verdict = judge(calls, scope["four_times"])
    assert verdict == Verdict(
        "four times", False, "first mend `twice`, which this one calls. With a right one in its place it is right.",
        cases=6, first=("twice",), right_after=True,
    )  # fmt: skip
    exec("def four_times(x):\n    return -twice(twice(x))", scope)
    verdict = judge(calls, scope["four_times"])
    assert verdict.text.startswith(
        "first mend `twice`, which this one calls. With a right one in its place it is wrong too: "
    )
    assert "For x 1 it gives -4, expected 4." in verdict.text
    assert (verdict.passed, verdict.right_after, verdict.first) == (False, False, ("twice",))
    exec("def twice(x):\n    return 2 * x", scope)
    assert "For x 1 it gives -4, expected 4." in judge(calls, scope["four_times"]).text
    assert judge(calls, scope["four_times"]).first == ()
    assert judging._first_failure(TWICE, lambda x: x) and judging._first_failure(TWICE, right) is None
    exec("def twice(x):\n    return x\n\ndef four_times(x):\n    twice(x)\n    return 4 * x", scope)
    assert judge(calls, scope["four_times"]).text == "right in all 6 cases.", "whatever it calls"


def test_a_blank_helper_is_to_be_filled_in_first():
    """Catches a function that is told to be blank because one that it calls is, and the other way round."""
    scope = {"torch": torch}
    exec("def twice(x):\n    raise NotImplementedError\n\ndef four_times(x):\n    return twice(twice(x))", scope)
    four = Steps()

    @four.step
    def result(x):
        return 4 * x

    calls = replace(TWICE, name="four times", function="four_times", steps=four, needs=(TWICE,))
    verdict = judge(calls, scope["four_times"])
    assert verdict.text == "first fill in `twice`, which this one calls. With a right one in its place it is right."
    assert (verdict.first, verdict.right_after, verdict.mark) == (("twice",), True, "✗")
    exec("def four_times(x):\n    twice\n    raise NotImplementedError", scope)
    verdict = judge(calls, scope["four_times"])
    assert (verdict.text, verdict.first, verdict.mark) == ("it is not filled in yet.", (), "○")


def test_two_helpers_are_named_both():
    one, other = replace(TWICE, function="a"), replace(TWICE, function="b")
    text = judging._helpers_first(Verdict("c", True, "right in all 3 cases.", 3), [], [one, other]).text
    assert text == "first mend `a` and `b`, which this one calls. With a right one in its place it is right."
    text = judging._helpers_first(Verdict("c", True, "right in all 3 cases.", 3), [one], [other]).text
    assert text.startswith("first fill in `a` and mend `b`, which")


def test_timers_end_and_within_another_with_it(monkeypatch):
    """Catches a timer that never ends, one that counts the wrong clock, and one that outlives the one around it."""
    now = {"computing": 10.0, "clock": 100.0}
    monkeypatch.setattr(time, "process_time", lambda: now["computing"])
    monkeypatch.setattr(time, "monotonic", lambda: now["clock"])
    timer, clock = judging._start_timer(2.0), judging._start_clock(3.0)
    inside = judging._start_timer(9.0, within=timer)
    assert timer() and clock() and inside()
    now["computing"] = 12.0
    assert not timer() and not inside() and clock()
    now["clock"] = 103.0
    assert not clock()


def test_the_time_for_a_verdict_ends_by_either_clock(monkeypatch):
    """Catches a judge that waits for a function that sleeps, or that computes, beyond its time."""
    for clock in ("process_time", "monotonic"):
        moments = iter(range(0, 10_000, 7))
        with monkeypatch.context() as patched:
            patched.setattr(time, clock, lambda moments=moments: next(moments))
            assert judge(TWICE, right).cases == 4


def test_the_limits_leave_time_for_the_next_step():
    assert judging.TIME_FOR_SLIPS < judging.TIME_FOR_EXPLANATION < judging.TIME_FOR_VERDICT < 8


@pytest.mark.parametrize("times", [6, 9])
def test_a_function_that_fails_no_more_when_it_is_called_again_is_told_as_it_failed(times):
    """Catches "it gives 2, expected 2", and an error of the judge, where a function keeps count of its calls."""
    calls = []

    def wrong_at_first(x):
        calls.append(x)
        return x if len(calls) <= times else 2 * x

    verdict = judge(TWICE, wrong_at_first)
    assert not verdict.passed and "For x -6 it gives -6, expected -12." in verdict.text


def test_the_smallest_case_is_searched_in_the_time_of_the_verdict():
    trial = try_cases(TWICE, lambda x: x, ALWAYS)
    assert judging._explain_trial(TWICE, lambda x: x, trial, NEVER).smallest["x"].tolist() == [-6]


def test_a_remark_is_made_where_no_slip_explains_the_function(monkeypatch):
    """Catches a remark that hides a slip, and two arguments of which one is named."""
    monkeypatch.setattr(judging, "unread", lambda exercise, function: ["x", "y"])
    assert explain(TWICE, lambda x: x).remark == ""
    assert explain(TWICE, lambda x: x**2 + 11).remark == "it never reads its argument `x` or `y`."


def test_padding_does_not_make_a_constant_of_many_numbers():
    """Catches a constant that is not seen because the padding differs, and padding that the reference is read with."""
    case = numbers(1.0, 2.0, 3.0) | {"mask": torch.tensor([1, 1, 0])}
    masked = replace(
        TWICE,
        arguments={"x": Numbers("B"), "mask": Mask("B")},
        relevant="mask",
        boundary=lambda: [dict(case)] * 3,
        draws=0,
    )
    constant = try_cases(masked, lambda x, mask: torch.tensor([7.0, 7.0, 8.0]), ALWAYS)
    assert always_the_same(masked, constant) == "it gives 7 whatever it gets."


def test_no_gradient_is_asked_for_where_calls_are_compared():
    """Catches chance that is looked for at the price of six backward passes."""
    asked = []
    with_gradient = replace(TWICE, gradient="x")
    trial = try_cases(with_gradient, lambda x: x, ALWAYS)
    judging._from_call_to_call(with_gradient, lambda x: asked.append(x.requires_grad) or x, trial, BOUNDARY[0])
    assert asked == [False] * 6


def test_a_name_that_nobody_knows_is_no_slip():
    """Catches a known mistake that is told first, because it raises in the same cases as a typo."""
    divides = Steps(dict(STEPS.steps))
    divides.slip("doubled", "You divide by 0.")(lambda x: 1 // 0)
    exercise = replace(TWICE, steps=divides)
    assert "You divide" in judge(exercise, exercise.reference(tuple(divides.slips))).text

    def misspelt(x):
        raise NameError("name 'xs' is not defined")

    verdict = judge(exercise, misspelt)
    assert verdict.slips == () and verdict.text.startswith("it raised NameError")  # and not "it never reads `x`"
