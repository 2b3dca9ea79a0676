"""The kinds of arguments: what is simpler, what is plain, what is left when some places are dropped."""

import numpy as np
import pytest
import torch

from shared.exercises.arguments import (
    AXES,
    NUMBERED,
    Kind,
    Mask,
    Numbers,
    Scalar,
    Size,
    Text,
    Texts,
    Things,
    lengths,
    without,
)


def simpler(kind: Kind, value) -> list:
    return [one.tolist() if isinstance(one, (torch.Tensor, np.ndarray)) else one for one in kind.simpler(value)]


def test_numbers_are_made_one_number_all_or_one_after_the_other_simpler():
    """Catches a place that is skipped, a rank that is out of order, a value that is tried although it stands there."""
    assert simpler(Numbers("N"), torch.tensor([0.0, 3.0])) == [
        [0, 0], [1, 1], [-1, -1],
        [0, 0], [0, 1], [0, -1], [0, 0.5], [0, -0.5],
    ]  # fmt: skip
    assert simpler(Numbers("N"), torch.tensor([0.0, 0.0])) == []
    assert simpler(Numbers("N"), torch.tensor([1.0, 0.0])) == [[0, 0], [0, 0]]
    assert simpler(Numbers("N"), torch.tensor([2.25]).double())[-2:] == [[2], [2.2]]
    assert simpler(Numbers("N"), np.array([0.5])) == [[0], [1], [-1], [0], [1], [-1]]


def test_numbers_stay_within_what_is_sensible():
    assert simpler(Numbers("N", least=0.5, most=1), torch.tensor([0.75]).double()) == [
        [1],
        [0.5],
        [1],
        [0.5],
        [1],
        [0.8],
    ]


def test_a_mask_is_simplest_when_all_counts():
    assert simpler(Mask("B C"), torch.tensor([[1, 0]])) == [[[1, 1]]] and simpler(Mask("B C"), torch.ones(1, 2)) == []
    assert Mask().is_plain(torch.ones(2)) and not Mask().is_plain(torch.tensor([1, 0]))


def test_a_scalar_is_rounded_at_last():
    """Catches a float handed to a function that takes an int, and a number that is not simpler."""
    assert simpler(Scalar(), 0.25) == [0.0, 0.5, 1.0, 0.2] and simpler(Scalar(), 0.0) == []
    assert simpler(Scalar(), 0.5) == [0.0] and all(type(one) is int for one in Scalar().simpler(7))
    assert simpler(Scalar(simple=(2.0,)), 3.0) == [2.0]


def test_texts_get_shorter_one_after_the_other():
    assert simpler(Texts("B"), ["ab", ""]) == [["", ""], ["b", ""], ["a", ""]]
    assert simpler(Texts("B"), ["", "c"]) == [["", ""], ["", ""]] and simpler(Texts("B"), ["", ""]) == []
    assert simpler(Text(), "abcd") == ["", "cd", "ab", "bcd", "acd", "abd", "abc"]
    assert simpler(Things("B"), [1, 2]) == []


def test_what_a_verdict_need_not_mention_is_plain():
    hidden = Texts("B", always_shown=False)
    assert Kind().is_plain([1]) and hidden.is_plain(["", ""]) and not hidden.is_plain(["a", ""])
    assert not any(kind.is_plain(value) for kind, value in (
        (Numbers(), torch.zeros(1)), (Scalar(), 0.0), (Size(), 2), (Texts(), [""]), (Text(), ""), (Things(), []),
    ))  # fmt: skip
    assert Kind().in_words([1]) == ""


def test_the_amount_is_what_a_reader_has_to_read():
    """Catches an empty text, of which five are as much to read as none."""
    kind = Kind()
    assert [kind.amount(value) for value in (torch.zeros(2, 3), np.zeros(4), "abc", "", 7, None)] == [6, 4, 3, 0, 1, 1]
    assert kind.amount(["ab", "", ["c", "d"]]) == 5 and kind.amount(("ab", "")) == 3


KINDS = {"rewards": Numbers("N*G"), "mask": Mask("N*G C"), "prompts": Texts("N"), "G": Size(axis="G"), "beta": Scalar()}
CASE = {
    "rewards": torch.arange(6.0),
    "mask": torch.arange(12).view(6, 2),
    "prompts": ["a", "b", "c"],
    "G": 2,
    "beta": 0.5,
}


def test_lengths_are_found_from_what_is_known():
    """Catches an axis that only occurs in a product and takes all of it."""
    assert lengths(KINDS, CASE) == {"G": 2, "N": 3, "C": 2}
    only_products = {"rewards": Numbers("N*G"), "G": Size(axis="G")}
    assert lengths(only_products, {"rewards": np.zeros(6), "G": 2}) == {"G": 2, "N": 3}


def test_a_prompt_is_dropped_with_its_whole_group():
    """Catches completions of another prompt dropped, and a size that is not the length any more."""
    smaller = without(KINDS, CASE, "N", {1})
    assert smaller["rewards"].tolist() == [0, 1, 4, 5] and smaller["prompts"] == ["a", "c"] and smaller["G"] == 2
    assert smaller["mask"].tolist() == [[0, 1], [2, 3], [8, 9], [10, 11]]
    smaller = without(KINDS, CASE, "G", {0})
    assert smaller["rewards"].tolist() == [1, 3, 5] and smaller["prompts"] == ["a", "b", "c"] and smaller["G"] == 1
    assert without(KINDS, CASE, "C", {0})["mask"].tolist() == [[1], [3], [5], [7], [9], [11]]
    assert CASE["rewards"].tolist() == [0, 1, 2, 3, 4, 5] and smaller["beta"] == 0.5


@pytest.mark.parametrize("value", [torch.arange(6).view(2, 3), np.arange(6).reshape(2, 3)])
def test_places_are_taken_of_the_dimension_that_is_meant(value):
    assert Kind().select(value, 1, [2, 0]).tolist() == [[2, 0], [5, 3]]
    assert Kind().select(value, 0, [1]).tolist() == [[3, 4, 5]] and Kind().select(["a", "b"], 0, [1]) == ["b"]
    assert tuple(Kind().shape(value)) == (2, 3) and Kind().shape(["a", "b"]) == (2,)


def test_the_places_of_an_axis_have_a_name():
    """Catches "at place 2" of a verdict, and state 1 that is state 0 of the arguments."""
    named = {"N": "prompt", "G": "completion", "B": "completion", "P": "position", "C": "token", "S": "state"}
    named |= {"T": "next state", "A": "action", "F": "feature", "H": "the gradient of completion", "L": "item"}
    assert named | {"D": "draw", "V": "token"} == AXES and set("STA") == NUMBERED


def test_what_notebooks_use_is_zero_and_two_until_it_is_named():
    assert (Scalar().usual, Size().usual, Size().axis) == (0.0, 2, "")


def test_no_place_is_taken_where_none_is_named():
    """Catches an index of floats, which an empty list becomes."""
    assert Kind().select(torch.arange(3), 0, []).tolist() == []


def test_a_length_known_from_an_axis_of_its_own_is_not_guessed_from_a_product():
    """Catches N that is worked out with a G that is not known yet."""
    kinds = {"rewards": Numbers("N*G"), "groups": Numbers("G")}
    assert lengths(kinds, {"rewards": np.zeros(6), "groups": np.zeros(2)}) == {"G": 2, "N": 3}


def test_a_size_is_less_by_as_many_as_are_dropped():
    kinds = {"x": Numbers("G"), "G": Size(axis="G")}
    assert without(kinds, {"x": torch.arange(5), "G": 5}, "G", {0, 4})["G"] == 3
