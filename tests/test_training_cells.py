"""A training cell makes the copy that it trains, and the stop button ends it without a traceback."""

import contextlib
import io
import re
from collections.abc import Iterator
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
import torch

from tests.test_notebooks_on_second_device import CUTS, cap, cells

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"


@pytest.mark.slow
@pytest.mark.usefixtures("patient_judge", "one_case", "shapes_unchecked")
@pytest.mark.parametrize("name", CUTS)
def test_a_training_cell_can_be_stopped_and_run_again(name, monkeypatch):
    """A page of traceback for the stop button; a second run that goes on with a half-trained model and says nothing."""
    cap(monkeypatch)
    sources = cells(name)
    of_training = training_cells(sources)
    namespace = {"__name__": "__main__"}
    torch.manual_seed(0)
    for source in sources[: sources.index(of_training[0])]:
        printed_by(source, namespace)
    with stopped_at_the_first_update(monkeypatch) as stops:
        for source in of_training:
            printed_by(source, namespace)
    assert stops, "nothing was trained, so nothing was stopped"
    first = [printed_by(source, namespace) for source in of_training]
    assert any(first), "nothing is printed, so nothing would be seen"
    assert [printed_by(source, namespace) for source in of_training] == first


@contextlib.contextmanager
def stopped_at_the_first_update(monkeypatch) -> Iterator[list]:
    """The stop button is pressed once, when a model is first to change; the list then has an entry."""
    stops = []
    step = torch.optim.AdamW.step

    def stopped(optimiser, *args, **kwargs):
        if not stops:
            stops.append(optimiser)
            raise KeyboardInterrupt
        return step(optimiser, *args, **kwargs)

    with monkeypatch.context() as patched:
        patched.setattr(torch.optim.AdamW, "step", stopped)
        yield stops


def training_cells(sources: list[str]) -> list[str]:
    """Those of Cell 6 from the one that trains on; a few updates by hand before it end as any cell does."""
    begins = next(i for i, source in enumerate(sources) if "# Cell 6:" in source)
    ends = next(i for i, source in enumerate(sources) if "# Cell 7:" in source)
    trains = next(i for i in range(begins, ends) if re.search(r"\b(train|run)\(|until_interrupted\(", sources[i]))
    return sources[trains:ends]


def printed_by(source: str, namespace: dict) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), plt.rc_context():
        exec(source, namespace)
    plt.close("all")
    return printed.getvalue()
