"""`python -m tests.mutants.people [NUMBER ...]`: put each mistake of people.yml into a copy of the project, and run tests.

A mistake is one that an engineer would make: a call removed, `any` for `all`, a flag ignored, a cache key without a
field, the wrong one of two similar names. It was written by a reader of the code who had not read its tests. The fast
tests of its area run until one fails: those that mirror the file's folder, then those that name its module.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.mutants.copying import changed, copied, run_in
from tests.mutants.files import nearest_tests

LIST = Path(__file__).with_name("people.yml")
COPY = Path("build/people")
PATIENCE = 600.0  # seconds of the CPU for the tests of one mistake
SAID = Path("build/failed").absolute()  # in the copy: the test that failed, which may have gone to another folder


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
    status = in_child(
        lambda: int(pytest.main([*QUIET, "-x", *left_out, *tests], plugins=[FirstFailure()])), longest=PATIENCE
    )
    return "" if status == PASSED else SAID.read_text()


def run(mistakes: dict[int, Mistake]) -> Iterator[tuple[int, str]]:
    """In the copy: each mistake's number, and the test that noticed it, "" for none.

    A test that fails without the mistake as well notices nothing.
    """
    from tests.mutants.running import prepare

    prepare()
    broken: list[str] = []
    for number, mistake in mistakes.items():
        tests = nearest_tests(mistake.file)
        while True:
            with changed(Path(mistake.file), made(mistake)):
                noticed = failing(tests, broken)
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
        chosen = ["--here", "--list", str(options.list.resolve()), *map(str, options.numbers)]
        sys.exit(run_in(options.copy, "tests.mutants.people", *chosen))
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
