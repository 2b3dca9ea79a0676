"""Running tests in a child process that starts with torch already imported, and the course's modules not yet.

A child is forked for each mutant, so that what one does to the process (seeds, patches, threads) is gone with it.
"""

import gc
import importlib.abc
import importlib.util
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch

if TYPE_CHECKING:
    import coverage

# What the tests import from outside. Importing it takes ten times as long as most tests run.
PRELOAD = (
    "hypothesis",
    "peft",
    "torch._dynamo",
    "transformers",
    "transformers.models.gpt2.modeling_gpt2",
    "transformers.models.llama.modeling_llama",
    "trl",
    "trl.trainer.grpo_trainer",
)
# Seconds of the CPU, seconds in all, and bytes of address space: a mutant that runs on, waits or collects for ever is
# caught, and harms nobody else. A busy machine makes no mutant look caught. It gets so many times what its tests take
# without it, and the time in which any test file is collected.
LONGEST = 60
TIMES_LONGER = 5
COLLECTING = 15
LONGEST_WAIT = 900
LARGEST = 8 * 2**30
# Bare assertions, no plugins and so no checks of shapes: a mutant's tests shall take longer than pytest's own start, and
# what catches it shall be a test of what is computed. `addopts` has the options of a plugin that is not loaded.
QUIET = ["-q", "-x", "--tb=no", "--assert=plain", "--disable-plugin-autoload", "-p", "no:cacheprovider"]
QUIET += ["-o", "addopts=", "-m", "not slow"]
PASSED = 0


class Changed(importlib.abc.MetaPathFinder, importlib.abc.SourceLoader):
    """Gives one module another source; the file stays as it is."""

    def __init__(self, file: Path, source: str):
        self.file = file
        self.source = source
        self.name = ".".join(file.with_suffix("").parts)

    def find_spec(self, name, path, target=None):
        if name != self.name:
            return None
        return importlib.util.spec_from_file_location(name, self.file, loader=self)

    def get_filename(self, name):
        return str(self.file.resolve())

    def get_data(self, path):
        return self.source.encode()


class Chosen:
    """A plugin of pytest: runs these tests only, in this order."""

    def __init__(self, tests: list[str]):
        self.place = {test: i for i, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items):
        items[:] = sorted(
            (item for item in items if item.nodeid in self.place), key=lambda item: self.place[item.nodeid]
        )


class Timed:
    """A plugin of pytest: tells coverage which test is running, and keeps how long each took, in seconds of the CPU."""

    def __init__(self, traced: "coverage.Coverage"):
        self.traced = traced
        self.seconds: dict[str, float] = {}

    def pytest_runtest_setup(self, item):
        self.traced.switch_context(item.nodeid)

    def pytest_runtest_logstart(self, nodeid):
        self.started = time.process_time()

    def pytest_runtest_logfinish(self, nodeid):
        self.seconds[nodeid] = time.process_time() - self.started


def prepare() -> None:
    """Import what the tests import from outside, so that no child has to."""
    torch.set_num_threads(1)  # threads do not survive a fork
    for module in PRELOAD:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()  # no child looks through these objects for garbage


def in_child(work: Callable[[], int], longest: float = LONGEST) -> int:
    """The value that `work` returns in a forked process, or minus the number of the signal that killed it, such as its alarm."""
    child = os.fork()
    if child == 0:
        signal.setitimer(signal.ITIMER_PROF, longest)
        signal.setitimer(signal.ITIMER_REAL, LONGEST_WAIT)
        resource.setrlimit(resource.RLIMIT_AS, (LARGEST, LARGEST))
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        os._exit(work())
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def fails(file: Path, source: str, tests: list[str], seconds: float) -> bool:
    """True if one of the tests fails, or runs on for ever, with this source in place of the file's.

    `seconds`: what the tests take with the file as it is.
    """

    def work() -> int:
        sys.meta_path.insert(0, Changed(file, source))
        return int(pytest.main([*QUIET, *files_of(tests)], plugins=[Chosen(tests)]))

    return in_child(work, longest=COLLECTING + TIMES_LONGER * seconds) != PASSED


def files_of(tests: list[str]) -> list[str]:
    return list(dict.fromkeys(test.split("::")[0] for test in tests))


def trace(file: Path, test_file: str, result: Path) -> tuple[dict[str, float], dict[int, set[str]]]:
    """The seconds of each test, and which tests run each line of the file. RuntimeError when one fails as it is."""
    import coverage  # here, since what runs tests alone need not have it

    def work() -> int:
        traced = coverage.Coverage(data_file=None, include=[str(file.resolve())])
        timed = Timed(traced)
        traced.start()
        code = int(pytest.main([*QUIET, test_file], plugins=[timed]))
        traced.stop()
        by_line = traced.get_data().contexts_by_lineno(str(file.resolve()))
        result.write_text(json.dumps([timed.seconds, by_line]))
        return code

    if in_child(work, longest=10 * LONGEST) != PASSED:
        raise RuntimeError(f"{test_file}, which tests {file}, fails without any change.")
    seconds, by_line = json.loads(result.read_text())
    return seconds, {int(line): set(tests) - {""} for line, tests in by_line.items()}
