"""Type and harm are decided outside of a box, by what came out of it."""

import json

import numpy as np
import pytest
import torch

from checker.grading.box.inside import exchange
from checker.grading.judge.oracle.outside import outcome_outside
from shared.exercises import calling
from shared.exercises.arguments import Numbers
from shared.exercises.exercise import Exercise
from shared.exercises.results import ByName, Floats, Number, Result, TensorOf, Text
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def doubled(x):
    return 2 * x


def exercise(result: Result) -> Exercise:
    return Exercise("twice", "twice", "", STEPS, {"x": Numbers("B")}, result, draw=None, gradient="x")


def outside(function, result: Result = TensorOf("B"), case=None) -> calling.Outcome:
    """The outcome of a call, decided from the JSON that leaves a box."""
    case = {"x": torch.tensor([1.0, -2.0])} if case is None else case
    record = json.loads(json.dumps(exchange.outcome_of(function, case, vars(exercise(result)))))
    return outcome_outside(record, exercise(result), case)


RESULTS = {
    "a tensor": (TensorOf("B"), lambda x: 2 * x),
    "a tensor of ints": (TensorOf("B"), lambda x: torch.tensor([1, 2])),
    "half precision": (TensorOf("B"), lambda x: x.to(torch.bfloat16)),
    "a list in place of a tensor": (TensorOf("B"), lambda x: [1.0, 2.0]),
    "rewards": (Floats(), lambda x: [0.0, 1.0]),
    "rewards that are ints": (Floats(), lambda x: [0, 1]),
    "rewards of several kinds": (Floats(), lambda x: (np.float32(1), torch.tensor(2.0), True)),
    "a list with a text": (Floats(), lambda x: [1.0, "a"]),
    "an array of booleans": (Floats(), lambda x: np.array([True, False])),
    "a generator": (Floats(), lambda x: (y for y in (1.0, 2.0))),
    "a number": (Number(), lambda x: np.float64(2)),
    "a truth": (Number(), lambda x: True),
    "an array without axes": (Number(), lambda x: np.array(3.0)),
    "a number beyond all tensors": (Number(), lambda x: 10**30),
    "a text": (Text(), lambda x: "a\ud800"[:1]),
    "no text": (Text(), lambda x: 1),
    "nothing": (TensorOf("B"), lambda x: None),
    "a tuple of tensors": (TensorOf("B"), lambda x: (x, x)),
    "a dict": (ByName("E B", names=("a", "b")), lambda x: {"a": x, "b": 2 * x}),
    "a dict with another key": (ByName("E B", names=("a", "b")), lambda x: {"a": x}),
    "an object": (TensorOf("B"), lambda x: object()),
}


@pytest.mark.parametrize("kind", RESULTS)
def test_a_result_is_read_outside_as_it_is_inside(kind, shapes_unchecked):
    """Catches an honest result that loses its type on the way, and another sentence than the notebook's check said."""
    result, function = RESULTS[kind]
    case = {"x": torch.tensor([1.0, -2.0])}
    inside = calling.call(exercise(result), function, case)
    found = outside(function, result)
    assert (found.complaint or None, found.raised) == (inside.complaint or None, inside.raised)
    same = torch.equal if isinstance(inside.value, torch.Tensor) else lambda one, other: one == other
    assert same(found.value, inside.value) and (found.gradient is None) == (inside.gradient is None)


def in_place(x):
    return x.mul_(2)


def backward(x):
    (2 * x).sum().backward()
    return 2 * x


def switched_off(x):
    y = 2 * x
    x.requires_grad_(False)
    return y


def listed(x):
    return (2 * x).tolist()


@pytest.mark.parametrize(
    ("function", "gradient_is_asked"),
    [(in_place, False), (backward, True), (switched_off, True), (listed, False), (listed, True)],
)
def test_what_is_patched_inside_decides_nothing(function, gradient_is_asked, monkeypatch, shapes_unchecked):
    """Catches points for a function that replaces what looks at its result and its arguments beside it."""
    monkeypatch.setattr(calling, "_harm", lambda *given: "")
    monkeypatch.setattr(calling, "GRADIENT_SWITCHED_OFF", "")
    case = {"x": torch.tensor([1.0, -2.0], requires_grad=False)}
    entry = vars(exercise(TensorOf("B"))) | {"gradient": "x" if gradient_is_asked else None}
    with monkeypatch.context() as inside:
        inside.setattr(TensorOf, "read", lambda result, value: (torch.as_tensor(value).double(), ""))
        record = json.loads(json.dumps(exchange.outcome_of(function, case, entry)))
    assert record["harm"] == record["complaint"] == ""
    monkeypatch.undo()
    found = outcome_outside(record, exercise(TensorOf("B")), case)
    assert found.raised or found.harm or found.complaint


@pytest.mark.parametrize(
    "record",
    [
        {"value": {"shape": [2], "float64": ""}},
        {"result": {"tensor": "float32", "shape": [2], "float64": "AAAAAAAAAEAAAAAAAAAQwA=="}},
        {"result": {"tensor": "Tensor", "shape": [2], "float64": "AAAAAAAAAEAAAAAAAAAQwA=="}, "left": {"x": 1}},
        {"result": {"list": "x"}, "left": []},
        {"result": {"dict": [1, [2]]}},
        {"result": {"list": [{"list": [{"list": [{"list": [{"list": [{"list": [{"list": [{"list": []}]}]}]}]}]}]}]}},
    ],
)
def test_a_record_that_somebody_made_up_is_wrong(record):
    """Catches a record without what is decided on, which is believed, and one on which the judge stumbles."""
    found = outcome_outside(record, exercise(TensorOf("B")), {"x": torch.tensor([1.0, -2.0])})
    assert found.harm or found.complaint


def test_an_argument_of_every_kind_that_is_left_alone_is_no_harm(shapes_unchecked):
    """Catches an honest function that is told to change a model, a mask or a nan."""
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout())
    case = {
        "x": torch.tensor([1.0, float("nan")]),
        "model": model,
        "rows": [{"prompt": "a", "n": (1, None)}],
        "array": np.array([0.5, np.nan]),
        "asked": doubled,
    }
    entry = vars(exercise(TensorOf("B"))) | {"call": lambda function, case: function(**case)}
    left_alone = exchange.outcome_of(lambda x, **others: 2 * x, case, entry)
    assert outcome_outside(left_alone, exercise(TensorOf("B")), case).harm == ""
    for change in (
        lambda case: case["rows"][0].update(prompt="b"),
        lambda case: case["model"].eval(),
        lambda case: case["array"].fill(0.0),
        lambda case: case["model"][0].weight.data.zero_(),
    ):
        changed = exchange.outcome_of(lambda change=change, **case: (change(case), 2 * case["x"])[1], case, entry)
        assert "in place" in outcome_outside(changed | {"harm": ""}, exercise(TensorOf("B")), case).harm
