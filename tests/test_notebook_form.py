"""The form of a chapter: one exercise a cell, lines that fit a window, a blank edition that runs as far as it can."""

import ast
import contextlib
import io
import json
import re
from itertools import pairwise
from pathlib import Path
from types import FunctionType

import matplotlib
import pytest

from checker.editions.chapter import TEMPLATE
from checker.outputs.chapters import chapters
from checker.outputs.claims import header_of
from checker.reading import exercises as points
from checker.reading.layout import sections
from checker.reading.markers import BEGIN
from checker.reading.notebook import Notebook, joined, read
from checker.reading.syntax.checks import names_of
from checker.reading.syntax.trees import read_trees
from checker.reading.todos import todos_in
from checker.running.report import lacking
from shared.blanks import NotFilledIn
from shared.rewards import columns_of, score
from tests.conftest import few_of

matplotlib.use("agg")
FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
every = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
CHAPTERS = {chapter.name: chapter for chapter in chapters(FOLDER.parent)}


def running(paths: list[Path]) -> pytest.MarkDecorator:
    """A test of each of these notebooks that runs it in part."""
    few = [path for path in paths if CHAPTERS[path.stem].begins != "slowly"]
    return pytest.mark.parametrize("path", few_of(paths, few), ids=lambda path: path.stem)


def leave_out_where_its_model_is_missing(notebook: Notebook) -> None:
    """Skip the test of a notebook that needs a model which was not fetched."""
    if lacks := lacking(notebook):
        pytest.skip(f"its model is not fetched: {notebook.path.stem} {lacks}")


EXAMPLES = sorted((FOLDER / "examples").glob("*.ipynb"))
EDITIONS = sorted((FOLDER / "student").glob("*.ipynb"))
HEADING = "# Cell 1: Task definition and plan"
COLUMNS = 100  # of a line of code
TODO_COLUMNS = 88
LINES = 40  # of a cell of code
CORE_MINUTES = 45
CORE_ANSWERS = 3
# Exercises without a check below them: what is run there has no right answer, or it is checked in a later cell.
WITHOUT_CHECK = {"experiment", "factors"}
HINT = re.compile(r"<details><summary>Hint</summary>\n\n.+\n\n</details>$")


def faults_of_form(path: Path) -> list[str]:
    """The faults of form of a notebook's code cells, a sentence each."""
    found = []
    notebook = read(path)
    trees = {tree.cell: tree for tree in read_trees(notebook)}
    names = names_of(trees.values())
    for cell in notebook.code_cells:
        lines = cell.source.split("\n")
        where = f"the cell that begins {lines[0][:50]!r}"
        todos = [line for todo in todos_in(cell.source) for line in todo.lines]
        if len(lines) > LINES:
            found.append(f"{where} has {len(lines)} lines")
        found += [f"{where} has a line of {len(line)} columns" for line in lines if len(line) > COLUMNS]
        found += [f"{where} has a TODO of {len(line)} columns" for line in todos if len(line) > TODO_COLUMNS]
        exercises = sum(line.strip() == BEGIN for line in lines)
        checked = {ast.unparse(call.args[0]) for call, _ in names.calls(trees[cell.number]) if call.args}
        if exercises > 1:
            found.append(f"{where} has {exercises} exercises")
        if exercises and not checked & functions_in(cell.source) and not WITHOUT_CHECK & functions_in(cell.source):
            found.append(f"{where} has an exercise and no check of it")
    return found


def functions_in(source: str) -> set[str]:
    return {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}


@every
def test_code_is_in_form(path):
    """Catches a wall of code, a line that runs out of the window, and an exercise that hides another's check."""
    assert faults_of_form(path) == []


@pytest.mark.parametrize("path", [path for path in NOTEBOOKS if CHAPTERS[path.stem].hinted], ids=lambda path: path.stem)
def test_each_exercise_has_a_folded_hint(path):
    """Catches an exercise at which who is stuck has nothing to turn to but the solution."""
    for above, cell in pairwise(read(path).cells):
        if cell.is_code and BEGIN in cell.source:
            assert HINT.search(above.source.rstrip()), f"no hint above {cell.source[:50]!r}"


