"""`shared/check.pyi`: all checks with their signatures, for editors and for the API page of the site.

    python -m shared.exercises.stub

writes it from the catalogue and from `shared/check.py`.
"""

import ast
from pathlib import Path

from shared.exercises.catalogue import EXERCISES

CHECK = Path(__file__).parents[1] / "check.py"
STUB = CHECK.with_suffix(".pyi")
HEAD = '''\
# Written by `python -m shared.exercises.stub` from shared/check.py and shared/exercises/catalogue/: do not edit.
"""{about}"""

from collections.abc import Callable, Sequence

from torch import Tensor

from shared.exercises.own_task.rows import SPLITS
from shared.exercises.record import Passed
'''
OF_EXERCISE = '''
def {name}(function: Callable, hint: bool = False) -> Passed:
    """Check {contract}"""
'''


def text() -> str:
    """The stub: the module's docstring, the checks of the exercises, the checks of any task."""
    source = CHECK.read_text(encoding="utf-8")
    module = ast.parse(source)
    about = ast.get_docstring(module, clean=False)
    public = [node for node in module.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
    of_exercises = [OF_EXERCISE.format(name=name, contract=exercise.contract) for name, exercise in EXERCISES.items()]
    return "".join([HEAD.format(about=about), *of_exercises, *(_described(node, source) for node in public)])


def _described(function: ast.FunctionDef, source: str) -> str:
    """A function as far as its docstring."""
    lines = source.splitlines()[function.lineno - 1 : function.body[0].end_lineno]
    return "\n".join(["", *lines, ""])


if __name__ == "__main__":
    STUB.write_text(text(), encoding="utf-8")
