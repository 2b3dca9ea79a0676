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
    monkeypatch.setattr(inside, "_executed", lambda *arguments: "")
    limits = {"wall": 240, "printed": 1}
    inside.run(
        {"notebook": {"cells": []}, "modules": (), "limits": limits, "begun": time.monotonic() - 100},
        lambda record: None,
    )
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


def ran(monkeypatch, tmp_path, cells, records, **others):
    """A notebook after a run of which a stand-in for the box tells; with it what the box was given."""
    path = tmp_path / "maths.ipynb"
    content = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": 3}, "cells": cells}
    path.write_text(json.dumps(content))
    given = []
    facts = {"stopped": "", "seconds": 1.5, "memory": 7, "begun": True, "finished": True} | others
    outcome = Outcome(tuple(records), **facts)
    monkeypatch.setattr(whole_notebook, "box", lambda *arguments: arguments)
    monkeypatch.setattr(whole_notebook, "run_submission", lambda *arguments: given.append(arguments) or outcome)
    return execute(read(path), content, "the isolation", "the limits"), given


CELLS = [
    {"cell_type": "code", "source": ["a\n", "b"], "outputs": ["old"], "execution_count": 7},
    {"cell_type": "markdown", "source": "text"},
    {"cell_type": "code", "source": "c", "outputs": ["old"], "execution_count": 8},
    {"cell_type": ["odd"], "source": 3, "extra": 1},
    {"cell_type": "raw"},
]


def test_a_box_is_given_the_plain_part_of_a_notebook(monkeypatch, tmp_path):
    """Catches outputs and metadata of a stranger that reach the kernel, and a source that is no text."""
    code_cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    _, given = ran(monkeypatch, tmp_path, CELLS, [{"ended": ""}])
    job = {
        "do": "notebook", "modules": (),
        "notebook": {
            "nbformat": 4, "nbformat_minor": 4, "metadata": {},
            "cells": [
                code_cell | {"source": "a\nb"},
                {"cell_type": "markdown", "metadata": {}, "source": "text"},
                code_cell | {"source": "c"},
                {"cell_type": "raw", "metadata": {}, "source": "3"},
                {"cell_type": "raw", "metadata": {}, "source": ""},
            ],
        },
    }  # fmt: skip
    assert given == [(("the isolation", whole_notebook.SHOWN, "the limits"), job)]
    _, given = ran(monkeypatch, tmp_path, CELLS, [], begun=True, finished=False)
    assert given == [(("the isolation", whole_notebook.SHOWN, "the limits"), job)] * 2


def test_fresh_outputs_come_to_their_cells_and_old_ones_go(monkeypatch, tmp_path):
    """Catches yesterday's output below a cell that was not reached, and a box that writes where no code is."""
    records = [
        {"cell": 0, "outputs": ["new"], "count": 1},
        {"cell": 1, "outputs": ["in text"], "count": 2},
        {"cell": 2, "outputs": "no list"},
        *({"cell": odd, "outputs": ["odd"]} for odd in (5, -1, 99, "0", None)),
        {"ended": ""},
    ]
    done, _ = ran(monkeypatch, tmp_path, CELLS, records)
    found = done.content["cells"]
    assert [cell.get("outputs") for cell in found] == [["new"], None, [], None, None]
    assert [cell.get("execution_count") for cell in found] == [1, None, None, None, None]
    assert (done.stopped, done.seconds, done.memory, done.content["metadata"]) == ("", 1.5, 7, {"kernelspec": 3})
    assert CELLS[0]["outputs"] == ["old"], "what was handed in stays"
    odd, _ = ran(monkeypatch, tmp_path, CELLS, [{"cell": 2, "outputs": ["new"], "count": "many"}, {"ended": ""}])
    assert odd.content["cells"][2] == CELLS[2] | {"outputs": ["new"], "execution_count": None}


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ([{"cell": 2}, {"ended": ""}], ""),
        ([{"cell": 2}, {"ended": "the time"}], "{} was still running when the time was up."),
        (
            [{"cell": 2}, {"ended": "the kernel died"}],
            "{} ended the kernel: most often that is too much memory, or a call of exit().",
        ),
        ([{"cell": 0}, {"cell": 2}, {"ended": "too much printed"}], "{} printed more than is kept."),
        ([{"cell": 2}, {"ended": ["odd"]}], "{} did not come to its end."),
        ([{"cell": 2}], "{} did not come to its end."),
        ([{"cell": 2}, {"cell": 3}, {"cell": -1}, {"cell": "0"}, {"ended": "an error"}], "{} stopped with an error."),
        ([{"ended": "an error"}], "The notebook stopped with an error."),
    ],
    ids=range(8),
)
def test_the_end_of_a_run_is_a_sentence(monkeypatch, tmp_path, records, said):
    """Catches an end without its cell, and a cell that a box made up, on which the grader stumbles."""
    cells = [*CELLS[:2], code("# Cell 6: Training loop\nx")]
    done, _ = ran(monkeypatch, tmp_path, cells, records)
    assert done.stopped == said.format("Cell 6: Training loop")


def test_a_box_that_was_ended_says_what_ended_it(monkeypatch, tmp_path):
    done, _ = ran(monkeypatch, tmp_path, [code("# Cell 6: Training loop\nx")], [{"cell": 0}], stopped="the memory")
    assert done.stopped == "Cell 6: Training loop was running when the box was ended: the memory."


@pytest.mark.slow
def test_modules_lie_beside_the_notebook_when_it_runs(tmp_path, isolation):
    """Catches a notebook that stops at its first cell since its student's own file is not there."""
    path = tmp_path / "maths.ipynb"
    content = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [code("import helpers\nprint(helpers.x)")]}
    path.write_text(json.dumps(content))
    done = execute(read(path), parse(path), isolation, Limits(wall=60), (("helpers.py", "x = 6 * 7"),))
    assert done.stopped == "" and "42" in json.dumps(done.content)
