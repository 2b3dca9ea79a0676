"""`python -m tests.mutants.people [NUMBER ...]`: put each mistake of people.yml into a copy of the project, and run tests.

A mistake is one that an engineer would make: a call removed, `any` for `all`, a flag ignored, a cache key without a
field, the wrong one of two similar names. It was written by a reader of the code who had not read its tests. The fast
tests of its area run until one fails: those that mirror the file's folder, then those that name its module.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

LIST = Path(__file__).with_name("people.yml")
COPY = Path("build/people")
PATIENCE = 600.0  # seconds of the CPU for the tests of one mistake
SAID = Path("build/failed")  # in the copy: the test that failed


@dataclass(frozen=True)
class Mistake:
    """A mistake in a file: `new` in the place of `old`, and what follows from it in a sentence."""

    file: str
    old: str
    new: str
    says: str


def read(path: Path = LIST) -> list[Mistake]:
    """The mistakes of a list."""
    return [Mistake(**entry) for entry in yaml.safe_load(path.read_text(encoding="utf-8"))]


def made(mistake: Mistake, root: Path = Path()) -> str:
    """The source of the file with the mistake in it. ValueError where `old` is not there exactly once."""
    source = (root / mistake.file).read_text(encoding="utf-8")
    if (count := source.count(mistake.old)) != 1:
        raise ValueError(f"{mistake.file} holds {mistake.old!r} {count} times. Give a text that it holds once.")
    return source.replace(mistake.old, mistake.new)


def nearest_tests(file: str, root: Path = Path()) -> list[str]:
    """The test files of an area, nearest first: the file's own, those that name its module, its folder's."""
    package, _, name = file.removesuffix(".py").replace("/", ".").rpartition(".")
    folder = Path("tests", *Path(file).parent.parts[file.startswith("shared/") :])
    while not (root / folder).is_dir():
        folder = folder.parent
    own, named, beside = [], [], []
    for path in sorted((root / "tests").rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        place = path.relative_to(root)
        if place == folder / f"test_{name}.py":
            own.append(str(place))
        elif f"{package}.{name}" in text or f"from {package} import {name}" in text:
            named.append(str(place))
        elif place.parent == folder != Path("tests"):
            beside.append(str(place))
    return own + named + beside


def copied(folder: Path) -> None:
    """Make a copy of the project as it lies here: what git tracks, and what it would."""
    shutil.rmtree(folder, ignore_errors=True)
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        stdout=subprocess.PIPE, text=True, check=True,
    ).stdout.split("\0")  # fmt: skip
    for name in filter(os.path.isfile, listed):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(name, target)


class FirstFailure:
    """A plugin of pytest: writes down the test, or the file, that failed."""

    def pytest_runtest_logreport(self, report):
        if report.failed:
            SAID.write_text(report.nodeid)

    pytest_collectreport = pytest_runtest_logreport


def failing(tests: list[str], without: list[str]) -> str:
    """The first of these tests that fails; "" where none does, "the time" where they run for ever."""
    import pytest

    from tests.mutants.running import PASSED, QUIET, in_child

    SAID.parent.mkdir(exist_ok=True)
    SAID.write_text("the time")
    left_out = [option for test in without for option in ("--deselect", test)]
    status = in_child(lambda: int(pytest.main([*QUIET, *left_out, *tests], plugins=[FirstFailure()])), longest=PATIENCE)
    return "" if status == PASSED else SAID.read_text()


def run(mistakes: dict[int, Mistake]) -> Iterator[tuple[int, str]]:
    """In the copy: each mistake's number, and the test that noticed it, "" for none.

    A test that fails without the mistake as well notices nothing.
    """
    from tests.mutants.running import prepare

    prepare()
    broken: list[str] = []
    for number, mistake in mistakes.items():
        file = Path(mistake.file)
        right = file.read_text(encoding="utf-8")
        tests = nearest_tests(mistake.file)
        while True:
            file.write_text(made(mistake), encoding="utf-8")
            noticed = failing(tests, broken)
            file.write_text(right, encoding="utf-8")
            if not noticed or "::" not in noticed or not failing([noticed], broken):
                break
            broken.append(noticed)
        yield number, noticed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("numbers", nargs="*", type=int, metavar="NUMBER", help="of mistakes in the list, from 1")
    parser.add_argument("--list", type=Path, default=LIST, help="another list")
    parser.add_argument("--copy", type=Path, default=COPY, help="the folder of the copy")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.here:
        copied(options.copy)
        command = [sys.executable, "-m", "tests.mutants.people", "--here", "--list", str(options.list.resolve())]
        sys.exit(subprocess.run([*command, *map(str, options.numbers)], cwd=options.copy).returncode)
    mistakes = dict(enumerate(read(options.list), 1))
    chosen = {number: mistakes[number] for number in options.numbers or mistakes}
    missed = 0
    for number, noticed in run(chosen):
        missed += not noticed
        told = f"noticed by {noticed}" if noticed else "NOT NOTICED"
        print(f"{number:3d} {chosen[number].file}: {told}: {chosen[number].says}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} noticed")


if __name__ == "__main__":
    main()
