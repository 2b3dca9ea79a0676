"""Outputs of a run that are kept, and the sentence on what stopped it. No kernel runs here: see test_report.py."""

import asyncio
import re
from contextlib import asynccontextmanager
from types import SimpleNamespace
from unittest import TestCase

import nbformat
import pytest
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from checker.running import execution
from checker.running.execution import WIDGET, ShowingClient, _cleaned, _first_line, _run, _what_stopped, _where

TRACEBACK = [
    "-----",
    "Cell In[3], line 2\n      1 x = 1\n----> 2 f(x)\n",
    "Cell In[2], line 5, in f(x)\n      4 def f(x):\n----> 5     return g(x)\n",
    "File ~/library/g.py:9, in g(x)\n      8 def g(x):\n----> 9     raise ValueError\n",
    "ValueError: no",
]


def stream(text, name="stdout"):
    return new_output("stream", name=name, text=text)


def test_progress_bars_go_to_the_person_and_widgets_nowhere(monkeypatch):
    """Catches a bar in a notebook that is handed in, and a print that goes to the terminal instead."""
    monkeypatch.setattr(NotebookClient, "output", lambda self, outs, msg, display_id, index: msg["content"])
    client = ShowingClient(new_notebook())
    shown = []
    client.live = shown.append

    def said(kind, **content):
        return client.output([], {"msg_type": kind, "content": content}, None, 0)

    assert said("stream", name="stderr", text="10 %") is None and shown == ["10 %"]
    assert said("stream", name="stdout", text="a") == {"name": "stdout", "text": "a"}
    assert said("display_data", data={WIDGET: {}, "text/plain": "a bar"}) is None
    assert said("display_data", data={"text/plain": "a"}) == {"data": {"text/plain": "a"}} and shown == ["10 %"]


def test_what_is_printed_in_one_go_is_one_output():
    """Catches errors and prints run together, and a result between two prints that is moved behind them."""
    result = new_output("execute_result", data={"text/plain": "c"}, execution_count=1)
    outputs = [stream("a"), stream("b"), stream("w", "stderr"), stream("x"), result, stream("d"), stream("e")]
    metadata = {
        "widgets": {},
        "language_info": {"name": "python", "version": "3.11.7"},
        "authors": [],
    }
    notebook = new_notebook(cells=[new_markdown_cell("a"), new_code_cell("x", outputs=outputs)], metadata=metadata)
    cleaned = _cleaned(notebook)
    found = [(one.output_type, one.get("name"), one.get("text")) for one in cleaned.cells[1].outputs]
    assert found == [
        ("stream", "stdout", "ab"),
        ("stream", "stderr", "w"),
        ("stream", "stdout", "x"),
        ("execute_result", None, None),
        ("stream", "stdout", "de"),
    ]
    assert cleaned.metadata == {"language_info": {"name": "python"}, "authors": []}
    nbformat.validate(cleaned)


def test_the_innermost_line_of_the_notebooks_own_is_named():
    """Catches the line that called in the place of the one that failed, and one of a library that nobody can mend."""
    assert _where(TRACEBACK) == " in line 5, `return g(x)`"
    assert _where(TRACEBACK[:1] + TRACEBACK[3:]) == "" and _where([]) == ""
    assert _where(["\x1b[31mCell In[3], line 2\x1b[0m\n----> 2 f(x)\n"]) == " in line 2, `f(x)`"


def test_the_cell_that_stopped_is_named_by_its_section():
    error = new_output("error", ename="ValueError", evalue="no", traceback=TRACEBACK)
    cells = [
        new_code_cell("# Cell 2: Setup\nx", outputs=[stream("a")]),
        new_code_cell("# Cell 5: Step\ny", outputs=[error]),
    ]
    said = "Cell 5: Step stopped with ValueError: no in line 5, `return g(x)`"
    assert _what_stopped(new_notebook(cells=[new_markdown_cell("# a"), *cells])) == said
    assert _what_stopped(new_notebook(cells=cells[:1])) == "A cell stopped with an error."


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("#| echo: false\n\n# Cell 5: Step\nx", "Cell 5: Step"),
        ("x = 1  # a\ny", "x = 1  # a"),
        ("#| a: b\n", ""),
        ("", ""),
    ],
)
def test_a_cell_is_announced_by_its_first_line_that_says_something(source, line):
    """Catches "echo: false" in the place of a cell's name."""
    assert _first_line(source) == line


