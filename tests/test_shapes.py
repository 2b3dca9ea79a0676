"""The check of shapes is on, for every test that is run with pyproject.toml's options, and for what it is meant."""

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


def test_other_annotations_are_left_alone():
    """Catches a check that stands before our own: students read our sentence, and tests must reach it."""
    with pytest.raises(ValueError, match="loss_type"):
        GRPOConfig(loss_type="ppo")


@pytest.mark.usefixtures("wrong_shapes")
def test_the_check_can_be_left_out():
    with pytest.raises(ValueError, match="none for the state after the last"):
        gae(torch.zeros(2, 3), torch.zeros(2, 4), torch.ones(2, 3))
