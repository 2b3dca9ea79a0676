"""The record of an outcome and the outcome of a record, field by field."""

import json
from types import SimpleNamespace

import pytest

pytest.importorskip("torch")

import torch

from checker.grading.box.inside import exchange
from checker.grading.box.inside.exchange import decoded, encoded, outcome_of
from shared.exercises.calling import Outcome
from shared.exercises.results import TensorOf

pytestmark = pytest.mark.usefixtures("shapes_unchecked")


def test_the_record_is_as_the_module_shows_it():
    outcome = Outcome(value=torch.tensor([0.5, -0.5]), gradient=torch.tensor([[1.0], [2.0]]))
    assert encoded(outcome) == {
        "raised": None, "where": "", "harm": "", "complaint": "", "blank": False,
        "value": {"shape": [2], "float64": "AAAAAAAA4D8AAAAAAADgvw=="},
        "gradient": {"shape": [2, 1], "float64": "AAAAAAAA8D8AAAAAAAAAQA=="},
    }  # fmt: skip


OUTCOMES = [
    Outcome(raised="it raised E", where=", in line 2", harm="it changes x.", complaint="it is a list.", blank=True),
    Outcome(value="a text"),
    Outcome(value="", complaint="none"),
    Outcome(value=torch.tensor([[0.1, float("nan")], [float("-inf"), 1e-300]], dtype=torch.float64)),
    Outcome(value=torch.tensor(True), gradient=torch.zeros(0, 3), harm="a", where="b"),
]


@pytest.mark.parametrize("outcome", OUTCOMES, ids=range(len(OUTCOMES)))
def test_an_outcome_comes_back(outcome):
    """Catches a field lost on the way, or put into another's place."""
    back = decoded(json.loads(json.dumps(encoded(outcome))))
    words = ("raised", "where", "harm", "complaint", "blank")
    assert [getattr(back, name) for name in words] == [getattr(outcome, name) for name in words]
    for name in ("value", "gradient"):
        was, found = getattr(outcome, name), getattr(back, name)
        if not isinstance(was, torch.Tensor):
            assert found == was
            continue
        assert found.dtype == torch.float64 and torch.allclose(found, was.double(), rtol=0, atol=0, equal_nan=True)


def test_texts_are_cut_on_both_sides():
    """Catches a text that fills the report, and one of a right length that is cut."""
    for cut, given, length in (
        (encoded, Outcome(value="x" * 400_001), 400_000),
        (encoded, Outcome(value="x" * 9_999), 9_999),
    ):
        assert len(cut(given)["value"]) == length
    long = decoded(
        {
            "raised": "r" * 1_001,
            "where": "w" * 1_001,
            "harm": "h" * 1_001,
            "complaint": "c" * 1_000,
            "value": "v" * 400_001,
        }
    )
    assert [len(text) for text in (long.raised, long.where, long.harm, long.complaint, long.value)] == [1_000] * 4 + [
        400_000
    ]


@pytest.mark.parametrize("odd", [3, [], {}, None, True, {"float64": "AA", "shape": []}])
def test_what_is_of_another_kind_is_nothing(odd):
    """Catches a record that a submission made up, on which the judge stumbles or which it believes."""
    found = decoded(dict.fromkeys(("raised", "where", "harm", "complaint", "value", "gradient"), odd) | {"blank": odd})
    nothing = Outcome(complaint="it returned nothing that can be compared.", blank=odd is True)
    assert found == nothing
    assert decoded({}) == Outcome(complaint="it returned nothing that can be compared.")
    for said in ({"raised": "r"}, {"complaint": "c"}, {"value": ""}):
        assert decoded(said) == Outcome(**said)
    with pytest.raises(AttributeError):
        decoded(["no record"])


@pytest.mark.parametrize(
    "record",
    [
        {"float64": "AAAAAAAA4D8=\n", "shape": [1]}, {"float64": "AAAAAAAA4D8=", "shape": [1 << 70]},
        {"float64": "AAAAAAAA4D8=", "shape": 1}, {"float64": "AAAAAAAA4D8=", "shape": ["x"]}, {"shape": [0]},
    ],
)  # fmt: skip
def test_a_tensor_of_a_wrong_form_is_none(record):
    assert decoded({"gradient": record}).gradient is None
    assert decoded({"gradient": {"float64": "AAAAAAAA4D8=", "shape": ["1", 1]}}).gradient.tolist() == [[0.5]]


def test_a_call_reads_the_exercise_and_no_reference(monkeypatch):
    """Catches a call by another exercise's fields, and one that needs what a box must not have."""
    fields = {
        "call": lambda function, case: function(case["x"]),
        "result": TensorOf("B"),
        "gradient": "x",
        "relevant": None,
    }
    case = {"x": torch.tensor([1.0, 2.0], dtype=torch.float64)}
    found = decoded(outcome_of(lambda x: 3 * x, case, fields | {"cases": [], "supplied": {}}))
    assert found.value.tolist() == [3.0, 6.0] and found.gradient is not None
    asked = []
    monkeypatch.setattr(
        "shared.exercises.calling.call", lambda *given, observe: asked.append(given) or Outcome(value="x")
    )
    outcome_of(print, case, fields | {"cases": []})
    ((exercise, function, given),) = asked
    assert exercise == SimpleNamespace(**fields) and function is print and given is case
    assert exchange.FIELDS_FOR_A_CALL == ("call", "result", "gradient", "relevant")
