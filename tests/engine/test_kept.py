"""The memory that a forward pass keeps for its backward pass, counted by hand."""

import pytest
import torch

from shared.engine.kept import megabytes_for_backward


def test_what_is_kept_is_counted_once():
    """Catches a tensor that is counted at each of its uses, and a view that counts beside its storage."""
    x = torch.randn(50, 20, requires_grad=True)  # 4,000 bytes
    # x is saved for both factors; exp saves its result, of which `half` is a view.
    assert megabytes_for_backward(lambda: x * x) == pytest.approx(0.004)

    def forward():
        grown = x.exp()
        half = grown[:25]
        return half * half

    assert megabytes_for_backward(forward) == pytest.approx(0.004)


def test_what_needs_no_gradient_keeps_nothing():
    """Catches a count of every tensor that a pass makes."""
    x = torch.randn(50, 20)
    assert megabytes_for_backward(lambda: (x * x).exp()) == 0
