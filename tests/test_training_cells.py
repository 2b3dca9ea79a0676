"""A training cell makes the copy that it trains, and the stop button does not end a loop that is written out there."""

import contextlib
import io
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import pytest
import torch

from tests.test_notebooks_on_second_device import CUTS, cap, cells

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"


@pytest.mark.parametrize("name", CUTS)
def test_a_loop_that_is_written_out_can_be_stopped(name):
    """A page of traceback and no history, and a half-trained model that passes for a fresh one."""
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    for source in training_cells([cell.source for cell in notebook.cells if cell.cell_type == "code"]):
        assert "def train(" not in source or "with until_interrupted(" in source


@pytest.mark.slow
@pytest.mark.usefixtures("patient_judge")
@pytest.mark.parametrize("name", CUTS)
def test_a_training_cell_that_is_run_again_begins_again(name, monkeypatch):
    """The second run goes on with a trained model and says nothing: it starts at 0.849 instead of 0.433."""
    cap(monkeypatch)
    sources = cells(name)
    of_training = training_cells(sources)
    namespace = {"__name__": "__main__"}
    torch.manual_seed(0)
    for source in sources[: sources.index(of_training[0])]:
        printed_by(source, namespace)
    first = [printed_by(source, namespace) for source in of_training]
    assert any(first), "nothing is printed, so nothing would be seen"
    assert [printed_by(source, namespace) for source in of_training] == first


def training_cells(sources: list[str]) -> list[str]:
    """Those of Cell 6, with the further cells that belong to it."""
    begins = next(i for i, source in enumerate(sources) if "# Cell 6:" in source)
    ends = next(i for i, source in enumerate(sources) if "# Cell 7:" in source)
    return sources[begins:ends]


def printed_by(source: str, namespace: dict) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), plt.rc_context():
        exec(source, namespace)
    plt.close("all")
    return printed.getvalue()
