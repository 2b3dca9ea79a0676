"""The files that are changed, each with the tests that should notice, and how many of its mutants are tried.

No list says which tests those are: the file's own come first, then those that name its module, then those of its folder,
then those of the modules that import it. The catalogue of exercises is left out: its mutants are the slips that it declares.
"""

import random
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

AREAS = ("shared", "checker")
USERS = (*AREAS, "benchmarks")
CATALOGUE = "shared/exercises/catalogue/"
BOXES = ("tests/checker/", "tests/exercises/")
LIBRARY = re.compile(r"shared/(?!exercises/)")
# What is computed, and where points come from: all mutants are tried. Of the other files a drawn sample.
WHOLE = re.compile(
    r"shared/(engine/)?\w+\.py|checker/grading/(box|judge)/|checker/points/|checker/rules/limit"
    r"|checker/reading/(archive|convert|exercises|notebook|text)"
    r"|shared/exercises/(arguments|calling|comparing|judging|process|results|steps|wording)"
)
SAMPLE = 40
SEED = 35


def files(root: Path = Path()) -> list[str]:
    """Every file that is changed, by its path below the project."""
    found = sorted(path.relative_to(root).as_posix() for area in AREAS for path in (root / area).rglob("*.py"))
    return [file for file in found if not file.startswith(CATALOGUE)]


def how_many(file: str) -> int | None:
    """The number of mutants of a file that are tried; None for all."""
    return None if WHOLE.match(file) else SAMPLE


def sample(labels: Iterable[str], size: int | None, file: str) -> list[str]:
    """So many of a file's mutants, the same every time, in its order; a larger sample holds the smaller ones."""
    labels = list(labels)
    drawn = random.Random(f"{SEED} {file}").sample(labels, len(labels))[:size]
    return sorted(drawn, key=labels.index)


def nearest_tests(file: str, root: Path = Path()) -> list[str]:
    """The test files of an area, nearest first: the file's own, those that name its module, its folder's."""
    folder = Path("tests", *Path(file).parent.parts[file.startswith("shared/") :])
    while not (root / folder).is_dir():
        folder = folder.parent
    tests = _texts(root, "tests", "test_*.py")
    own = [str(folder / f"test_{Path(file).stem}.py")]
    beside = [str(place) for place in tests if place.parent == folder != Path("tests")]
    nearest = dict.fromkeys([*own, *_that_name(file, tests), *beside])
    return [place for place in nearest if Path(place) in tests]


def relevant_tests(file: str, root: Path = Path()) -> list[str]:
    """The nearest test files, and behind them those that name a module that imports this one.

    A file of the library is tested by the library's tests alone: those of the checker and of the judge start boxes.
    """
    users = [user for area in USERS for user in _that_name(file, _texts(root, area, "*.py"))]
    further = [test for user in users for test in _that_name(user, _texts(root, "tests", "test_*.py"))]
    tests = dict.fromkeys([*nearest_tests(file, root), *further])
    return [test for test in tests if not (LIBRARY.match(file) and test.startswith(BOXES))]


def _that_name(file: str, texts: dict[Path, str]) -> list[str]:
    """The files whose text names a module, however it imports it."""
    package, _, name = file.removesuffix(".py").replace("/", ".").rpartition(".")
    imported = re.compile(rf"from {package} import ([^\n]*\b)?{name}|{package}\.{name}")
    if name == "__init__":
        imported = re.compile(f"from {package} import")
    return [str(place) for place, text in texts.items() if package in text and imported.search(text)]


@cache
def _texts(root: Path, folder: str, pattern: str) -> dict[Path, str]:
    """The files below a folder and what they hold."""
    paths = sorted((root / folder).rglob(pattern))
    return {path.relative_to(root): path.read_text(encoding="utf-8") for path in paths}
