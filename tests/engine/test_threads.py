"""The number of threads on which a model computes."""

import pytest
import torch

from shared.engine import threads
from shared.engine.threads import SMALL, choose_threads
from shared.models import load_policy


@pytest.fixture(autouse=True)
def two_threads(monkeypatch):
    """A machine on which PyTorch would take two threads, and nobody has said otherwise."""
    before = torch.get_num_threads()
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(threads, "USUAL", 2)
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_the_embedded_model_computes_on_one_thread():
    """Catches a notebook that is slower, and has other digits, on a machine with more cores."""
    load_policy(device="cpu")
    assert torch.get_num_threads() == 1


def test_a_large_model_gets_all_threads():
    """Catches a real model left on one core, also when a small one was loaded before it."""
    choose_threads(SMALL - 1)
    assert torch.get_num_threads() == 1
    choose_threads(SMALL)
    assert torch.get_num_threads() == 2


def test_whoever_names_a_number_has_it(monkeypatch):
    """Catches a benchmark on two threads that silently ran on one."""
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    choose_threads(1)
    assert torch.get_num_threads() == 2
