"""The search for the smallest case gets somewhere, and ends."""

from dataclasses import replace

import pytest
import torch

from shared.exercises.arguments import Numbers, Text
from shared.exercises.catalogue.dots import per_token_kl
from shared.exercises.shrinking import shrink, simpler_cases


def test_the_search_ends():
    """Catches two cases that are each taken for simpler than the other, as [0, 0.5] and [0.5, 0.5] once were."""
    case = {"logps": torch.tensor([[0.3, 0.5]]), "ref_logps": torch.zeros(1, 2)}
    asked = []

    def fails(smaller: dict) -> bool:
        asked.append(smaller)
        return smaller["logps"].shape == (1, 2) and smaller["logps"][0, 1] == 0.5

    found = shrink(per_token_kl.EXERCISE, case, fails, time_left=lambda: len(asked) < 500)
    assert len(asked) < 500
    assert found["logps"].tolist() == [[0.0, 0.5]]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_nothing_is_taken_for_simpler_than_itself(dtype):
    """Catches 0.3 that is not what float32 holds of it, so that a search puts it there again and again."""
    value = torch.tensor([0.3, -1.7, 2.25], dtype=dtype)
    assert not any(torch.equal(smaller, value) for smaller in Numbers("N").simpler(value))


def test_what_is_not_allowed_is_not_tried():
    """Catches a weight of 0 where weights are positive."""
    kind = Numbers("F", least=0.1)
    assert all(bool((smaller >= 0.1).all()) for smaller in kind.simpler(torch.tensor([0.7, 2.0])))


def test_a_text_gets_shorter_and_is_never_cut_into_items():
    """Catches a kind that hands a function a list of characters where it takes a text."""
    smaller = list(Text().simpler("it is"))
    assert smaller[0] == "" and " is" in smaller and all(type(text) is str and len(text) < 5 for text in smaller)
    assert list(Text().simpler("")) == []


def test_a_case_that_no_right_function_has_to_bear_is_not_shown():
    """Catches a smallest case that is none: the reference itself would fail in it."""
    valid = lambda case: case["logps"].size(1) > 1  # noqa: E731
    exercise = replace(per_token_kl.EXERCISE, valid=valid)
    case = {"logps": -torch.ones(2, 3), "ref_logps": -torch.ones(2, 3)}
    found = shrink(exercise, case, fails=lambda smaller: True, time_left=lambda: True)
    assert found["logps"].shape == (1, 2)


def test_what_leaves_most_away_is_tried_first():
    """Catches a search that drops one row after the other where one alone would do, and an exercise's own smaller cases."""
    exercise = replace(
        per_token_kl.EXERCISE, arguments={"x": Numbers("B")}, smaller=lambda case: [{"x": torch.tensor([9.0])}]
    )
    sizes = [one["x"].tolist() for one in simpler_cases(exercise, {"x": torch.tensor([3.0, 4.0, 5.0])})]
    assert sizes[:7] == [[9], [3], [4], [5], [4, 5], [3, 5], [3, 4]]
    two = [one["x"].tolist() for one in simpler_cases(exercise, {"x": torch.tensor([3.0, 4.0])})]
    assert two[:4] == [[9], [4], [3], [0, 0]]
    one = [one["x"].tolist() for one in simpler_cases(exercise, {"x": torch.tensor([3.0])})]
    assert one[:2] == [[9], [0]]
