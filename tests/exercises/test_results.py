"""Tests of what is read of a function's result, and of what is said of its type."""

import numpy as np
import pytest
import torch

from shared.exercises.results import (
    ArrayOf,
    ByName,
    Floats,
    NotAResult,
    Number,
    Result,
    TensorOf,
    Text,
    as_numbers,
    clipped,
    named,
)

FLOATS = torch.tensor([1.0, 2.5])


@pytest.mark.parametrize(
    ("kind", "result", "complaint"),
    [
        (TensorOf(), FLOATS, ""),
        (TensorOf(), FLOATS.long(), "it returns a tensor of integers; a tensor of floats is needed."),
        (TensorOf(), FLOATS > 1, "it returns a tensor of booleans; a tensor of floats is needed."),
        (TensorOf(), [1.0, 2.5], "it returns a list of floats; return a tensor, for what follows calls a tensor's methods."),
        (TensorOf(holds="doubles"), FLOATS.double(), ""),
        (TensorOf(holds="doubles"), FLOATS, "it returns a tensor of float32; float64 is needed, for it meets others of float64."),
        (TensorOf(holds="booleans"), FLOATS > 1, ""),
        (TensorOf(holds="booleans"), FLOATS, "it returns a tensor of float32; a tensor of booleans (a comparison) is needed."),
        (TensorOf(holds="numbers"), FLOATS.long(), ""),
        (ArrayOf(), FLOATS.numpy(), ""),
        (ArrayOf(), FLOATS, "it returns a tensor of shape (2,); return a numpy array, for what follows calculates with it."),
        (ArrayOf(), np.array([1, 2]), "it returns an array of int64; an array of floats is needed."),
        (Floats(), [1.0, 2.5], ""),
        (Floats(), (1.0, np.float64(2.5)), ""),
        (Floats(), FLOATS, ""),
        (Floats(), np.array([1.0, 2.5]), ""),
        (Floats(), [torch.tensor(1.0), np.float32(2.5)], ""),
        (Number(), 2.5, ""),
        (Number(), FLOATS[0], ""),
        (Number(), True, "it returns True or False; return a number."),
        (Number(), np.bool_(True), "it returns True or False; return a number."),
        (Text(), "flush", ""),
    ],
)  # fmt: skip
def test_a_type_is_right_or_named(kind, result, complaint):
    """Catches a list of ints that passes, and a right type that is refused."""
    value, said = kind.read(result)
    assert said == complaint
    if not isinstance(value, str):
        assert value.dtype == torch.float64 and value.tolist() == torch.as_tensor(result).double().tolist()


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        ([1, 2.5], "integers"),
        ([1.0, True], "booleans"),
        ([1.0, np.int64(2)], "integers"),
        ([np.bool_(True), 1.0], "booleans"),
        (FLOATS.long(), "integers"),
        (np.array([True, False]), "booleans"),
        ([torch.tensor(1), 2.5], "integers"),
    ],
)
def test_the_rewards_that_make_no_mean_are_named(result, kind):
    """Catches an int behind floats, which makes the whole batch of them one of ints no more, and the advantages fail."""
    value, said = Floats().read(result)
    assert said == (
        f"it returns {kind} where floats are needed: a batch of them makes a tensor that has no mean, and the advantages "
        "fail. Wrap each in `float(...)`."
    )
    assert len(value) == 2


def test_rewards_in_another_form_are_named():
    value, said = Floats().read(float(number) for number in (1, 2))
    assert value.tolist() == [1, 2] and said == "it returns a generator, which is empty once read; return a list."
    assert Floats().read(2.5)[1] == "it returns 2.5; return a list of floats, one for each completion."


NO_RETURN = "it returns None. Is the `return` missing?"


