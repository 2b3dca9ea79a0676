"""The code cells of a notebook, parsed.

Where a cell is no Python as it stands, its lines of IPython magic are blanked, so that line numbers stay. One that is no
Python then either is skipped, because the student's kernel has said so already.
"""

import ast
import re
import warnings
from dataclasses import dataclass
from functools import lru_cache

from checker.notebook import Notebook
from checker.rules.syntax.expressions import direct_parts

MAGIC = re.compile(r"^\s*+(?:[%!?]|[\w.\[\]]++\?{1,2}\s*$|[\w, ]++=\s*[%!])")
TIMED = re.compile(r"\A\s*%%(?:time|timeit|capture)\b")  # cell magics under which there is Python
MAX_CODE = 200_000  # characters of one cell; what is longer is data, not code
MAX_ALL_CODE = 2_000_000  # characters of all cells that are read
REMEMBERED = 128  # cells whose trees are kept for the next notebook, 0.1 MB each
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
    seen: set[str] = set()
    for cell in notebook.code_cells:
        size += len(cell.source)
        if size > MAX_ALL_CODE:
            break
        # A class shares the cells that were handed out. In one notebook each cell has nodes of its own.
        read = _parsed.__wrapped__ if cell.source in seen else _parsed
        seen.add(cell.source)
        parsed = read(cell.source)
        if parsed is not None:
            trees.append(Tree(cell.number, *parsed))
    return trees


@lru_cache(maxsize=REMEMBERED)
def _parsed(source: str) -> tuple[ast.Module, tuple[str, ...], dict[ast.AST, list[ast.AST]]] | None:
    """The tree of a cell, its lines and what stands in each node; None for what is not Python, too long or too deep."""
    if len(source) > MAX_CODE or (source.lstrip().startswith("%%") and not TIMED.match(source)):
        return None
    lines = source.split("\n")
    module = _python(source)
    if module is None:  # only now: a line of plain Python may begin with `%`, as the second of `"%d" \n % (n)` does
        lines = ["" if MAGIC.match(line) else line for line in lines]
        module = _python("\n".join(lines))
    children = {} if module is None else _children(module)
    return (module, tuple(lines), children) if children else None


def _python(source: str) -> ast.Module | None:
    """The tree of some source, None where it is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a student's code, "\\d" for instance; it is not the checker's to tell
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


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
