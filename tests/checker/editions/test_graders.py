"""Editions for nbgrader and otter-grader: what their own programs read, written after these were seen to take it.

`golden/` holds one of each, of a worked notebook with every kind of question. Where a change of it is meant:
`python -m tests.checker.editions.test_graders` writes it again.
"""

import ast
import copy
import json
from pathlib import Path

import pytest

from checker.editions import nbgrader, otter
from checker.editions.questions import around_solutions
from checker.reading.exercises import exercises, total
from checker.reading.markers import MarkerError
from checker.reading.notebook import dump, joined
from tests.checker.conftest import code, markdown
from tests.test_notebook_form import opens_on_its_title

GOLDEN = Path(__file__).with_name("golden")
GRADERS = {"nbgrader": nbgrader.written, "otter": otter.written}
EXERCISE = '''def double(x, factor):
    """Twice x."""
    # student code here
    # TODO: add x to itself, and do
    # not multiply (3 points, 5 minutes)
    # a comment of the solution
    total = x + x
    return total
    # end student code


if check.double(double):
    print(double(2, FACTOR))'''
EXPERIMENT = """def experiment():
    # student code here
    # TODO: try another size (2.5 points, 5 minutes, further)
    return 16
    # end student code"""
ANALYSIS = """# Cell 8: Analysis

**Success.** Did it learn?

<!-- student answer: 3 points -->
It did.
<!-- end student answer -->

**Dynamics.** What is seen?

<!-- student answer -->
A curve.
<!-- end student answer -->

*Group size.* 8."""


def worked() -> dict:
    cells = [
        markdown("# Cell 1: Task definition and plan") | {"id": "cell-01"},
        code("# Cell 2: Imports\nfrom shared import check\n\nFACTOR = 2") | {"id": "cell-02"},
        code(EXERCISE, "4\n") | {"id": "double"},
        code(EXPERIMENT) | {"id": "experiment"},
        markdown(ANALYSIS) | {"id": "cell-08"},
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


@pytest.mark.parametrize("grader", GRADERS)
def test_the_edition_is_the_one_that_the_grader_took(grader):
    """Catches markers and metadata that changed without their program having seen them."""
    golden = (GOLDEN / f"{grader}.ipynb").read_text(encoding="utf-8")
    assert dump(GRADERS[grader](worked(), "x.ipynb")) == golden


@pytest.mark.parametrize("grader", GRADERS)
def test_the_worked_notebook_stays_as_it_is_and_cells_have_names_of_their_own(grader):
    """Catches a cell that is changed in place, and two grade cells of one name, which nbgrader refuses."""
    content = worked()
    before = copy.deepcopy(content)
    names = [cell["id"] for cell in GRADERS[grader](content, "x.ipynb")["cells"]]
    assert content == before and len(set(names)) == len(names)


@pytest.mark.parametrize("path", sorted(Path("notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_every_chapter_has_its_points_in_both(path):
    """Catches an exercise or an answer that gets lost, points that are counted twice, and a notebook without a title."""
    content = json.loads(path.read_text(encoding="utf-8"))
    worth = total(exercises(content["cells"]))
    for_nbgrader, for_otter = (written(content, path.name)["cells"] for written in GRADERS.values())
    marks = [cell["metadata"].get("nbgrader", {}) for cell in for_nbgrader]
    assert sum(mark.get("points", 0) for mark in marks) == worth
    heads = [line for cell in for_otter if cell["cell_type"] == "raw" for line in cell["source"].split("\n")]
    assert sum(float(line.split()[1]) for line in heads if line.startswith("points: ")) == worth
    assert all(opens_on_its_title({"cells": cells}) for cells in (for_nbgrader, for_otter))
    for cell in for_nbgrader + for_otter:
        if cell["cell_type"] == "code":
            ast.parse(joined(cell["source"]))


@pytest.mark.parametrize("grader", GRADERS)
def test_an_exercise_with_two_checks_earns_its_points_where_both_are_right(grader):
    """Catches points for half of an exercise."""
    content = worked()
    content["cells"][2]["source"] = EXERCISE + "\ncheck.halve(double, of=4)"
    cells = GRADERS[grader](content, "x.ipynb")["cells"]
    (test,) = [joined(cell["source"]) for cell in cells if cell["id"] == "double-check"]
    assert test.endswith("assert check.double(double) and check.halve(double, of=4)")
    ast.parse(test)


@pytest.mark.parametrize("grader", GRADERS)
def test_a_notebook_without_a_kernel_is_written_and_a_slip_is_placed(grader):
    """Catches a traceback for a notebook that names no kernel, and an error that does not say where it is."""
    content = worked()
    content["metadata"] = {"widgets": {}}
    assert GRADERS[grader](content, "x.ipynb")["metadata"] == {"kernelspec": {}}
    content["cells"][2]["source"] += "\n# end student code"
    with pytest.raises(MarkerError, match="x.ipynb, "):
        GRADERS[grader](content, "x.ipynb")


@pytest.mark.parametrize("grader", GRADERS)
def test_a_cell_that_is_no_program_is_shown_as_it_is(grader):
    """Catches a traceback for a magic of Jupyter's, or for an exercise that nobody checks."""
    content = worked()
    content["cells"][3]["source"] += "\n!ls"
    cells = GRADERS[grader](content, "x.ipynb")["cells"]
    assert "experiment" in [cell["id"] for cell in cells] and "experiment-check" not in [cell["id"] for cell in cells]


def test_a_solution_that_is_a_todo_alone_has_an_empty_region():
    """Catches an end of a solution without its beginning, at which both programs stop."""
    lines = ("    # student code here", "    # TODO: think (1 point)", "    # end student code")
    kept = around_solutions(lines, ["BEGIN"], ["FINISH"]).split("\n")
    assert kept == [*lines[:2], "    BEGIN", "    FINISH", lines[2]]


def test_otters_test_asks_for_the_variables_that_the_check_is_called_with():
    """Catches a test that finds no `double`, and one that takes the student's `check` for the course's."""
    call = ast.parse("check.reward_function(reward, [case for case in CASES if len(case)])", mode="eval").body
    head = otter.test_of("q", (call,)).split("\n")[0]
    assert head == "def test_q(CASES, reward):"


if __name__ == "__main__":
    for name, written in GRADERS.items():
        GOLDEN.mkdir(exist_ok=True)
        (GOLDEN / f"{name}.ipynb").write_text(dump(written(worked(), "x.ipynb")), encoding="utf-8")
