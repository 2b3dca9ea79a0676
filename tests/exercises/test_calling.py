"""One call of a student's function: what came back, what it changed besides, where it raised."""

import sysconfig
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from torch import nn

from shared.exercises import calling
from shared.exercises.arguments import Kind, Mask, Numbers
from shared.exercises.calling import GENERATOR, IN_PLACE, Outcome, Unfinished, call, not_filled_in
from shared.exercises.exercise import Exercise
from shared.exercises.results import Number, TensorOf, Text
from shared.exercises.stand_ins.games import Played
from shared.exercises.stand_ins.letters import letters
from shared.exercises.steps import Steps

pytestmark = pytest.mark.usefixtures("shapes_unchecked")
SQUARES = Exercise(
    "squares", "squares", "", Steps(), {"x": Numbers("B")}, TensorOf("B"), draw=lambda draw: {}, gradient="x"
)


def case(**others) -> dict:
    return {"x": torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)} | others


def outcome(function, exercise: Exercise = SQUARES, with_gradient: bool = True, **others) -> Outcome:
    return call(exercise, function, case(**others), with_gradient)


def function_of(source: str, filename: str = "student.py"):
    """The function f of a student's cell; its lines are found as those of a notebook are."""
    import linecache

    scope = {"torch": torch, "np": np}
    exec(compile(source, filename, "exec"), scope)
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    return scope["f"]


def test_a_result_has_its_value_and_its_gradient():
    """Catches a gradient of the plain sum, in which two mistakes may cancel, and a value with its graph."""
    found = outcome(lambda x: x.float() ** 2)
    assert found.value.dtype == found.gradient.dtype == torch.float64 and not found.value.requires_grad
    assert found.value.tolist() == [1, 4, 9] and found.gradient.tolist() == [1, 4, 9]  # 2 x times 0.5, 1, 1.5
    assert (found.raised, found.where, found.harm, found.complaint, found.blank) == (None, "", "", "", False)
    assert vars(Outcome()) == vars(found) | {"value": None, "gradient": None}
    assert outcome(lambda x: x**2, with_gradient=False).gradient is None
    assert outcome(lambda x: x**2, replace(SQUARES, gradient=None)).gradient is None
    assert outcome(lambda x: (x**2).detach()).gradient is None
    assert outcome(lambda x: "a", replace(SQUARES, result=Text())).value == "a"
    assert outcome(lambda x: (x**2).sum(), replace(SQUARES, result=Number())).gradient.tolist() == [1, 2, 3]


def test_the_gradient_by_two_arguments_is_one_row():
    """Catches the gradient by the first alone, and none where one of them is not read."""
    both = replace(SQUARES, arguments={"x": Numbers("B"), "y": Numbers("B")}, gradient="x y")
    y = torch.tensor([4.0, 5.0, 6.0])
    assert outcome(lambda x, y: x * y, both, y=y).gradient.tolist() == [2, 5, 9, 0.5, 2, 4.5]
    assert outcome(lambda x, y: 2 * y, both, y=y).gradient.tolist() == [0, 0, 0, 1, 2, 3]
    found = outcome(lambda x, y: 2 * y, replace(both, gradient="x"), y=y.requires_grad_(True))
    assert found.gradient.tolist() == [0, 0, 0]


def test_the_gradient_by_a_model_is_that_by_its_parameters():
    model = nn.Linear(3, 1).double()
    with_model = replace(SQUARES, arguments={"x": Numbers("B"), "m": Kind()}, result=TensorOf("A"), gradient="m")
    assert outcome(lambda x, m: m(x), with_model, m=model).gradient.tolist() == [0.5, 1, 1.5, 0.5]
    assert all(p.grad is None for p in model.parameters())


def test_what_does_not_matter_is_zero():
    """Catches padding that is compared, and a mask that is laid on a result of another shape."""
    masked = replace(SQUARES, arguments={"x": Numbers("B"), "mask": Mask("B")}, relevant="mask")
    mask = torch.tensor([1, 1, 0])
    found = outcome(lambda x, mask: x**2, masked, mask=mask)
    assert found.value.tolist() == [1, 4, 0] and found.gradient.tolist() == [1, 4, 0]
    assert outcome(lambda x, mask: (x**2)[None], masked, mask=mask).value.tolist() == [[1, 4, 9]]


