"""Running a notebook inside a box: what is sent of each cell; a stand-in for the kernel says what the cells do."""

import contextlib
import json
import os
import signal
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from checker.grading.box.inside import notebook as inside
from checker.running.execution import ShowingClient

CELLS = [
    {"cell_type": "code", "source": "a", "metadata": {}, "outputs": ["old"], "execution_count": 7},
    {"cell_type": "markdown", "source": "b", "metadata": {}},
    {"cell_type": "code", "source": "c", "metadata": {}, "outputs": ["old"], "execution_count": 8},
]


class Client:
    """Stands for nbclient's: a cell gets its index as output, or raises what is said of it."""

    def __init__(self, nb, **options):
        self.nb, self.options = nb, options
        self.raises = {}
        self.left = 0
        self.is_set_up = False

    @contextlib.contextmanager
    def setup_kernel(self):
        self.is_set_up = True
        yield
        self.is_set_up = False

    def execute_cell(self, cell, index):
        assert self.is_set_up and self.nb.cells[index] is cell
        if cell.cell_type != "code":
            return
        self.options["on_cell_start"](cell=cell, cell_index=index)
        if index in self.raises:
            raise self.raises[index]
        cell.outputs = [index]
        cell.execution_count = index + 1


@pytest.fixture
def ran(monkeypatch):
    """The records of a run, in which cells raise these; `ran.client` is the client that ran them."""

    def run(raises=None, left=None):
        kernels = []

        @contextlib.contextmanager
        def fresh(folder):
            kernels.append(folder)
            yield "the kernel"

        def made(nb, **options):
            run.client = Client(nb, **options)
            run.client.raises = raises or {}
            return run.client

        monkeypatch.setattr(inside, "fresh_kernel", fresh)
        monkeypatch.setattr(inside, "CountingClient", made)
        if left is not None:
            monkeypatch.setattr(Client, "left", property(lambda self: left, lambda self, value: None), raising=False)
        sent = []
        content = {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": json.loads(json.dumps(CELLS))}
        job = {
            "notebook": content,
            "modules": (),
            "limits": {"wall": 240, "printed": 99},
            "begun": time.monotonic() - 100,
        }
        inside.run(job, sent.append)
        assert kernels == [Path.cwd()]
        return sent

    return run


FIRST = [{"begun": True}, {"cell": 0}, {"cell": 0, "outputs": [0], "count": 1}]


def test_each_code_cell_is_told_before_and_after_it_ran(ran):
    """Catches a cell that nobody hears of when the box is ended in it, and outputs of text cells."""
    assert ran() == [*FIRST, {"cell": 2}, {"cell": 2, "outputs": [2], "count": 3}, {"ended": ""}]
    assert ran.client.left == 99


@pytest.mark.parametrize(
    ("error", "left", "words"),
    [
        (CellExecutionError("x", "y", "z"), None, "an error"),
        (CellTimeoutError("x"), None, "the time"),
        (DeadKernelError("x"), 0, "the kernel died"),
        (DeadKernelError("x"), 5, "the kernel died"),
        (DeadKernelError("x"), -1, "too much printed"),
    ],
)
def test_the_end_is_told_with_what_the_cell_put_out(error, left, words, ran):
    """Catches an old output told for a new one, a cell after the end, and one end taken for another."""
    assert ran({0: error}, left) == [*FIRST[:2], {"cell": 0, "outputs": [], "count": None}, {"ended": words}]
    last = [{"cell": 2}, {"cell": 2, "outputs": [], "count": None}, {"ended": words}]
    assert ran({2: error}, left) == [*FIRST, *last]


def test_what_stops_a_text_cell_sends_none(ran, monkeypatch):
    execute = Client.execute_cell

    def stops(self, cell, index):
        if index == 1:
            raise CellTimeoutError("x")
        execute(self, cell, index)

    monkeypatch.setattr(Client, "execute_cell", stops)
    assert ran() == [*FIRST, {"ended": "the time"}]


def test_the_kernel_is_asked_for_what_is_worth_keeping(ran):
    ran()
    options = ran.client.options
    assert (
        options["km"] == "the kernel" and options["store_widget_state"] is False and options["record_timing"] is False
    )
    assert 240 - 100 - 5 - 3 < options["timeout_func"](None) <= 240 - 100 - 5


def test_a_cell_begun_at_the_very_end_has_a_second(monkeypatch, ran):
    """Catches a time of nothing, which nbclient takes for no limit."""
    ran()
    moment = time.monotonic()
    monkeypatch.setattr(inside.time, "monotonic", lambda: moment + 500)
    assert ran.client.options["timeout_func"](None) == 1


class Counting(inside.CountingClient):
    """The client, with a kernel of this number."""

    def __init__(self, left):
        self.left = left
        self.km = SimpleNamespace(provisioner=SimpleNamespace(pid=17))


def test_what_is_put_out_is_counted_and_the_kernel_is_killed_at_the_end(monkeypatch):
    """Catches a loop that prints without end, and the last output that still fits."""
    kept = []
    killed = []
    monkeypatch.setattr(ShowingClient, "output", lambda self, *given: kept.append(given) or "kept")
    monkeypatch.setattr(os, "kill", lambda *given: killed.append(given))
    message = {"content": {"text": "x" * 7, "odd": {1, 2} and Path("/")}}
    size = len(json.dumps({"text": "x" * 7, "odd": "/"}))
    client = Counting(2 * size)
    assert [client.output("outs", message, "id", 3) for _ in range(3)] == ["kept", "kept", None]
    assert kept == [("outs", message, "id", 3)] * 2 and killed == [(17, signal.SIGKILL)] and client.left == -size
    assert inside.CountingClient.left == 0
