"""The code cells of a notebook, parsed.

Lines of IPython magic are blanked so that line numbers stay; a cell that is not valid Python is skipped, because the
student's kernel has said so already.
"""

import ast
import re
import warnings
from dataclasses import dataclass

from checker.notebook import Cell, Notebook
from checker.rules.syntax.expressions import direct_parts

MAGIC = re.compile(r"^\s*+(?:[%!?]|[\w.\[\]]++\?{1,2}\s*$|[\w, ]++=\s*[%!])")
TIMED = re.compile(r"\A\s*%%(?:time|timeit|capture)\b")  # cell magics under which there is Python
MAX_CODE = 200_000  # characters of one cell; what is longer is data, not code
MAX_ALL_CODE = 2_000_000  # characters of all cells that are read
MAX_DEPTH = 150  # nested expressions; deeper code is generated, and rules recurse


@dataclass(frozen=True)
class Tree:
    """The syntax tree of one code cell: its lines, and what stands directly in each node, outermost first."""

    cell: int
    module: ast.Module
    lines: tuple[str, ...]
    children: dict[ast.AST, list[ast.AST]]


def read_trees(notebook: Notebook) -> list[Tree]:
    """The trees of all code cells that are Python, in order, until more than `MAX_ALL_CODE` characters were read."""
    trees = []
    size = 0
    for cell in notebook.code_cells:
        size += len(cell.source)
        if size > MAX_ALL_CODE:
            break
        tree = _tree(cell)
        if tree is not None:
            trees.append(tree)
    return trees


def _tree(cell: Cell) -> Tree | None:
    """The tree of a cell; None when it is not Python, is too long or is nested too deep."""
    source = cell.source
    if len(source) > MAX_CODE or (source.lstrip().startswith("%%") and not TIMED.match(source)):
        return None
    lines = ["" if MAGIC.match(line) else line for line in source.split("\n")]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a student's code, "\\d" for instance; it is not the checker's to tell
            module = ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    children = _children(module)
    return Tree(cell.number, module, tuple(lines), children) if children else None


def _children(module: ast.Module) -> dict[ast.AST, list[ast.AST]]:
    """What stands directly in each node of a tree, outermost first; empty for a tree that is too deep."""
    found: dict[ast.AST, list[ast.AST]] = {}
    level: list[ast.AST] = [module]
    for _ in range(MAX_DEPTH):
        below = []
        for node in level:
            found[node] = children = direct_parts(node)
            below.extend(children)
        if not below:
            return found
        level = below
    return {}
