"""The code of a notebook as syntax trees, for the method rules.

Nothing is executed. Lines of IPython magic are blanked so that line numbers stay; a cell that is not valid Python is
skipped, because the student's kernel has said so already.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from checker.notebook import Notebook

MAGIC = re.compile(r"^\s*(?:[%!?]|[\w.\[\]]+\?{1,2}\s*$|[\w, ]+=\s*[%!])")
MAX_CODE = 200_000  # characters of one cell; what is longer is data, not code


@dataclass(frozen=True)
class Tree:
    """The syntax tree of one code cell."""

    cell: int
    module: ast.Module


@dataclass
class Code:
    """All code cells of a notebook, and what each name is assigned."""

    trees: list[Tree] = field(default_factory=list)

    @cached_property
    def assignments(self) -> dict[str, list[ast.expr]]:
        """Every value that a plain name is assigned anywhere in the notebook."""
        found: dict[str, list[ast.expr]] = {}
        for _, node in self.walk(ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(node.value)
        return found

    def walk(self, *kinds: type) -> Iterator[tuple[int, ast.AST]]:
        """Every node of these kinds with its cell's number."""
        return (
            (tree.cell, node)
            for tree in self.trees
            for node in ast.walk(tree.module)
            if isinstance(node, kinds)
        )

    def resolve(self, node: ast.expr, depth: int = 3) -> ast.expr:
        """What a name stands for when it is assigned exactly once, else the node itself."""
        while depth and isinstance(node, ast.Name) and len(self.assignments.get(node.id, ())) == 1:
            node, depth = self.assignments[node.id][0], depth - 1
        return node


def read_code(notebook: Notebook) -> Code:
    code = Code()
    for cell in notebook.code_cells:
        source = cell.source
        if len(source) > MAX_CODE or source.lstrip().startswith("%%"):
            continue
        lines = ["" if MAGIC.match(line) else line for line in source.split("\n")]
        try:
            code.trees.append(Tree(cell.number, ast.parse("\n".join(lines))))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return code


def called(node: ast.AST) -> str:
    """The last name of what a call calls: `torch.exp(x)` is "exp"; "" for anything else."""
    if not isinstance(node, ast.Call):
        return ""
    function = node.func
    return (
        function.attr
        if isinstance(function, ast.Attribute)
        else function.id
        if isinstance(function, ast.Name)
        else ""
    )


def names(node: ast.AST) -> set[str]:
    """Every name and attribute that occurs in an expression."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | {
        n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)
    }


def mentions(node: ast.AST, pattern: str) -> bool:
    """Whether a name in the expression matches, whatever its case."""
    return any(re.search(pattern, name, re.IGNORECASE) for name in names(node))


def keyword(call: ast.Call, *wanted: str) -> ast.expr | None:
    """The value of the first of these keyword arguments that the call has."""
    return next((k.value for k in call.keywords if k.arg in wanted), None)


def same(one: ast.AST, other: ast.AST) -> bool:
    """Whether two expressions are written alike."""
    return ast.dump(one) == ast.dump(other)


def is_number(node: ast.AST, *values: float) -> bool:
    return isinstance(node, ast.Constant) and not isinstance(node.value, bool) and node.value in values


def difference(node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """(a, b) of an expression `a - b`."""
    return (node.left, node.right) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) else None
