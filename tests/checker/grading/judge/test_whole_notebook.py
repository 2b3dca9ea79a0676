"""A whole notebook in a box: what is said of one that does not come to its end."""

import contextlib
import json
import time
from types import SimpleNamespace

import pytest

from checker.grading.apart import notebook as apart
from checker.grading.limits import Limits
from checker.grading.running import execute
from checker.notebook import parse, read
from tests.checker.conftest import code


def test_the_time_is_the_boxs_own(monkeypatch):
    """Catches a cell that gets the seconds anew which were spent on imports: the box ends first, and its outputs go."""
    asked = {}

    def client(notebook, **options):
        asked.update(options)
        return SimpleNamespace()

    monkeypatch.setattr(apart, "fresh_kernel", lambda folder: contextlib.nullcontext())
    monkeypatch.setattr(apart, "CountingClient", client)
    monkeypatch.setattr(apart, "_executed", lambda client, send: "")
    limits = {"wall": 240, "printed": 1}
    apart.run({"notebook": {"cells": []}, "limits": limits, "begun": time.monotonic() - 100}, lambda record: None)
    assert 130 < asked["timeout_func"](None) <= 240 - 100 - apart.LAST_SECONDS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("import os; os._exit(0)", "ended the kernel"),
        ("while True: pass", "was still running when the time was up"),
        ("while True: print('x' * 100_000)", "printed more than is kept"),
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
