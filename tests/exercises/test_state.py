"""State that a student's function may leave changed, and that is as before behind it."""

import os
import random
import sys

import numpy as np
import pytest
import torch

from shared.exercises.state import MOST_OUTPUT, Sink, changed_settings, everything_restored, restore, settings_now


def drawn() -> tuple:
    return random.random(), np.random.rand(), torch.rand(1).item()


def test_chance_is_as_it_was():
    """Catches a check after which a seeded notebook goes on with other numbers, in any of the three generators."""
    states = random.getstate(), np.random.get_state(), torch.get_rng_state()
    expected = drawn()
    random.setstate(states[0])
    np.random.set_state(states[1])
    torch.set_rng_state(states[2])
    with everything_restored():
        drawn()
    assert drawn() == expected


def test_folder_environment_and_limits_are_as_they_were(tmp_path):
    """Catches files that the next cell writes elsewhere, variables that stay, and a stack that grew for good."""
    before = os.getcwd(), dict(os.environ), sys.getrecursionlimit(), np.geterr(), sys.stdin
    with pytest.raises(KeyError), everything_restored():
        os.chdir(tmp_path)
        os.environ["OF_A_STUDENT"] = "1"
        os.environ.pop("PATH")
        sys.setrecursionlimit(before[2] + 17)
        np.seterr(divide="raise")
        sys.stdin = None
        raise KeyError
    assert (os.getcwd(), dict(os.environ), sys.getrecursionlimit(), np.geterr(), sys.stdin) == before


def test_what_is_printed_goes_nowhere(capsys):
    with everything_restored():
        print("a")
        print("b", file=sys.stderr)
        assert sys.stdout.write("a progress bar's own") == sys.stderr.write("a progress bar's own") > 0
    print("c")
    assert capsys.readouterr() == ("c\n", "")


def test_chance_of_an_accelerator_is_as_it_was(monkeypatch):
    """Catches sampling on a GPU that goes on with other numbers after a check, and a GPU that a check begins to use."""
    states = ["state of the first", "state of the second"]
    monkeypatch.setattr(torch.cuda, "get_rng_state_all", lambda: list(states))
    monkeypatch.setattr(torch.cuda, "set_rng_state_all", lambda found: states.__setitem__(slice(None), found))
    for in_use in (True, False):
        monkeypatch.setattr(torch.cuda, "is_initialized", lambda in_use=in_use: in_use)
        with everything_restored():
            states[0] = "of a student"
        assert states == ["state of the first" if in_use else "of a student", "state of the second"]


def test_of_an_endless_text_the_beginning_is_kept():
    """Catches memory that fills with what a function prints in a loop."""
    sink = Sink()
    for _ in range(3):
        assert sink.write("x" * (MOST_OUTPUT - 1)) == MOST_OUTPUT - 1
    assert sink.text == "x" * MOST_OUTPUT and sink.writable() and sink.encoding == "utf-8"


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("recording of gradients", lambda: torch.set_grad_enabled(False)),
        ("default dtype", lambda: torch.set_default_dtype(torch.float64)),
        ("number of threads", lambda: torch.set_num_threads(torch.get_num_threads() + 1)),
        ("use of deterministic algorithms", lambda: torch.use_deterministic_algorithms(True)),
        ("detection of anomalies", lambda: torch.autograd.set_detect_anomaly(True)),
    ],
)
def test_each_setting_is_seen_and_set_back(name, change):
    """Catches a setting that is read by one function and set back by another's."""
    before = settings_now()
    try:
        change()
        assert changed_settings(before) == [name]
    finally:
        restore(before)
    assert changed_settings(before) == []
    with everything_restored():
        change()
    assert changed_settings(before) == []