def test_a_run_begins_without_old_outputs_and_announces_code_alone(monkeypatch):
    """Catches yesterday's outputs below cells that were not reached, and cells that are counted with the text between."""
    announced = []

    def runs(client):
        for index, cell in enumerate(client.nb.cells):
            client.on_cell_start(cell=cell, cell_index=index)
        return "it stopped"

    monkeypatch.setattr(execution, "_run", runs)
    code = [new_code_cell(f"# {name}", outputs=[stream("old")], execution_count=7) for name in "ab"]
    notebook = new_notebook(cells=[code[0], new_markdown_cell("text"), code[1]])
    text, error = execution.execute(dict(notebook), None, print, lambda *said: announced.append(said))
    assert error == "it stopped" and announced == [(1, 2, "a"), (2, 2, "b")] and text.endswith("}\n")
    found = nbformat.reads(text, as_version=4)
    assert [(cell.outputs, cell.execution_count) for cell in found.cells if cell.cell_type == "code"] == [
        ([], None)
    ] * 2


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("minor", [4, 5, None, "5"])
def test_what_other_programs_leave_out_of_a_notebook_is_put_in(minor, monkeypatch):
    """Catches a traceback of nbformat's about a notebook that a program or a text editor wrote."""
    monkeypatch.setattr(execution, "_run", lambda client: "")
    cells = [
        {"cell_type": "code", "source": "1"},
        {"cell_type": "markdown", "source": ["a\n", "b"], "metadata": []},
        {"cell_type": "heading", "source": 3},
    ]
    content = {"cells": cells, "nbformat": 4, "metadata": []} | ({"nbformat_minor": minor} if minor else {})
    with TestCase().assertNoLogs():  # nbformat complains to the log
        text, _ = execution.execute(content, None, print, print)
        found = nbformat.reads(text, as_version=4)
        nbformat.validate(found)
    assert [(cell.cell_type, cell.source) for cell in found.cells] == [("code", "1"), ("markdown", "a\nb"), ("raw", "")]


def test_an_error_is_told_on_one_line_of_bearable_length():
    """Catches a message of a million characters on a screen, and a second line that looks like a result of the run."""

    def said(name, words):
        cell = new_code_cell("# Cell 5: Step", outputs=[new_output("error", ename=name, evalue=words, traceback=[])])
        return _what_stopped(new_notebook(cells=[cell]))

    assert said("ValueError", "a\nb\x1b[2J") == "Cell 5: Step stopped with ValueError: a b\ufffd[2J"
    assert len(said("ValueError", "x" * 1_000_000)) < 1_100
    assert said("StdinNotImplementedError", "raw_input was called").startswith("Cell 5: Step asks for input, and here")


def test_a_run_is_given_the_kernel_and_keeps_nothing_that_differs_each_time(monkeypatch):
    """Catches a second kernel beside the one that was started, and the times of each cell in the file."""
    clients = []
    monkeypatch.setattr(execution, "_run", lambda client: clients.append(client) or "")
    kernel = AsyncKernelManager()
    live = [].append
    execution.execute(dict(new_notebook()), kernel, live, print)
    (client,) = clients
    assert client.km is kernel and client.live is live
    assert not client.store_widget_state and not client.record_timing
    assert client.timeout == execution.CELL_TIME_LIMIT


def test_what_is_in_the_cells_metadata_stays(monkeypatch):
    """Catches a cell that loses its tags and its id, and a notebook that loses its language."""
    monkeypatch.setattr(execution, "_run", lambda client: "")
    cell = new_code_cell("1", id="mine", metadata={"tags": ["a"]})
    text, _ = execution.execute(dict(new_notebook(cells=[cell], metadata={"course": 1})), None, print, print)
    found = nbformat.reads(text, as_version=4)
    assert (found.cells[0].id, found.cells[0].metadata, found.metadata) == ("mine", {"tags": ["a"]}, {"course": 1})


def client_that(raises, km=None, interrupted=False):
    """A client whose run ends with this exception."""

    def execute(cleanup_kc):
        raise raises

    return SimpleNamespace(execute=execute, km=km, interrupted=interrupted, nb=new_notebook())


def test_a_cell_that_takes_too_long_and_a_kernel_that_dies_are_sentences():
    said = _run(client_that(CellTimeoutError.error_from_timeout_and_cell("x", 1, new_code_cell("x"))))
    assert re.fullmatch(r"A cell ran for more than \d+ minutes and was stopped\.", said)
    assert "ran out of memory" in _run(client_that(DeadKernelError("it died")))


def test_an_interrupt_is_one_however_the_client_tells_it():
    """Catches "The kernel died" after Ctrl-C, and an error of the client's own that is taken for Ctrl-C."""
    for client in (
        client_that(DeadKernelError("it died"), interrupted=True),
        client_that(asyncio.CancelledError()),
        client_that(AssertionError()),
    ):
        with pytest.raises(KeyboardInterrupt):
            _run(client)
    with pytest.raises(AssertionError):
        _run(client_that(AssertionError(), km=object()))


def test_ctrl_c_cancels_the_run_while_the_kernel_is_there(monkeypatch):
    """Catches a Ctrl-C that ends the kernel and leaves the run waiting. The signal itself is not sent here."""

    @asynccontextmanager
    async def setup(self, **options):
        yield

    async def interrupted(client):
        handlers = []
        loop = asyncio.get_running_loop()
        monkeypatch.setattr(loop, "add_signal_handler", lambda number, handler: handlers.append(handler), raising=False)
        async with client.async_setup_kernel():
            assert not client.interrupted
            (handler,) = handlers
            handler()
            await asyncio.Event().wait()

    monkeypatch.setattr(NotebookClient, "async_setup_kernel", setup)
    client = ShowingClient(new_notebook())
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(interrupted(client))
    assert client.interrupted
