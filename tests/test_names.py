"""Names that a module reads and that nobody defines, where ruff does not look: the shapes of jaxtyping are such names."""

import ast
import builtins
from pathlib import Path

import pytest

from checker.reading.syntax.scopes import bound, names_read, running

ROOT = Path(__file__).parents[1]
OF_A_MODULE = {*dir(builtins), "__file__", "__path__"}


def undefined(code: str) -> set[str]:
    """The names that a module reads, and that neither it nor Python defines; those of annotations fail at its import."""
    statements = ast.parse(code).body
    return names_read(statements) - {name for part in running(statements) for name in bound(part)} - OF_A_MODULE


@pytest.mark.parametrize("package", ["shared", "tests"])
def test_every_name_that_is_read_is_defined(package):
    """Catches a call of a function that does not exist, in a branch that no test reaches."""
    found = {path: undefined(path.read_text(encoding="utf-8")) for path in (ROOT / package).rglob("*.py")}
    assert found and {str(path): names for path, names in found.items() if names} == {}


def test_a_name_that_nobody_defines_is_found():
    """Catches a search that finds nothing, and a name of another function taken for the module's."""
    code = "def step(loss):\n    def inner(x): return x\n    apply_gradient(loss)\n    return inner(x) + step(print)\n"
    assert undefined(code) == {"apply_gradient", "x"}