def test_a_case_stays_as_it_was():
    """Catches a case that one function changes for the next, gradients that stay on it, and a list copied on its surface."""
    given = case(rows=[[1], [2]], table=np.zeros(2))
    before = {name: str(value) for name, value in given.items()}

    def f(x, rows, table):
        rows[0].append(5)
        table += 1
        return x**2

    wide = replace(SQUARES, arguments={"x": Numbers("B"), "rows": Kind(), "table": Kind()})
    assert "its argument `rows` in place" in call(wide, f, given).harm
    assert {name: str(value) for name, value in given.items()} == before and not given["x"].requires_grad


@dataclass
class Row:
    text: str
    numbers: torch.Tensor


class Plain:
    pass


LINEAR = nn.Linear(2, 2)
ONE, NAN = torch.ones(2), torch.tensor([torch.nan, 1.0])


@pytest.mark.parametrize(
    ("now", "before", "same"),
    [
        (ONE, torch.ones(2), True),
        (ONE, torch.ones(1, 2), False),
        (ONE, torch.tensor([1.0, 2.0]), False),
        (NAN, NAN.clone(), True),
        (ONE, np.ones(2), False),
        (np.array([np.nan]), np.array([np.nan]), True),
        (np.array([1]), np.array([1]), True),
        (np.array([1.0]), np.array([2.0]), False),
        (np.array(["a"]), np.array(["a"]), True),
        (Row("a", ONE), Row("a", torch.ones(2)), True),
        (Row("a", ONE), Row("a", 2 * ONE), False),
        (Row("a", ONE), Row("b", ONE), False),
        ({"a": ONE, "b": 1}, {"a": torch.ones(2), "b": 1}, True),
        ({"a": ONE, "b": 1}, {"a": ONE, "b": 2}, False),
        ({"a": 1}, {"b": 1}, False),
        ([1, ONE], [1, torch.ones(2)], True),
        ([1, 2], [1], False),
        ((1, 2), (1, 3), False),
        ([1], (1,), False),
        (3, 3, True),
        (3, 4, False),
        (Plain(), Plain(), True),
        (LINEAR, nn.Linear(2, 2), False),
        (LINEAR, LINEAR, True),
    ],
    ids=range(24),
)
def test_what_was_changed_is_found_in_any_value(now, before, same):
    """Catches a change in a place that nobody looks at, and a nan that seems to change."""
    assert calling._same(now, before) is same


def changed_model(change):
    import copy

    model = copy.deepcopy(LINEAR)
    change(model)
    return model


@pytest.mark.parametrize(
    ("change", "same"),
    [
        (lambda m: None, True),
        (lambda m: m.eval(), False),
        (lambda m: m.requires_grad_(False), False),
        (lambda m: m.bias.data.add_(1), False),
        (lambda m: m.weight.data.add_(1), False),
        (lambda m: m.register_buffer("b", torch.ones(1)), False),
    ],
)
def test_a_model_is_compared_in_all_that_a_student_may_change(change, same):
    assert calling._same_module(changed_model(change), LINEAR) is same


def test_a_model_is_copied_once_while_nobody_changes_it():
    """Catches a model that is copied in every case, which takes seconds, and a changed copy that is used again."""
    model = nn.Linear(2, 2)
    first = calling._copied(model)
    assert first is not model and calling._same_module(first, model) and calling._copied(model) is first
    first.weight.grad = torch.ones(2, 2)
    second = calling._copied(model)
    assert second is not first and second is calling._copied(model)
    second.eval()
    third = calling._copied(model)
    assert third is not second and calling._copied(nn.Linear(2, 2)) is not third
    calling._forget_copies()
    assert calling._copied(model) is not third and calling.COPIES[id(model)][0] is model


def test_a_model_that_a_function_changes_is_copied_anew():
    """Catches a model that a second function finds as the first has left it."""
    model = nn.Linear(3, 1).double()
    with_model = replace(SQUARES, arguments={"x": Numbers("B"), "m": Kind()}, gradient=None, result=TensorOf("A"))

    def f(x, m):
        m.bias.data += 1
        return m(x)

    assert "its argument `m` in place" in outcome(f, with_model, m=model).harm and not calling.COPIES
    assert outcome(lambda x, m: m(x), with_model, m=model).value.item() == pytest.approx(model(case()["x"]).item())


