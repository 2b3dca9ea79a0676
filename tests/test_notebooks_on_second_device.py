"""Every worked notebook with a model runs on a second device, and prints there what it prints on the CPU.

The notebooks are cut to a step or two and a handful of rows, their checks to a case: what they learn and whether their
functions are right is not looked at here. The runs are slow (`make test-all`); that the cuts still fit the notebooks is
tested always.
"""

import contextlib
import io
import time
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import pytest
import torch

import shared.models
from checker.outputs.chapters import chapters
from shared.algorithm import TrainingConfig
from shared.tasks import addition, analogies, countdown, dots, poker, sentences
from tests.second_device import second_device, with_its_operations
from tests.second_device_tensor import DEVICE

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
TASKS = (addition, analogies, countdown, dots, poker, sentences)
# Caps on every run through the training loop, and on every data set by its split.
STEPS, PROMPTS_PER_STEP = 1, 4
ROWS = {"train": 64, "eval": 16}


CUTS = {chapter.name: chapter.cuts for chapter in chapters(NOTEBOOKS.parent) if chapter.model != "none"}


@pytest.mark.parametrize("name", CUTS)
def test_the_cuts_fit_the_notebook(name):
    """Catches a cut that no longer cuts anything: the slow run would take as long as the notebook itself."""
    cells(name)


@pytest.mark.slow
@pytest.mark.usefixtures("patient_judge", "one_case", "shapes_unchecked")
@pytest.mark.parametrize("name", CUTS)
def test_a_notebook_prints_on_the_second_device_what_it_prints_on_the_cpu(name, monkeypatch):
    """Catches a generator, a mask or an index of the CPU among tensors of the device, and numbers that depend on it."""
    cap(monkeypatch)
    with with_its_operations():
        here = printed_by(name, torch.device("cpu"), monkeypatch)
        with second_device():
            there = printed_by(name, DEVICE, monkeypatch)
    assert there.replace(str(DEVICE), "cpu").splitlines() == here.splitlines()


def cells(name: str) -> list[str]:
    """The code cells of a notebook with its cuts made; AssertionError for one that does not fit."""
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    for found, put, wanted in CUTS[name]:
        times = sum(source.count(found) for source in sources)
        assert times == wanted, (
            f"{found!r} stands {times} times in {name}.ipynb, {wanted} expected: change the cut in notebooks/chapters.yml."
        )
        sources = [source.replace(found, put) for source in sources]
    return sources


def cap(monkeypatch) -> None:
    """Shorten every training run and every data set; let no time pass, so that it is not printed."""
    check = TrainingConfig.__post_init__

    def capped(config) -> None:
        object.__setattr__(config, "steps", min(config.steps, STEPS))
        object.__setattr__(config, "prompts_per_step", min(config.prompts_per_step, PROMPTS_PER_STEP))
        check(config)

    def few_rows(dataset):
        def few(split, *args, **options):
            rows = dataset(split, *args, **options)
            return rows[:: max(1, len(rows) // ROWS[split])][: ROWS[split]]  # a data set may be sorted

        return few

    monkeypatch.setattr(TrainingConfig, "__post_init__", capped)
    for task in TASKS:
        monkeypatch.setattr(task, "dataset", few_rows(task.dataset))
    monkeypatch.setattr(time, "perf_counter", lambda: 0.0)


def printed_by(name: str, device: torch.device, monkeypatch) -> str:
    """Run the notebook's cells one after another on `device`; the text that they print."""
    monkeypatch.setattr(shared.models, "best_device", lambda: device)
    namespace = {"__name__": "__main__"}
    printed = io.StringIO()
    torch.manual_seed(0)
    with contextlib.redirect_stdout(printed), plt.rc_context():
        for number, source in enumerate(cells(name)):
            exec(compile(source, str(NOTEBOOKS / f"{name}.ipynb code cell {number}"), "exec"), namespace)
    plt.close("all")
    return printed.getvalue()
