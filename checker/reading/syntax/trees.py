"""The code cells of a notebook, parsed.

Where a cell is no Python as it stands, its lines of IPython magic are read as `pass`, so that line numbers stay. A cell
that is still no Python is skipped, and `cells_not_python` tells of it.
"""

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from checker.reading.notebook import Cell, Notebook
from checker.reading.options import is_left_out
from checker.reading.syntax.expressions import direct_parts

# Lines that continue a formula, `% n)` and `!= n)`, are none.
MAGIC = re.compile(r"^\s*+(?:%{1,2}\w|!(?!=)|\?|[\w.\[\]]++\?{1,2}\s*$|[\w, ]++=\s*[%!])")
TIMED_LINE = re.compile(r"^(\s*+)%time\s++(?=[^-\s])")  # what stands behind it is run
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
    seen: set[str] = set()
    for cell in _read_cells(notebook):
        # A class shares the cells that were handed out. In one notebook each cell has nodes of its own.
        read = _parsed.__wrapped__ if cell.source in seen else _parsed
        seen.add(cell.source)
        parsed = read(cell.source)
        if parsed is not None:
            trees.append(Tree(cell.number, *parsed))
    return trees


def cells_not_python(notebook: Notebook) -> Iterator[tuple[int, SyntaxError]]:
    """Each code cell that is to be run and that this Python cannot read: its number, and why."""
    for cell in _read_cells(notebook):
        if _parsed(cell.source) is None and not _is_no_code(cell.source) and not is_left_out(cell):
            error = _syntax_error(_without_magic(cell.source))
            if error is not None:
                yield cell.number, error


def _read_cells(notebook: Notebook) -> Iterator[Cell]:
    """The code cells in Python, in order, until they have more than `MAX_ALL_CODE` characters."""
    size = 0
    for cell in filter(lambda cell: cell.in_python, notebook.code_cells):
        size += len(cell.source)
        if size > MAX_ALL_CODE:
            return
        yield cell


def _is_no_code(source: str) -> bool:
    """True for data, which is too long for code, and for a cell in another language, such as `%%bash`."""
    return len(source) > MAX_CODE or (source.lstrip().startswith("%%") and not TIMED.match(source))


def _syntax_error(source: str) -> SyntaxError | None:
    """The error for which some source is no Python; None for none."""
    try:
        _tree(source)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError):
        return None
    return None


def _without_magic(source: str) -> str:
    """The source with `pass` for each line of magic, and nothing for the lines that continue it.

    `pass` keeps a block that holds nothing else; blank lines alone would leave it empty.
    """
    lines = []
    continued = False
    for line in source.split("\n"):
        line = line if continued else TIMED_LINE.sub(r"\1", line)
        magic = continued or MAGIC.match(line) is not None
        indent = line[: len(line) - len(line.lstrip())]
        lines.append("" if continued else f"{indent}pass" if magic else line)
        continued = magic and line.rstrip().endswith("\\")
    return "\n".join(lines)


@lru_cache(maxsize=REMEMBERED)
def _parsed(source: str) -> tuple[ast.Module, tuple[str, ...], dict[ast.AST, list[ast.AST]]] | None:
    """The tree of a cell, its lines and what stands in each node; None for what is not Python, too long or too deep."""
    if _is_no_code(source):
        return None
    read = source
    module = _python(source)
    if module is None:  # only now: in plain Python a line of a text may begin as magic does
        read = _without_magic(source)
        module = _python(read)
    children = {} if module is None else _children(module)
    return (module, tuple(read.split("\n")), children) if children else None


def _python(source: str) -> ast.Module | None:
    """The tree of some source, None where it is no Python."""
    try:
        return _tree(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _tree(source: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a student's code, "\\d" for instance; it is not the checker's to tell
        return ast.parse(source)


def _children(module: ast.Module) -> dict[ast.AST, list[ast.AST]]:
    """The nodes directly in each node of a tree, outermost first; empty for a tree that is too deep."""
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
