"""The solutions of the worked notebooks pass the checks that stand below them."""

import ast
import json
from contextlib import suppress
from pathlib import Path

import pytest

from shared import check
from shared.exercises.judging import judge

pytestmark = pytest.mark.usefixtures("patient_judge", "shapes_unchecked")
NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
CHECKED = [path for path in NOTEBOOKS if "check." in path.read_text(encoding="utf-8")]


def sources_of(path: Path) -> list[str]:
    """The code cells."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def statements_of(path: Path) -> list[ast.stmt]:
    """The statements of all code cells, one after the other."""
    return [statement for source in sources_of(path) for statement in ast.parse(source).body]


def is_check(statement: ast.stmt) -> bool:
    return any(ast.unparse(node).startswith("check.") for node in ast.walk(statement) if isinstance(node, ast.Call))


def needs_training(statement: ast.stmt) -> bool:
    """A check of what a model earned, which no definition of the notebook gives."""
    return ast.unparse(statement).startswith("check.task(")


def is_needed(statement: ast.stmt) -> bool:
    """Imports, definitions and written-down constants: no model is loaded, nothing is trained."""
    if isinstance(statement, ast.Assign):
        return not any(isinstance(node, (ast.Call, ast.Name)) for node in ast.walk(statement.value))
    return isinstance(statement, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef))


def test_notebooks_with_checks_are_found():
    """Catches a test that passes because it looks in the wrong place."""
    assert {"dots", "poker", "ppo", "maxent_irl"} <= {path.stem for path in CHECKED}


@pytest.mark.parametrize(
    "path", [pytest.param(p, id=p.stem, marks=() if p.stem == "poker" else pytest.mark.slow) for p in CHECKED]
)
def test_what_a_notebook_solves_passes_its_checks(path, monkeypatch):
    """Catches a check that asks for more than its notebook does, or for something else."""
    verdicts = []
    monkeypatch.setattr(check, "verdict_on", judge)
    monkeypatch.setattr(check, "show", lambda verdict, *given: verdicts.append(verdict))
    statements = [statement for statement in statements_of(path) if not needs_training(statement)]
    variables = {"__name__": "__main__"}
    for statement in statements:
        code = compile(ast.Module([statement], []), path.name, "exec")
        if is_check(statement):
            exec(code, variables)
        elif is_needed(statement):
            with suppress(NameError):  # it rests on something computed, as no function that is checked does
                exec(code, variables)
    assert [verdict.line for verdict in verdicts if not verdict.passed] == []
    assert len(verdicts) == sum(map(is_check, statements))
