"""Running tests in a child process that starts with torch already imported, and the course's modules not yet.

A child is forked for each mutant, so that what one does to the process (seeds, patches, threads) is gone with it. It is
run in a copy of the project, in which the mutant is in the place of the file. To import the course's modules takes it a
fifth of a second.
"""

import contextlib
import gc
import hashlib
import importlib
import json
import os
import resource
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from tests.mutants.copying import changed

# What the tests import from outside. Importing it takes ten times as long as most tests run.
PRELOAD = (
    "hypothesis",
    "jinja2",
    "jupyter_client",
    "mistune",
    "nbclient",
    "nbformat.v4",
    "nh3",
    "pandas",
    "peft",
    "pygments.formatters",
    "rich.console",
    "torch._dynamo",
    "transformers",
    "transformers.models.gpt2.modeling_gpt2",
    "transformers.models.llama.modeling_llama",
    "trl",
    "trl.trainer.grpo_trainer",
    "typer",
    "yaml",
)
# Seconds of the CPU, seconds in all, and bytes of address space: a mutant that runs on, waits or collects for ever is
# caught, and harms nobody else. A busy machine makes no mutant look caught. It gets so many times what its tests take
# without it, and the time in which any test file is collected.
LONGEST = 60
TIMES_LONGER = 5
COLLECTING = 15
WAITING = 6  # times as long in all, on a machine where others work too
LARGEST = 8 * 2**30
# Bare assertions, no plugins and so no checks of shapes: a mutant's tests shall take longer than pytest's own start, and
# what catches it shall be a test of what is computed. `addopts` has the options of a plugin that is not loaded.
QUIET = ["-q", "--tb=no", "--assert=plain", "--disable-plugin-autoload", "-p", "no:cacheprovider"]
QUIET += ["-o", "addopts=", "-m", "not slow"]
PASSED, FAILED, NO_TESTS = 0, 1, 5


class Chosen:
    """A plugin of pytest: runs these tests only, in this order."""

    def __init__(self, tests: list[str]):
        self.place = {test: i for i, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items):
        items[:] = sorted(
            (item for item in items if item.nodeid in self.place), key=lambda item: self.place[item.nodeid]
        )


class Timed:
    """A plugin of pytest: tells coverage which test is running, and keeps how long each took that passed.

    In seconds of the CPU, those of processes that it started and waited for among them.
    """

    def __init__(self, traced):
        self.traced = traced
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()

    def pytest_runtest_setup(self, item):
        self.traced.switch_context(item.nodeid)

    def pytest_runtest_logstart(self, nodeid):
        self.started = sum(os.times()[:4])

    def pytest_runtest_logreport(self, report):
        if not report.passed:
            self.failed.add(report.nodeid)

    def pytest_runtest_logfinish(self, nodeid):
        if nodeid not in self.failed:
            self.seconds[nodeid] = sum(os.times()[:4]) - self.started


@dataclass(frozen=True)
class Trace:
    """The tests of a test file, with the file that is changed as it is.

    seconds: what those take that pass.    failing: the others, which notice nothing.    by_line: the tests that run a line.
    """

    seconds: dict[str, float]
    failing: list[str]
    by_line: dict[int, list[str]]

    def tests_of(self, lines: range) -> set[str]:
        """The tests that run one of these lines."""
        return {test for line in lines for test in self.by_line.get(line, ())} & self.seconds.keys()


def prepare() -> None:
    """Import what the tests import from outside, so that no child has to."""
    torch.set_num_threads(1)  # threads do not survive a fork
    for module in PRELOAD:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()  # no child looks through these objects for garbage


def in_child(work: Callable[[], int], longest: float = LONGEST) -> int:
    """The value that `work` returns in a forked process, or minus the number of the signal that killed it, such as its alarm.

    Processes that it leaves behind are ended with it.
    """
    child = os.fork()
    if child == 0:
        os.setsid()
        signal.setitimer(signal.ITIMER_PROF, longest)
        signal.setitimer(signal.ITIMER_REAL, WAITING * longest)
        resource.setrlimit(resource.RLIMIT_AS, (LARGEST, LARGEST))
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        os._exit(work())
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return status


def keep_nothing_compiled() -> None:
    """Keep nothing that is compiled of a mutant, here and in the processes that a test starts."""
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"


def fails(file: Path, source: str, tests: dict[str, float], tries: int = 1) -> bool:
    """True if one of the tests fails, or runs on for ever, each time with this source in place of the file's.

    tests: with the seconds of the CPU that each takes while the file is as it is, in the order in which they run.
    tries: more than one for tests in boxes, which a busy machine may fail as well.
    """

    def work() -> int:
        keep_nothing_compiled()
        files = dict.fromkeys(test.split("::")[0] for test in tests)
        return int(pytest.main([*QUIET, "-x", *files], plugins=[Chosen(list(tests))]))

    longest = COLLECTING + TIMES_LONGER * sum(tests.values())
    with changed(file, source):
        return all(in_child(work, longest=longest) != PASSED for _ in range(tries))


def trace(file: Path, test_file: str, folder: Path) -> Trace:
    """Run a test file as the code is. A trace that is kept in `folder` is taken from there while neither file has changed."""
    import coverage  # here, since what runs tests alone need not have it

    name = test_file.replace("/", "-")
    told = folder / f"{name}.json"
    measured = folder / f"{name}.coverage"
    wanted = {path: version_of(Path(path)) for path in (test_file, str(file))}
    if told.exists():
        kept = json.loads(told.read_text())
        if all(kept["versions"].get(path) == version for path, version in wanted.items()):
            found = coverage.CoverageData(basename=str(measured))
            found.read()
            return Trace(kept["seconds"], kept["failing"], found.contexts_by_lineno(str(file.resolve())))
    folder.mkdir(parents=True, exist_ok=True)
    measured.unlink(missing_ok=True)
    told.unlink(missing_ok=True)
    if in_child(lambda: traced(test_file, told, measured), longest=15 * LONGEST) not in (PASSED, FAILED, NO_TESTS):
        raise RuntimeError(f"{test_file}, which tests {file}, cannot be run as it is.")
    return trace(file, test_file, folder)


def traced(test_file: str, told: Path, measured: Path) -> int:
    """Run a test file and write down its trace; pytest's exit status."""
    import coverage

    versions = {str(path): version_of(path) for area in ("shared", "checker") for path in Path(area).rglob("*.py")}
    watched = coverage.Coverage(data_file=str(measured), source=["shared", "checker"])
    timed = Timed(watched)
    watched.start()
    code = int(pytest.main([*QUIET, test_file], plugins=[timed]))
    watched.stop()
    watched.save()
    versions[test_file] = version_of(Path(test_file))
    told.write_text(json.dumps({"seconds": timed.seconds, "failing": sorted(timed.failed), "versions": versions}))
    return code


def version_of(file: Path) -> str:
    """The hash of a file as `git hash-object` gives it, so that a reader can tell whether a row is of today's."""
    content = file.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
