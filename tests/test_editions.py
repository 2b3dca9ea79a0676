"""The blank editions as a student meets them: imports run, and each exercise asks for itself, in order."""

import ast
import contextlib
import io
import json
import re
from pathlib import Path

import matplotlib
import pytest

from checker.assign import BEGIN, END, blank_code
from tests.conftest import few_of

matplotlib.use("agg")
FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
EXERCISE = re.compile(rf"^[ ]*{BEGIN}\n.*?^[ ]*{END}$", re.MULTILINE | re.DOTALL)


def code_cells(path: Path) -> list[dict]:
    return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


def with_exercises_blank_from(source: str, k: int) -> str:
    """The worked cell with its first k exercises solved and the others blank."""
    count = iter(range(10**6))
    return EXERCISE.sub(lambda m: m[0] if next(count) < k else "\n".join(blank_code(m[0].split("\n"))), source)


def todos(source: str) -> list[str]:
    return re.findall(rf"{BEGIN}\n\s*# (TODO: .*)", source)


def definitions(source: str) -> str:
    """Imports, functions and classes of a cell, without what takes time."""
    tree = ast.parse(source)
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
    return ast.unparse(ast.Module([node for node in tree.body if isinstance(node, kinds)], []))


def until_checked(source: str) -> str:
    """A cell up to its last check: what follows may be about a model that was trained, which takes time."""
    nodes = ast.parse(source).body
    checks = [number for number, node in enumerate(nodes) if ast.unparse(node).startswith("check.")]
    return ast.unparse(ast.Module(nodes[: checks[-1] + 1], [])) if checks else source


def run(source: str, names: dict) -> str:
    """What the cell prints, and what it raises when an exercise is blank."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        try:
            exec(compile(source, "<cell>", "exec"), names)
        except NotImplementedError as error:
            return printed.getvalue() + str(error)
    return printed.getvalue()


@pytest.mark.usefixtures("shapes_unchecked", "one_case")
@pytest.mark.parametrize("name", few_of([path.stem for path in NOTEBOOKS], ["dots"]))
def test_imports_run_and_each_exercise_fails_with_its_own_todo(name, monkeypatch):
    """Catches a cell that needs what a blank exercise above it did not make, and fails with somebody else's error."""
    monkeypatch.chdir(FOLDER)
    names, section = {"__name__": "__main__"}, 0
    for cell in code_cells(FOLDER / f"{name}.ipynb"):
        source = "".join(cell["source"])
        label = re.search(r"^# Cell (\d)", source, re.MULTILINE)  # options of a figure may stand above it
        section = int(label[1]) if label else section
        asked = todos(source)
        for k, todo in enumerate(asked):
            blank = with_exercises_blank_from(source, k)
            first = until_checked(blank)
            said = run(first if section > 5 and todo in first else blank, names)
            assert todo in said, f"exercise {k + 1} of the cell does not ask for itself: {said[-300:]!r}"
            assert not any(solved in said for solved in asked[:k])
        run(source if section <= 5 else definitions(source), names)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_the_solutions_pass_every_check(path):
    """In the saved outputs of the worked notebook each `check.` call has printed a tick."""
    for cell in code_cells(path):
        shown = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell["outputs"]]
        printed = "\n".join("".join(text) for text in shown)
        calls = len(re.findall(r"^check\.\w+\(", "".join(cell["source"]), re.MULTILINE))
        assert printed.count("✓") >= calls and "✗" not in printed


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_each_exercise_says_what_it_is_worth_and_how_long_it_takes(path):
    asked = [todo for cell in code_cells(path) for todo in todos("".join(cell["source"]))]
    assert asked and all(re.search(r"\(\d+ points?, (?:about )?\d+ minutes\)$", todo) for todo in asked), asked
