"""The setting of all tests: the order of their files, one thread, and fixtures that many of them share.

It is read in the process too that only hands the tests out to others: what takes seconds to import is imported where a
test needs it.
"""

import gc
import os
import sys
from collections.abc import Iterable

import pytest
from hypothesis import settings

from tests import skips

# The tests are of the CPU. Where there is a GPU, some would have their model there and their tensors here.
os.environ["CUDA_VISIBLE_DEVICES"] = ""

# No test fails because a machine is busy, and every run tries the same examples.
settings.register_profile("course", deadline=None, derandomize=True)
settings.load_profile("course")


# The files that take longest, begun first: two workers then end together.
LONGEST = (
    "test_second_device.py",
    "test_site.py",
    "test_report.py",
    "test_algorithms.py",
    "test_families.py",
    "test_processes_loop.py",
    "test_command.py",
    "test_flat_groups.py",
    "test_logps.py",
    "test_processes.py",
    "test_command_line.py",
    "test_imports.py",
    "test_tree.py",
    "test_hand_over.py",
)


def pytest_configure(config):
    config.pluginmanager.register(skips)


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.path.name not in LONGEST)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Leave what the tests import out of the search for garbage, now and later: it stays until they end.

    And what computes does so in one thread, wherever a test file imports torch.
    """
    gc.disable()
    collected = yield
    gc.freeze()
    gc.enable()
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    return collected


@pytest.fixture
def shapes_unchecked(monkeypatch):
    """For a test that calls many times what others call, as a training to its end or a whole matrix does.

    Checks of shapes take time, and those others have found what is to be found.
    """
    monkeypatch.setattr("jaxtyping.config.jaxtyping_disable", True)


@pytest.fixture
def wrong_shapes(shapes_unchecked):
    """For a test that passes wrong shapes on purpose, to read the sentence that refuses them: none are checked."""


def few_of(names: Iterable[str], few: Iterable[str]) -> list:
    """The rows of a matrix for `parametrize`: `make test` tries these few, `make test-all` tries them all."""
    names = list(names)
    few = set(few)
    assert few <= set(names), f"no row of the matrix: {few - set(names)}"
    return [name if name in few else pytest.param(name, marks=pytest.mark.slow) for name in names]


@pytest.fixture
def tokenizer():
    from tests.fakes import letter_tokenizer

    return letter_tokenizer()


@pytest.fixture(params=["llama", "gpt2"])
def model(request):
    from tests.fakes import tiny_gpt2, tiny_llama

    return {"llama": tiny_llama, "gpt2": tiny_gpt2}[request.param]().eval()


@pytest.fixture
def one_case(monkeypatch):
    """Checks that try one case, in this process as beside a GPU: for tests of what stands around the checks.

    That a notebook's functions are right in every case is asked by `tests/exercises/test_notebooks.py`.
    """
    from shared.exercises.exercise import Exercise

    cases = Exercise.cases
    monkeypatch.setattr(Exercise, "cases", lambda exercise, seed=0: cases(exercise, seed)[:1])
    monkeypatch.setattr("shared.exercises.process.can_fork", lambda: False)


@pytest.fixture
def patient_judge(monkeypatch):
    """A judge that waits, on a machine that is busy: for tests that are not about time."""
    monkeypatch.setattr("shared.exercises.judging.TIME_FOR_SLIPS", 60.0)
    monkeypatch.setattr("shared.exercises.judging.TIME_FOR_EXPLANATION", 120.0)
    monkeypatch.setattr("shared.exercises.judging.TIME_FOR_VERDICT", 240.0)
    monkeypatch.setattr("shared.exercises.process.TIME_LIMIT", 300.0)
    monkeypatch.setattr("shared.exercises.process.CASE_LIMIT", 60.0)
