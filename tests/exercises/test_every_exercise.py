"""Every exercise of every notebook has a check below it."""

import ast
import json
from pathlib import Path

import pytest

from checker.reading.website import website
from shared import check
from shared.exercises.catalogue import EXERCISES, PLACES

NOTEBOOKS = sorted(Path("notebooks").glob("*.ipynb"))
MARKER = "# student code here"
# What is no matter of right and wrong, or is judged in another way: function, and the reason.
UNCHECKED: dict[str, str] = {
    "experiment": "the student designs it: its rubric in Cell 8 is about claim, control and conclusion",
    "factors": "the product of its two shares is printed beside the share solved",
}


def code_of(notebook: Path) -> str:
    cells = json.loads(notebook.read_text())["cells"]
    return "\n\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def exercises_in(code: str) -> list[str]:
    """The names of the functions in which there is something to fill in; "" for what stands in none."""
    functions = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.FunctionDef)]
    names = []
    for number, line in enumerate(code.splitlines(), start=1):
        if line.strip() == MARKER:
            around = [node for node in functions if node.lineno <= number <= node.end_lineno]
            names.append(max(around, key=lambda node: node.lineno).name if around else "")
    return names


def checked_in(code: str) -> dict[str, str]:
    """The functions that are handed to a check, with the check's name."""
    checked = {}
    for node in ast.walk(ast.parse(code)):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and ast.unparse(node.func.value) == "check"
        ):
            checked[ast.unparse(node.args[0])] = node.func.attr
    return checked


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_exercise_has_a_check_of_the_course(notebook):
    """Catches an exercise whose mistakes only show in a training run, and a check that does not exist."""
    code = code_of(notebook)
    checked = checked_in(code)
    without = [name for name in exercises_in(code) if name not in checked and name not in UNCHECKED]
    assert without == []
    assert [name for name in checked.values() if not hasattr(check, name)] == []


def test_an_exercise_its_check_and_its_file_have_one_name():
    """Catches a second name for an exercise, and one that lies with another notebook than the first that asks it."""
    order = [page.stem for page in website(Path(".")).notebooks]
    first = {}
    for notebook in sorted(NOTEBOOKS, key=lambda path: order.index(path.stem)):
        for function, name in checked_in(code_of(notebook)).items():
            if name in EXERCISES:
                assert function == name, f"{notebook}: check.{name}({function})"
                first.setdefault(name, f"{notebook.stem}.{name}")
    assert first == PLACES


def test_an_exercise_without_a_check_is_found():
    code = (
        f"def right(x):\n    {MARKER}\n    return x\n\n\ndef other(x):\n    return x\n\n\ncheck.per_token_kl(other)\n"
    )
    assert exercises_in(code) == ["right"]
    assert checked_in(code) == {"other": "per_token_kl"}
