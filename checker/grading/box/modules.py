"""The files of the project that a box shows: some modules and what these import, and nothing else."""

import ast
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from checker.grading.box.walls import ROOT

# What calls a student's function in a box. None of these, and nothing that they import, knows a reference.
CALLING = ("checker.grading.box.inside.__main__", "checker.grading.box.inside.answers")
PACKAGES = ("shared", "checker")


def files(names: Iterable[str], root: Path = ROOT) -> dict[str, Path]:
    """The files of modules and of all of the project that they import: path below the project -> file.

    What a module reads when it is imported lies beside it and has its name: `named.toml` belongs to `named.py`. A name may be that of a module or of something in one, "shared.tasks.tags.parse".
    """
    found = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        for part in _with_parents(name):
            path = _file(part, root)
            if path is None or str(path.relative_to(root)) in found:
                continue
            found[str(path.relative_to(root))] = path
            table = path.with_suffix(".toml")
            if table.is_file():
                found[str(table.relative_to(root))] = table
            waiting.extend(_imports(path))
    return found


def refused(imports: Iterable[str], allowed: Iterable[str]) -> list[str]:
    """The imported names of the project that are not allowed.

    With a name its module may be imported, with a module everything in it.
    """
    with_parents = {part for name in allowed for part in _with_parents(name)}
    whole = set(allowed)
    return sorted(name for name in set(imports) if name not in with_parents and whole.isdisjoint(_with_parents(name)))


def _with_parents(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts) + 1)]


def _file(name: str, root: Path) -> Path | None:
    """The file of a module; None for a name that is none, such as a function's."""
    place = root.joinpath(*name.split("."))
    return next((path for path in (place / "__init__.py", place.with_suffix(".py")) if path.is_file()), None)


@cache
def _imports(path: Path) -> list[str]:
    """The project's names that a file imports, of modules or of what is in them. A file is read once."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return [name for name in found if name.split(".")[0] in PACKAGES]
