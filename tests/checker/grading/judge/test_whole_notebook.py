"""A whole notebook in a box: what is said of one that does not come to its end."""

import contextlib
import json
import time
from types import SimpleNamespace

import pytest

from checker.grading.box import isolation as isolation_module
from checker.grading.box.inside import notebook as inside
from checker.grading.box.isolation import Outcome
from checker.grading.box.limits import Limits
from checker.grading.box.walls import Isolation
from checker.grading.judge import whole_notebook
from checker.grading.judge.whole_notebook import execute
from checker.reading.notebook import parse, read
from tests.checker.conftest import code


def test_the_time_is_the_boxs_own(monkeypatch):
    """Catches a cell that gets the seconds anew which were spent on imports: the box ends first, and its outputs go."""
    asked = {}

    def client(notebook, **options):
        asked.update(options)
        return SimpleNamespace()

    monkeypatch.setattr(inside, "fresh_kernel", lambda folder: contextlib.nullcontext())
    monkeypatch.setattr(inside, "CountingClient", client)
    monkeypatch.setattr(inside, "_executed", lambda client, send: "")
    limits = {"wall": 240, "printed": 1}
    inside.run({"notebook": {"cells": []}, "limits": limits, "begun": time.monotonic() - 100}, lambda record: None)
    assert 130 < asked["timeout_func"](None) <= 240 - 100 - inside.LAST_SECONDS


def test_a_notebook_that_ends_its_box_is_tried_twice_and_is_no_fault_of_the_machine(monkeypatch, tmp_path):
    """Catches a cell that kills what runs the notebook, or makes it stumble: nothing of it was graded, at any run."""
    cells = [code("# Cell 1: Setup\nx = 1") | {"id": "a"}, code("# Cell 2: Kill\ny = 1") | {"id": "b"}]
    path = tmp_path / "maths.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}))
    outcome = Outcome(({"cell": 0}, {"cell": 1}, {"failed": "MemoryError"}), "", 1.0, begun=True)
    runs = []
    monkeypatch.setattr(isolation_module, "run", lambda *arguments: runs.append(arguments) or outcome)
    done = execute(read(path), parse(path), Isolation("none"), Limits())
    assert done.stopped == "Cell 2: Kill did not come to its end." and len(runs) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("import os; os._exit(0)", "ended the kernel"),
        ("while True: pass", "was still running when the time was up"),
        # A fast machine prints faster than the other side reads, and the box's memory ends it first.
        ("import time\nwhile True: print('x' * 100_000); time.sleep(0.005)", "printed more than is kept"),
    ],
)
def test_the_cell_that_ends_a_run_is_named_and_what_came_before_is_kept(cell, said, tmp_path, isolation):
    """Catches a dead kernel taken for the end of the notebook, and a time-out that takes all outputs along."""
    sources = ["print('before', 6 * 7)", f"# Cell 6: Training loop\n{cell}", "print('late')"]
    cells = [code(source) | {"id": f"cell-{number}"} for number, source in enumerate(sources)]
    path = tmp_path / "maths.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}))
    done = execute(read(path), parse(path), isolation, Limits(wall=25))
    assert done.stopped.startswith(f"Cell 6: Training loop {said}")
    assert "before 42" in json.dumps(done.content) and "late" not in json.dumps(done.content["cells"][2]["outputs"])


def test_the_last_word_about_the_end_counts(monkeypatch, tmp_path):
    """Catches an end that a notebook wrote into the pipe while it ran."""
    path = tmp_path / "maths.ipynb"
    cells = [code("# Cell 1: Setup\nx = 1") | {"id": "a"}]
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}))
    records = ({"cell": 0}, {"ended": ""}, {"ended": "an error"})
    ended = Outcome(records, "", 1.0, begun=True, finished=True)
    monkeypatch.setattr(whole_notebook, "run_submission", lambda *_: ended)
    done = execute(read(path), parse(path), Isolation("none"), Limits())
    assert done.stopped == "Cell 1: Setup stopped with an error."