@pytest.mark.parametrize(
    ("kind", "result", "said"),
    [
        (TensorOf(), None, NO_RETURN),
        (Floats(), None, NO_RETURN),
        (Text(), None, NO_RETURN),
        (Number(), None, NO_RETURN),
        (Number(), [2.5], "it returns a list of floats; return one number."),
        (Text(), 3, "it returns 3; a text is needed."),
        (TensorOf(), (FLOATS, {}), "it returns a tuple of 2 things; return the one result alone."),
        (TensorOf(), "abc", "it returns 'abc' where numbers are needed."),
        (TensorOf(), ["a"], "it returns a list of strs where numbers are needed."),
        (TensorOf(), [], None),
        (TensorOf(), object(), "it returns a thing of type object where numbers are needed."),
        (TensorOf(), "x" * 99, f"it returns '{'x' * 36}... where numbers are needed."),
    ],
)
def test_what_cannot_be_compared_is_named(kind, result, said):
    """Catches an error of torch's own, told to a student."""
    if said is None:
        assert kind.read(result)[0].numel() == 0
        return
    with pytest.raises(NotAResult) as raised:
        kind.read(result)
    assert str(raised.value) == said


def test_a_dict_is_read_by_its_names():
    """Catches entries in the order in which a student wrote them, and a type that is told of the first entry alone."""
    kind = ByName("E B", names=("k1", "k2"))
    value, said = kind.read({"k2": FLOATS + 1, "k1": FLOATS})
    assert value.tolist() == [[1.0, 2.5], [2.0, 3.5]] and said == ""
    assert "a tensor of integers" in kind.read({"k1": FLOATS, "k2": FLOATS.long()})[1]
    for wrong, words in (
        (FLOATS, "it returns a tensor of shape (2,); return a dict with the keys k1, k2."),
        ({"k1": FLOATS}, "its dict has the keys ['k1']; expected ['k1', 'k2']."),
        (dict.fromkeys(("k1", "k2", "k3"), FLOATS), "its dict has the keys ['k1', 'k2', 'k3']; expected ['k1', 'k2']."),
        (
            {"k1": FLOATS, "k2": FLOATS[:1]},
            "its tensors have different shapes, {'k1': (2,), 'k2': (1,)}. They have one.",
        ),
    ):
        with pytest.raises(NotAResult) as raised:
            kind.read(wrong)
        assert str(raised.value) == words


def test_a_tensor_keeps_its_gradient():
    """Catches a result that is read without the graph that it came from."""
    x = torch.ones(2, requires_grad=True)
    as_numbers(2 * x).sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_a_text_is_cut_to_its_width():
    assert (clipped("abcdef", 6), clipped("abcdefg", 6)) == ("abcdef", "abc...")


def test_a_list_in_a_list_is_named():
    """Catches rewards in rows that pass, because their numbers are floats."""
    said = "it returns a list with a list of floats among its entries; each entry is one float."
    assert Floats().read([[1.0], [2.0]])[1] == said


class Named(str):
    def __repr__(self):
        raise RuntimeError("a student's own")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "None"),
        (dict, "the type dict itself"),
        (type("T" * 61, (), {}), f"the type {'T' * 57}... itself"),
        (FLOATS, "a tensor of shape (2,)"),
        (np.zeros((2, 3)), "a numpy array of shape (2, 3)"),
        ("a", "'a'"),
        (True, "True"),
        (Named("a"), "a thing of type Named"),
        (iter([1]), "a generator"),
        ((), "an empty tuple"),
        ({"a": 1}, "a dict"),
        ((1, "a"), "a tuple of ints"),
        ([type("T" * 61, (), {})()], f"a list of {'T' * 57}...s"),
        (type("T" * 61, (), {})(), f"a thing of type {'T' * 57}..."),
    ],
    ids=range(14),
)
def test_any_value_is_named_without_asking_it(value, words):
    """Catches a text of a student's own in a verdict, and a name that fills it."""
    assert named(value) == words


def test_the_axes_of_a_result_are_none_until_they_are_named():
    """Catches a verdict that counts completions of a single number."""
    assert (Result().axes, Number().axes, Floats().axes, TensorOf().names) == ("", "", "B", ())


def test_of_many_wrong_keys_five_are_told():
    with pytest.raises(NotAResult, match=r"its dict has the keys \['a', 'b', 'c', 'd', 'e'\]; expected \['k1'\]"):
        ByName("E", names=("k1",)).read(dict.fromkeys("gfedcba", 0))
