"""The check of shapes is on, for every test that is run with pyproject.toml's options, and for what it is meant."""

import importlib
import inspect
from dataclasses import replace

import jaxtyping
import pytest
import torch

from shared.advantages import gae
from shared.engine.sampling import Sampling
from shared.grpo import GRPOConfig
from shared.losses import clipped_surrogate
from shared.rollout import sample
from tests.fakes import tiny_llama
from tests.shapes import modules_checked, modules_of_shared, names_an_array

pytestmark = pytest.mark.slow  # `make test` leaves the check out


def test_a_wrong_shape_is_an_error(tokenizer):
    """Catches the option lost from pyproject.toml: annotations would be comments again, and rot."""
    one, two = torch.zeros(2, 3), torch.zeros(2, 4)
    with pytest.raises(jaxtyping.TypeCheckError, match="values"):
        gae(one, two, torch.ones(2, 3))
    with pytest.raises(jaxtyping.TypeCheckError, match="old_logps"):
        clipped_surrogate(one, two, torch.zeros(2, 1))
    rollout = sample(tiny_llama().eval(), tokenizer, ["ab", "c"], 2, Sampling(4))
    with pytest.raises(jaxtyping.TypeCheckError, match="old_logps"):  # fields of a record too
        replace(rollout, old_logps=rollout.old_logps[:3])


def test_no_annotation_of_an_array_is_left_out():
    """Catches a module that is not looked at, as one that has its names for arrays from another module."""
    left_out = set(modules_of_shared()) - set(modules_checked())
    assert "shared.exercises.judging" in left_out  # this looks at something
    found = {}
    for name in sorted(left_out):
        module = importlib.import_module(name.removesuffix(".__init__"))
        own = [thing for thing in vars(module).values() if getattr(thing, "__module__", None) == module.__name__]
        own += [function for thing in own if inspect.isclass(thing) for function in vars(thing).values()]
        hints = [hint for thing in own for hint in (getattr(thing, "__annotations__", None) or {}).values()]
        found[name] = [hint for hint in hints if names_an_array(hint)]
    assert {name: hints for name, hints in found.items() if hints} == {}


def test_other_annotations_are_left_alone():
    """Catches a check that stands before our own: students read our sentence, and tests must reach it."""
    with pytest.raises(ValueError, match="loss_type"):
        GRPOConfig(loss_type="ppo")


@pytest.mark.usefixtures("wrong_shapes")
def test_the_check_can_be_left_out():
    with pytest.raises(ValueError, match="none for the state after the last"):
        gae(torch.zeros(2, 3), torch.zeros(2, 4), torch.ones(2, 3))
