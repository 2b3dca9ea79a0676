"""What sampling says of a model that computes nothing sensible."""

import pytest
import torch

from shared.engine.sampling import refuse_nan

PROMPTS = ["one", "two"]


def logps(**places: float) -> torch.Tensor:
    """(4, 3), two completions for each of two prompts."""
    values = torch.full((4, 3), -0.5)
    for place, value in places.items():
        row, token = map(int, place.removeprefix("at").split("_"))
        values[row, token] = value
    return values


def test_finite_logps_pass():
    refuse_nan(logps(), torch.tensor([3, 1, 2, 3]), PROMPTS, 2)


@pytest.mark.parametrize("value", [torch.nan, -torch.inf, torch.inf])
def test_the_first_token_that_is_not_finite_is_named(value):
    with pytest.raises(ValueError, match="token 2 of a completion of the prompt 'two', in 2 of 4 completions"):
        refuse_nan(logps(at2_1=value, at3_0=value), torch.tensor([3, 1, 2, 3]), PROMPTS, 2)


def test_the_padding_is_not_asked():
    """Catches a rollout refused for what stands behind the end of a completion."""
    refuse_nan(logps(at1_1=torch.nan), torch.tensor([3, 1, 2, 3]), PROMPTS, 2)
