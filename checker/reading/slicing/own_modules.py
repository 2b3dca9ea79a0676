"""Modules of a student's own: files of Python that lie beside a notebook, `helpers.py` for `import helpers`.

Those that were handed in beside a notebook are graded with it. They are data like the notebook: nothing imports them here.
"""

import ast
import sys
import sysconfig
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from importlib.machinery import PathFinder

from checker.reading.syntax.scopes import IMPORTS
from checker.reading.syntax.statements import PROJECT, imported, one_by_one

MODULE = ".py"
LARGEST = 100_000  # bytes of one
MOST = 10  # beside one notebook
OF_THE_COURSE = (PROJECT, "checker")


def why_left(name: str, size: int) -> str:
    """The reason why a file is not taken along, in a sentence; "" for one that is. name: the file's, "helpers.py"."""
    module = name.removesuffix(MODULE)
    if not module.isidentifier():
        return "Its name is none that Python imports."
    if module in OF_THE_COURSE or module in sys.stdlib_module_names or _is_installed(module):
        return (
            f"Its name is that of another module: `import {module}` would not find this one. Give it a name of its own."
        )
    if size > LARGEST:
        return f"It has more than {LARGEST // 1000} kB, and a module of one's own may have no more."
    return ""


@dataclass
class Needed:
    """Modules that a function needs.

    statements: of each module, by its name, those at top level.    imports: names of the project that they import.
    left_out: sentences on what is not taken along.
    """

    statements: dict[str, tuple[str, ...]] = field(default_factory=dict)
    imports: set[str] = field(default_factory=set)
    left_out: list[str] = field(default_factory=list)


def read_modules(
    nodes: Iterable[ast.AST], files: dict[str, str], find_forbidden: Callable[[Collection[str]], list[str]]
) -> Needed:
    """Return the student's own modules that some nodes import, and those that these import.

    Statements that import what is not allowed are left out: what they define is then not there.
    """
    found = Needed()
    waiting = [name for node in nodes for name in names_imported(node)] if files else []
    while waiting:
        name = waiting.pop()
        file = f"{name}{MODULE}"
        if file not in files or name in found.statements:
            continue
        found.statements[name] = ()
        try:
            module = ast.parse(files[file])
            parts = [
                part for node in module.body for part in (one_by_one(node) if isinstance(node, IMPORTS) else [node])
            ]
            sources = [ast.unparse(part) for part in parts]
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            found.left_out.append(f"`{file}` cannot be read as Python, so nothing in it is there.")
            continue
        kept = []
        for part, source in zip(parts, sources):
            imports = set(imported(part))
            if forbidden := find_forbidden(imports):
                found.left_out.append(
                    f"A statement of `{file}` is left out: it needs {forbidden[0]}, which is not shown."
                )
                continue
            kept.append(source)
            found.imports |= imports
            waiting.extend(names_imported(part))
        found.statements[name] = tuple(kept)
    return found


def names_imported(node: ast.AST) -> Iterator[str]:
    """The topmost names of all modules that are imported anywhere in a node."""
    for part in ast.walk(node):
        if isinstance(part, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in part.names)
        elif isinstance(part, IMPORTS) and part.level == 0 and part.module:
            yield part.module.partition(".")[0]


def _is_installed(module: str) -> bool:
    """True for a package that is installed beside Python, whatever the folder from which this is called."""
    return PathFinder.find_spec(module, [sysconfig.get_path(kind) for kind in ("purelib", "platlib")]) is not None