def test_harm_is_told_and_the_rest_is_compared_all_the_same():
    """Catches a setting that stays for everything after, and a result that is lost with the harm."""
    in_place = outcome(lambda x: x.detach().mul_(2), replace(SQUARES, gradient=None))
    assert in_place.harm == (
        "it changes its argument `x` in place. Work on a copy: what uses the argument afterwards gets something else."
    )
    assert in_place.value.tolist() == [2, 4, 6] and in_place.raised is None

    def switched_off(x):
        return x.requires_grad_(False) ** 2

    found = outcome(switched_off)
    assert found.harm == (
        "it switches off the gradient of an argument, `requires_grad_(False)`, for everybody who uses it afterwards. "
        "`detach` gives a tensor that has none."
    )
    assert found.raised is None and found.value.tolist() == [1, 4, 9]

    def without_recording(x):
        torch.set_grad_enabled(False)
        return x**2

    found = outcome(without_recording)
    assert (
        torch.is_grad_enabled() and found.harm.startswith("it changes torch's ") and found.value.tolist() == [1, 4, 9]
    )
    assert found.harm.endswith(" for everything that comes after.") and found.gradient is None

    def backward(x):
        y = x**2
        y.sum().backward()
        return y

    found = outcome(backward)
    assert found.harm == "it calls `backward` itself. Return the loss; the training loop makes the backward pass."
    assert found.value.tolist() == [1, 4, 9] and found.gradient is None


def test_a_setting_is_restored_after_an_error_too():
    def f(x):
        torch.set_grad_enabled(False)
        raise KeyError

    assert outcome(f).raised and torch.is_grad_enabled()


def test_a_generator_is_named_before_it_is_called():
    words = (
        "it has a `yield` and so gives a generator, of which nothing is computed before somebody reads it. `return` the "
        "result instead, a list where several things are asked for."
    )
    assert outcome(function_of("def f(x):\n    yield x")) == Outcome(complaint=words) and words == GENERATOR


def test_what_is_no_result_is_a_complaint():
    assert outcome(lambda x: None) == Outcome(complaint="it returns None. Is the `return` missing?")


def test_an_error_is_told_with_its_line():
    """Catches a line of a library told as the student's, and the line that called in the place of the one that raised."""
    error = outcome(function_of("def g(x):\n    return x / y\n\ndef f(x):\n    return g(x)"))
    assert error.raised == "it raised NameError: name 'y' is not defined"
    assert error.where == ", in line 2: `return x / y`" and not error.blank and error.value is None
    long = outcome(function_of(f"def f(x):\n    return x.{'a' * 90}"))
    assert long.where == f", in line 2: `return x.{'a' * 68}...`"
    through_torch = outcome(function_of("def f(x):\n    return torch.nn.functional.layer_norm(x, (7,))", "other.py"))
    assert through_torch.where.startswith(", in line 2: `return torch.nn")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("a.\nb"), "a"),
        (ValueError("wait..."), "wait..."),
        (ValueError("a" * 161), "a" * 157 + "..."),
        (ValueError("  a  "), "a"),
        (ValueError("\n" * 1999 + "b" * 3), "b"),
        (ValueError(), "no message"),
        (ValueError("it was X."), "it was X"),
    ],
    ids=range(7),
)
def test_the_message_of_an_error_is_one_short_line(error, words):
    assert calling._message(error) == words


def test_an_error_that_cannot_be_shown_is_told_all_the_same():
    class Odd(Exception):
        def __str__(self):
            raise RuntimeError

    def f(x):
        raise Odd

    assert outcome(f).raised == "it raised Odd: a message that cannot be shown"


def test_a_blank_function_is_no_error():
    """Catches an unfilled exercise that is told as an error, and one that another one's blank is taken for."""
    assert not_filled_in(NotImplementedError()) == "it is not filled in yet"
    assert not_filled_in(NotImplementedError("Exercise 2.")) == "it is not filled in yet (Exercise 2)"
    found = outcome(function_of("def f(x):\n    raise NotImplementedError"))
    assert found == Outcome(raised="it is not filled in yet", blank=True)


def test_the_end_of_the_time_goes_through():
    """Catches a function that goes on after its time, because its end was taken for an error of its own."""

    def f(x):
        raise Unfinished

    with pytest.raises(Unfinished):
        outcome(f)


def test_an_argument_changed_where_torch_forbids_it_is_named():
    found = outcome(function_of("def f(x):\n    x[0] = 1\n    return x\n"))
    words = "it changes an argument in place, which torch forbids where a gradient is taken by it; work on a copy"
    assert found.raised == IN_PLACE == words and found.where == ", in line 2: `x[0] = 1`"


