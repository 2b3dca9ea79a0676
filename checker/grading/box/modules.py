"""Which files of `shared/` a box shows: some modules and what these import, and nothing else."""

import ast
from collections.abc import Iterable
from pathlib import Path

from checker.grading.boxes import ROOT
from checker.grading.functions import PROJECT

# What a call of a student's function is made with; none of these knows a reference.
CALLING = ("shared.exercises.calling", "shared.exercises.exercise", "shared.exercises.results")


def files(modules: Iterable[str], root: Path = ROOT) -> dict[str, Path]:
    """The files of modules and of all of the project that they import: path below the project -> file."""
    found = {}
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        for part in _with_parents(name):
            path = _file(part, root)
            if path is None or str(path.relative_to(root)) in found:
                continue
            found[str(path.relative_to(root))] = path
            waiting.extend(_imports(path, part))
    return found


def names(modules: Iterable[str], root: Path = ROOT) -> frozenset[str]:
    """The names of the modules that `files` shows."""
    paths = (Path(inside).with_suffix("") for inside in files(modules, root))
    return frozenset(".".join(path.parent.parts if path.name == "__init__" else path.parts) for path in paths)


def refused(imports: Iterable[str], allowed: frozenset[str], root: Path = ROOT) -> list[str]:
    """Which of the imported names are modules of the project that are not allowed."""
    return sorted(name for name in set(imports) if _file(name, root) is not None and name not in allowed)


def _with_parents(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts) + 1)]


def _file(name: str, root: Path) -> Path | None:
    """The file of a module; None for a name that is none, such as a function's."""
    place = root.joinpath(*name.split("."))
    return next((path for path in (place / "__init__.py", place.with_suffix(".py")) if path.is_file()), None)


def _imports(path: Path, name: str) -> list[str]:
    """The project's names that a file imports, of modules or of what is in them."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return [module for module in found if module.split(".")[0] == PROJECT]
