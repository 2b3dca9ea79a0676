"""The tests that may be skipped, and why. Any other skip is a failure: a test that never runs notices nothing.

A plugin of pytest, registered by `tests/conftest.py`.
"""

from dataclasses import dataclass
from fnmatch import fnmatchcase

import pytest


@dataclass(frozen=True)
class Allowed:
    """tests: a pattern for the name of the test or the file; says: one for what the skip says; why: for the reader."""

    tests: str
    says: str
    why: str


ALLOWED = (
    Allowed("tests/**/test_*browser.py::*", "no Chromium is installed", "No package on the index brings a browser."),
    Allowed("tests/**/test_*browser.py::*", "no chromedriver is installed", "It comes with some Chromiums only."),
    Allowed("tests/**/test_*browser.py::*", "axe-core is not at *", "npm brings it, and no package on the index."),
    Allowed("tests/checker/site/test_quarto_itself.py::*", "no Quarto is installed", "It is a program of its own."),
    Allowed("tests/checker/pages/test_pandoc.py::*", "no pandoc is installed", "It is a program of its own."),
    Allowed("tests/checker/site/test_cell_words.py::*", "no pandoc is installed", "It is a program of its own."),
    Allowed("tests/checker/site/test_quarto_itself.py::*", "no Chromium is installed", "As for the built-in pages."),
    Allowed(
        "tests/checker/site/test_quarto_itself.py::*", "no chromedriver is installed", "As for the built-in pages."
    ),
    Allowed("tests/checker/site/test_quarto_itself.py::*", "axe-core is not at *", "As for the built-in pages."),
    Allowed("tests/**/test_*browser.py::*", "nothing was built for Try it*", "`make site` makes it, over the net."),
    Allowed("tests/**/test_*browser.py::*", "no Python for the browser is here*", "`make site` gets it, over the net."),
    Allowed("tests/**/test_*browser.py::*", "no Node is installed", "It comes with npm, a program of its own."),
    Allowed(
        "tests/checker/reading/test_hostile_names.py::*",
        "this file system takes only UTF-8",
        "So it is on macOS and Windows.",
    ),
    Allowed(
        "tests/checker/reading/test_hostile_names.py::*",
        "permissions are another matter here",
        "Root may read every file.",
    ),
    Allowed(
        "tests/test_tryit.py::*", "could not import 'onnx*", "Only `make site` needs it, and shows a still without."
    ),
    Allowed("tests/run/test_taskset.py*", "could not import 'verifiers*", "It brings a hundred packages along."),
    Allowed("tests/checker/grading/*", "bubblewrap is not installed: *", "It is a package of the system."),
    Allowed(
        "tests/checker/grading/box/test_isolation.py::test_a_real_container_holds*",
        "no such container here: *",
        "Podman is a reader's choice, and needs more of a system than being installed.",
    ),
    Allowed(
        "tests/checker/grading/box/test_cgroups.py::*", "no cgroup for a box here: *", "Few machines delegate one."
    ),
    Allowed(
        "tests/checker/grading/judge/test_many_machines.py::*", "no openssl is installed", "It makes the certificates."
    ),
    Allowed(
        "tests/checker/grading/box/test_isolation.py::*", "the numbers of this machine's system*", "An odd processor."
    ),
    Allowed("tests/checker/grading/box/test_isolation.py::*", "the system does not count *", "A kernel before 5.14."),
    Allowed("tests/run/test_loggers.py::*", "could not import 'tensorboard'*", "A reader's choice, not installed."),
    Allowed("tests/engine/test_memory.py::*", "only glibc can be asked", "Not on macOS, Windows and Alpine."),
    Allowed("tests/engine/*", "kill -9 and fork are POSIX", "Not on Windows."),
    Allowed(
        "tests/test_recorded.py::*", "the history is not here", "A shallow clone has none, and a copy without git."
    ),
    Allowed(
        "tests/test_smollm2.py::*", "the model smollm2 is not fetched: *", "No test downloads; .ci/run fetches it."
    ),
    Allowed("tests/test_notebook_form.py::*", "its model is not fetched: *", "A chapter's header names it."),
    Allowed("tests/mutants/test_changes.py", "could not import 'mutmut'*", "Only `make mutants` installs it."),
)


def is_allowed(name: str, said: str) -> bool:
    return any(fnmatchcase(name, allowed.tests) and fnmatchcase(said, allowed.says) for allowed in ALLOWED)


def judged(report):
    """The report, failed where it is of a skip that is not allowed. What is expected to fail is no skip."""
    if not report.skipped or hasattr(report, "wasxfail"):
        return report
    said = report.longrepr[2].removeprefix("Skipped: ")
    if not is_allowed(report.nodeid, said):
        report.outcome = "failed"
        report.longrepr = (
            f"{report.nodeid} is skipped ({said}), and tests/skips.py does not allow that. Mend what keeps it from "
            "running, or add it there with the reason why it may be left out."
        )
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport():
    return judged((yield))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report():
    return judged((yield))
