"""The names under which a notebook has the course's checks, and the calls of them.

`from shared import check` is the usual way; `from shared import check as c`, `import shared.check as chk`, `c = check` and
`from shared.check import per_token_kl` are understood as well.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from checker.reading.syntax.expressions import plain_name
from checker.reading.syntax.trees import Tree

NAME = "check"  # whatever is imported: a blank cell may still call it
PROJECT = "shared"
MODULE = f"{PROJECT}.{NAME}"


@dataclass(frozen=True)
class Names:
    """modules: what stands for all checks, "check" or "shared.check".   single: the check that a name is, by the name."""

    modules: frozenset[str]
    single: dict[str, str]

    def is_module(self, node: ast.AST | None) -> bool:
        """True if an expression is the module of the checks."""
        return _dotted(node) in self.modules

    def check(self, call: ast.Call) -> str:
        """The name of the check that is called, "kl" of `c.kl(per_token_kl)`; "" for any other call."""
        if isinstance(call.func, ast.Attribute):
            return call.func.attr if self.is_module(call.func.value) else ""
        return self.single.get(plain_name(call.func), "")

    def calls(self, tree: Tree) -> Iterator[tuple[ast.Call, str]]:
        """Every call of a check in a cell, and the check's name."""
        calls = ((node, self.check(node)) for node in tree.children if isinstance(node, ast.Call))
        return ((node, name) for node, name in calls if name)

    def lines_in(self, source: str) -> int:
        """The number of lines that seem to call a check, in a cell that cannot be parsed."""
        known = "|".join(map(re.escape, sorted(self.modules)))
        return len(re.findall(rf"^[^#\n]*\b(?:{known})\.\w+\(", source, re.MULTILINE))


def names_of(trees: Iterable[Tree], module: str = MODULE) -> Names:
    """The names of the checks in a notebook's cells, or those of another module of the course."""
    modules = {module.rpartition(".")[2]}
    single = {}
    for tree in trees:
        for node in tree.children:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                modules |= {name for name, what in brought(node) if what == module}
                single |= dict(_single(node, module))
            elif isinstance(node, ast.Assign) and _dotted(node.value) in modules:
                modules |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return Names(frozenset(modules), single)


def brought(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """(name, what it stands for) of an import: ("c", "shared.check") of `from shared import check as c`."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            yield alias.asname or alias.name, f"{'.' * node.level}{node.module or ''}.{alias.name}"
        else:
            yield alias.asname or alias.name, alias.name


def _single(node: ast.Import | ast.ImportFrom, module: str) -> Iterator[tuple[str, str]]:
    """(name, check) of `from shared.check import per_token_kl as check_kl`."""
    for name, what in brought(node):
        imported_from, _, check = what.rpartition(".")
        if imported_from == module:
            yield name, check


def _dotted(node: ast.AST | None) -> str:
    """`check` and `shared.check` as they are written; "" for what is no name."""
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return plain_name(node)