def opens_on_its_title(content: dict) -> bool:
    """True if Cell 0 of a notebook's JSON is folded and its title stands in bold below the heading of Cell 1."""
    texts = {joined(cell["source"]): cell for cell in content["cells"] if cell["cell_type"] == "markdown"}
    header = next(text for text in texts if text.startswith("---"))
    plan = next(text for text in texts if text.startswith(HEADING))
    title = re.search(r'^ +title: "(.+)"$', header, re.MULTILINE)[1]
    folded = texts[header]["metadata"].get("jupyter") == {"source_hidden": True}
    return folded and plan.startswith(f"{HEADING}\n\n**{title}**\n\n")


@pytest.mark.parametrize(
    "path", [*NOTEBOOKS, *EXAMPLES, *EDITIONS, TEMPLATE], ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_a_notebook_opens_on_its_title(path):
    """Catches a block of raw YAML as the first thing that JupyterLab shows, and a notebook that does not say its title."""
    assert opens_on_its_title(json.loads(path.read_text(encoding="utf-8")))


@every
def test_the_header_says_how_long_core_and_rest_take(path):
    """Catches minutes that were typed once, and a core that grew."""
    course = header_of(read(path))["course"]
    asked = points.exercises(json.loads(path.read_text(encoding="utf-8"))["cells"])
    core, further = (points.minutes(asked, further) for further in (False, True))
    assert (course["core-minutes"], course["further-minutes"]) == (str(core), str(further))
    assert core <= CORE_MINUTES
    assert sum(exercise.written and not exercise.further for exercise in asked) <= CORE_ANSWERS


@pytest.mark.usefixtures("shapes_unchecked", "one_case")
@running(NOTEBOOKS)
def test_a_blank_edition_runs_to_cell_5_and_says_what_is_open(path, monkeypatch):
    """Catches a blank exercise that stops the ones below it, and a cell that goes on without the work that it needs."""
    monkeypatch.chdir(FOLDER)
    notebook = read(FOLDER / "student" / path.name)
    leave_out_where_its_model_is_missing(notebook)
    variables = {"__name__": "__main__"}
    stopped = None
    for cell in notebook.code_cells:
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                exec(compile(cell.source, "<cell>", "exec"), variables)
        except NotFilledIn as error:
            stopped = error
            break
    assert cell in sections(notebook)[5]
    content = json.loads(path.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(one["source"]) for one in content if one["cell_type"] == "code"]
    above = sources[: [one.source for one in notebook.code_cells].index(cell.source)]
    core = [source for source in above if any(not todo.further for todo in todos_in(source))]
    names = [function for source in core for function in functions_in(source)]
    asked = [re.findall(r"blanks\.require\(([^)]*)\)", one.source) for one in sections(notebook)[5] if one.is_code]
    first, *later = [name.split(", ") for calls in asked for name in calls]
    assert names and set(names) <= {*first, *sum(later, [])}
    assert all(name in str(stopped) for name in first)
    assert "".join(stopped._render_traceback_()).count("\n") == 0


@pytest.mark.usefixtures("shapes_unchecked", "one_case")
@running([path for path in NOTEBOOKS if CHAPTERS[path.stem].model != "none"])
def test_a_reward_that_a_student_writes_runs_in_score(path, monkeypatch):
    """Catches a reward that `shared.rewards.score` and TRL cannot call with the notebook's rows."""
    monkeypatch.chdir(FOLDER)
    variables = {"__name__": "__main__"}
    notebook = read(path)
    leave_out_where_its_model_is_missing(notebook)
    for number in (2, 3, 4):
        for cell in sections(notebook)[number]:
            if cell.is_code:
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(compile(cell.source, "<cell>", "exec"), variables)
    rows = variables["train_rows"][:3]
    rewards = [value for value in variables.values() if takes_completions(value)]
    assert bool(rewards) != (CHAPTERS[path.stem].reward == "earlier")
    for reward in rewards:
        columns = columns_of(rows) | games_of(reward, variables, rows)
        scores = score(reward, [row["prompt"] for row in rows], ["", " 3", "\n"], columns)
        assert scores.shape == (3, 1)


def games_of(reward: FunctionType, variables: dict, rows: list[dict]) -> dict[str, list]:
    """The column of games that a reward asks for, one of the notebook's `Game` for each row; none where it asks for none."""
    asks = "environments" in reward.__code__.co_varnames[: reward.__code__.co_argcount]
    return {"environments": [variables["Game"](row) for row in rows]} if asks else {}


def takes_completions(value: object) -> bool:
    """True for a function of the notebook that takes the arguments of a reward."""
    own = isinstance(value, FunctionType) and value.__module__ == "__main__"
    return own and value.__code__.co_varnames[:2] == ("prompts", "completions")
