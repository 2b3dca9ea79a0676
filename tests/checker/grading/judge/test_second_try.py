"""The second try of functions that call wrong ones, with stand-ins for slices and boxes."""

from types import SimpleNamespace

import pytest

from checker.grading.judge import hidden_cases
from checker.grading.judge.hidden_cases import SlicedFunction, _better_of, sliced_functions, verdicts
from checker.grading.judge.reference_process import HiddenCases, HiddenVerdict
from checker.points.items import Check

RIGHT, WRONG = HiddenVerdict(True, "right."), HiddenVerdict(False, "wrong.", share=0.25)


@pytest.mark.parametrize(
    ("second", "found"),
    [
        (RIGHT, HiddenVerdict(True, "right, once the functions that it calls are right.")),
        (
            HiddenVerdict(False, "a solution, word for word", share=0.5),
            HiddenVerdict(
                False, "wrong.\nOnce the functions that it calls are right, it earns 50 % of its points.", share=0.5
            ),
        ),
        (HiddenVerdict(False, "the same.", share=0.25), WRONG),
        (HiddenVerdict(False, "less.", share=0.0), WRONG),
    ],
)
def test_the_second_try_counts_where_it_earned_more(second, found):
    """Catches a text about other functions where they made no difference, points that a second try takes, and a word
    that came out of the box in which the solutions lie.
    """
    assert _better_of(WRONG, second) == found


class Function:
    """Stands for the slices of a function. mended: what it is with right functions in the place of wrong ones."""

    def __init__(self, name, mended):
        self.program = name
        self.mended = mended
        self.wrong = None

    def mended_program(self, wrong):
        self.wrong = wrong
        return self.mended

    def to_run(self, program):
        return program


def test_wrong_functions_are_tried_again_one_by_one(monkeypatch):
    """Catches a class that stops at the first right function or the first that calls nothing, and a box for several."""
    checks = {name: SimpleNamespace(name=name, function=name.upper()) for name in "abcd"}
    functions = {
        name: Function(name, mended)
        for name, mended in (("a", None), ("b", None), ("c", "c mended"), ("d", "d mended"))
    }
    by_check = {Key(checks[name]): functions[name] for name in "abcd"}
    first = dict(zip(by_check, (RIGHT, WRONG, WRONG, WRONG), strict=True))
    tried = []

    def judged(programs, grader):
        tried.append(programs)
        return first if len(tried) == 1 else {key: RIGHT for key in by_check if programs[0].startswith(key.name)}

    monkeypatch.setattr(hidden_cases, "sliced_functions", lambda *_: by_check)
    monkeypatch.setattr(hidden_cases, "judge_in_boxes", judged)
    references = SimpleNamespace(cases=lambda names: None)
    found = verdicts(None, SimpleNamespace(checks=()), references, None, None)
    assert tried == [["a", "b", "c", "d"], ["c mended"], ["d mended"]]
    assert [verdict.passed for verdict in found.values()] == [True, False, True, True]
    assert functions["c"].wrong == frozenset("BCD") and functions["a"].wrong is None


class Key:
    """Stands for a check, as a key."""

    def __init__(self, check):
        self.name, self.function = check.name, check.function


def test_the_functions_of_a_sheet_are_those_with_hidden_cases():
    """Catches a task of one's own that may import nothing, and names that a function of another check is given."""
    kl, loss, own = (Check(name, name) for name in ("kl", "loss", "own"))
    sheet = SimpleNamespace(checks=(kl, loss, own), definitions="worked")
    cases = HiddenCases(("kl", "own"), "", (), ("own",), {"kl": ["tokenizer"]})
    found = sliced_functions("student", sheet, cases)
    assert found == {
        kl: SlicedFunction(kl, "student", "worked", ("tokenizer",), False),
        own: SlicedFunction(own, "student", "worked", (), True),
    }


@pytest.fixture
def sliced(monkeypatch):
    """A function of a check, whose slices are written down as what they were asked with."""
    asked = []

    def slice_of(function, student, worked, **options):
        asked.append((function, student, worked, options))
        is_worked = student == "worked"
        names = frozenset({"kl", "helper"})
        imports = frozenset({"torch"}) if is_worked else frozenset({"torch", "os"})
        mended = bool(options.get("with_solutions_of"))
        return SimpleNamespace(names=names, imports=imports, problem="", statements=("mended",) if mended else ("own",))

    monkeypatch.setattr(hidden_cases, "slice_of", slice_of)
    check = SimpleNamespace(function="kl", beside=("beside",))
    return lambda all_: SlicedFunction(check, "student", "worked", ("tokenizer",), all_), asked, check


def test_a_slice_is_asked_for_with_what_stands_beside_it(sliced):
    """Catches a function without the names that exist whenever it is called."""
    made, asked, _ = sliced
    function = made(False)
    assert function.solution and function.program
    (name, first, worked, options), (other, student, known, handed_in) = asked
    assert (name, first, worked) == ("kl", "worked", "worked") and (other, student, known) == (
        "kl",
        "student",
        "worked",
    )
    assert options == {"beside": ("beside",), "supplied_names": ("tokenizer",)}
    assert handed_in.pop("find_forbidden") == function._forbidden_imports
    assert handed_in == {"with_solutions_of": frozenset()} | options


def test_a_task_of_ones_own_may_import_what_it_likes(sliced):
    made, _, check = sliced
    assert made(True).allowed_imports == {"torch", "os"} and made(False).allowed_imports == {"torch"}
    assert made(True)._forbidden_imports(["os"]) == []
    for own in (True, False):
        function = made(own)
        ready = function.to_run("program")
        assert (ready.check, ready.program, ready.has_reference) == (check, "program", not own)
        assert ready.allowed_imports == function.allowed_imports


def test_a_function_is_mended_where_that_makes_another_program_of_it(sliced, monkeypatch):
    """Catches a second box for the same program, and for one that has a fault of its own."""
    made, _, _ = sliced
    function = made(False)
    assert function.mended_program(frozenset({"kl", "other"})) is None, "it calls none of them"
    assert function.mended_program(frozenset({"helper"})).statements == ("mended",)
    for problem, statements in (("a fault", ("mended",)), ("", ("own",))):
        same = SimpleNamespace(problem=problem, statements=statements)
        monkeypatch.setattr(SlicedFunction, "_student_slice", lambda self, with_solutions_of, same=same: same)
        assert function.mended_program(frozenset({"helper"})) is None
