"""Whatever is the same in all cases of an exercise is listed with its reason: a wrong function may rest on it."""

from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest
import torch
import yaml

from shared.exercises.catalogue import EXERCISES
from tests.conftest import few_of
from tests.exercises.traits import FORM, constant_traits, of_numbers, of_texts

pytestmark = pytest.mark.usefixtures("shapes_unchecked")
EXCUSED = yaml.safe_load((Path(__file__).parent / "constants.yml").read_text(encoding="utf-8"))


@cache
def constants(name: str) -> dict[str, bool]:
    return constant_traits(EXERCISES[name])


def is_excused(trait: str) -> bool:
    return FORM in trait or any(fnmatchcase(trait, pattern) for pattern in EXCUSED)


@pytest.mark.parametrize("name", few_of(EXERCISES, ["pull", "get_reward", "next_weights"]))
def test_what_is_constant_over_all_cases_has_its_reason(name):
    """Catches a draw in which the terminal state is always the last one, no answer is "0", or no two numbers are equal."""
    assert {trait: answer for trait, answer in constants(name).items() if not is_excused(trait)} == {}


@pytest.mark.slow
def test_no_reason_outlives_what_it_was_for():
    """Catches a reason that would hide the next constant of its kind."""
    found = [trait for name in EXERCISES for trait in constants(name)]
    assert [pattern for pattern in EXCUSED if not any(fnmatchcase(trait, pattern) for trait in found)] == []


def test_a_terminal_state_that_is_always_the_last_is_found():
    """The traits see what they are about: order, place of the largest, signs, neighbours, capitals, "0"."""
    assert dict(of_numbers(torch.tensor([0.0, 1.0, 3.0]))) == {
        "has a number below 0": False,
        "has a number above 0": True,
        "has a 0": True,
        "has equal neighbours": False,
        "never falls": True,
        "never rises": False,
        "has its largest first": False,
        "has its largest last": True,
    }
    assert dict(of_texts(["Puppy", "0"])) == {"has an empty text": False, "has capitals": True, "has a 0 alone": True}
