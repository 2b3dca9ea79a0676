"""Products that run in bfloat16, and those that do not."""

import pytest
import torch

from shared.engine.precision import autocast, half_precision_weights, has_bf16, share_moved

CPU = torch.device("cpu")
GPU = torch.device("cuda")


@pytest.fixture
def gpu(monkeypatch):
    """The question that `torch.cuda` is asked, and its answer: in hardware or only emulated."""
    asked = []

    def supported(**options):
        asked.append(options)
        return True

    monkeypatch.setattr(torch.cuda, "is_bf16_supported", supported)
    return asked


def test_only_a_gpu_that_has_it_in_hardware_counts(gpu):
    """Catches half precision on the CPU, where it gains little, and an emulation that is slower than float32."""
    assert has_bf16(GPU) and gpu == [{"including_emulation": False}]
    assert not has_bf16(CPU) and len(gpu) == 1


def test_a_gpu_without_it_has_none(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **options: False)
    assert not has_bf16(GPU)


@pytest.mark.parametrize("asked, dtype", [(None, torch.float32), (False, torch.float32), (True, torch.bfloat16)])
def test_products_have_the_precision_that_is_asked_for(asked, dtype):
    """Catches a setting of its own that is overruled by what the device can do."""
    with autocast(CPU, asked):
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == dtype
    assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.float32


def test_no_word_means_what_the_device_can(monkeypatch):
    monkeypatch.setattr("shared.engine.precision.has_bf16", lambda device: device == CPU)
    with autocast(CPU, None):
        assert torch.is_autocast_enabled("cpu") and torch.get_autocast_dtype("cpu") == torch.bfloat16


def test_half_precision_is_bfloat16_on_every_device():
    """Catches the device's own default: on a GPU that is float16, whose numbers end at 65,504."""
    for device in (CPU, GPU):
        assert autocast(device, False).fast_dtype == torch.bfloat16


@pytest.mark.parametrize("rate, moved", [(1e-6, 0.0), (1e-1, 1.0)])
def test_updates_that_are_rounded_away_are_measured_on_weights_with_a_gradient(rate, moved):
    """Catches weights without a gradient counted as stuck, and a sample that is not of before."""
    weights = torch.nn.Parameter(torch.full((5000,), 0.5, dtype=torch.bfloat16))
    optimizer = torch.optim.AdamW([weights, torch.nn.Parameter(torch.ones(3))], lr=rate, weight_decay=0.0)
    before = half_precision_weights(optimizer)
    assert list(before) == [weights] and share_moved(before, optimizer) == 1
    weights.grad = (torch.arange(5000) < 2500).to(torch.bfloat16)
    optimizer.step()
    assert share_moved(before, optimizer) == moved