def test_an_error_after_the_return_is_about_the_result():
    """Catches the line of the loop around it, told to a student whose function had returned."""
    library = f"{calling.SHARED}/loop.py"
    looped = replace(SQUARES, call=function_of("def f(function, own):\n    return function(**own)['a']", library))
    found = outcome(function_of("def f(x):\n    return 3"), looped)
    assert found.raised == "what it returns cannot be used (TypeError: 'int' object is not subscriptable)"
    assert found.where == ""
    wrong_call = outcome(function_of("def f():\n    return 3"))
    assert wrong_call.raised == "it raised TypeError: f() takes 0 positional arguments but 1 was given"
    assert wrong_call.where == ""
    reference = function_of("def f(x):\n    return 3")
    reference.is_reference = True
    assert outcome(reference, looped).raised.startswith("it raised TypeError: 'int'")
    raises = replace(SQUARES, call=function_of("def f(function, own):\n    return {}['a']", library))
    assert outcome(Plain(), raises).raised == "it raised KeyError: 'a'", "a class, whose lines nobody knows"


def test_a_students_own_lines_stand_in_no_library():
    library = sysconfig.get_path("stdlib")
    others = (f"{library}/ast.py", f"{calling.TORCH}/x.py", f"{calling.SHARED}/kl.py", "<frozen a>")
    assert not any(map(calling._own, (*others, "/a/site-packages/b.py")))
    assert calling._own("<ipython-input-3>") and calling._own("/home/a/own.py")
    assert calling.SHARED.endswith("/shared")


def test_the_type_is_told_beside_the_value():
    """Catches a list that passes for a tensor, because what is wrong with its type is lost on the way."""
    found = outcome(lambda x: x.tolist())
    assert found.value.tolist() == [1, 2, 3] and found.complaint.startswith(
        "it returns a list of floats; return a tensor"
    )


def test_an_error_of_the_gradient_is_an_error_where_no_harm_was_done():
    """Catches a gradient that is missing without a word: only a second backward pass may fail in silence."""

    class Broken(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            raise RuntimeError("no backward here")

    assert "it raised RuntimeError: no backward here" in outcome(lambda x: Broken.apply(x)).raised


def test_a_gradient_is_weighted_as_exactly_as_its_value():
    """Catches weights in float32 of a value in float64, by which right gradients differ."""
    many = {"x": torch.ones(11, dtype=torch.float64)}
    weights = call(SQUARES, lambda x: 1 * x, many).gradient
    assert torch.allclose(weights, torch.linspace(0.5, 1.5, 11, dtype=torch.float64), rtol=0, atol=1e-15)


def test_the_name_of_an_error_is_cut_and_its_lines_are_the_innermost():
    error = type("E" * 61, (Exception,), {})

    def raises(x):
        raise error

    assert outcome(raises).raised == f"it raised {'E' * 57}...: no message"
    deep = outcome(
        function_of(
            "def g(x, n):\n    if n:\n        return g(x, n - 1)\n    return x / y\n\ndef f(x):\n    return g(x, 70)",
            "deep.py",
        )
    )
    assert deep.where == ", in line 4: `return x / y`"


def test_the_lines_of_torch_are_not_the_students():
    import torch as installed

    assert calling.TORCH == installed.__path__[0]


def test_no_error_of_a_stand_in_is_told_as_the_students():
    """Catches "'Played' object has no attribute", of a class that no page names, and an error in the check's own lines."""
    asks = outcome(
        function_of("def f(x):\n    return x.generate(3)"), replace(SQUARES, call=lambda f, own: f(Played(1, 7, 4)))
    )
    assert asks.raised.startswith("it asks for `.generate` of what stands in for the notebook's own")
    breaks = outcome(function_of("def f(x):\n    return x([3])"), replace(SQUARES, call=lambda f, own: f(letters)))
    assert breaks.raised.startswith("what stands in for a function of the notebook's") and "line 2" in breaks.where
    assert outcome(function_of("def f(x):\n    return x.generate(3)")).raised.startswith(
        "it raised AttributeError: 'Tensor'"
    )


def test_a_gradient_by_a_model_that_does_not_learn_is_harm():
    """Catches a reference that is scored outside of `no_grad`, which the optimiser's model does not show."""
    models = {"model": nn.Linear(1, 1), "reference": nn.Linear(1, 1)}
    both = replace(SQUARES, arguments=dict.fromkeys(models, Kind()), result=Number(), gradient="model")
    x = torch.ones(1)
    assert "by `reference`" in call(both, lambda model, reference: (model(x) - reference(x)).sum(), models).harm
    assert call(both, lambda model, reference: (model(x) - reference(x).detach()).sum(), models).harm == ""
