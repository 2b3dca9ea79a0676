"""The environment: which commands are given to pip, without a network, and what is said when they fail."""

import contextlib
import re
import subprocess
import sys
import urllib.error
from pathlib import Path
from types import SimpleNamespace

import pytest

from checker.setup import environment

CPU_INDEX = ["--index-url", environment.CPU_INDEX]


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A clone on Linux whose index of CPU builds answers; `calls` are what was run, `there` is the torch installed.

    `failing` is a word of the commands that fail.
    """
    state = SimpleNamespace(root=tmp_path, calls=[], there="", reason="", failing=None)
    for name, path in (
        ("ROOT", ""),
        ("ENVIRONMENT", ".venv"),
        ("PROJECT", "pyproject.toml"),
        ("REQUIREMENTS", "requirements.txt"),
        ("TEST_REQUIREMENTS", "requirements-test.txt"),
        ("CONSTRAINTS", "constraints.txt"),
    ):
        monkeypatch.setattr(environment, name, tmp_path / path)
    for path in (environment.PROJECT, environment.TEST_REQUIREMENTS, environment.CONSTRAINTS):
        path.write_text("")
    environment.REQUIREMENTS.write_text("numpy==1.0\ntorch==2.13.0\n")
    monkeypatch.setattr(environment, "SYSTEM", "linux")
    monkeypatch.setattr(environment, "installed_torch", lambda: state.there)
    monkeypatch.setattr(environment, "why_unreachable", lambda index: state.reason)

    def call(command, **_):
        if "venv" in command:
            environment.interpreter().parent.mkdir(parents=True)
            environment.interpreter().touch()
        if "torch==2.13.0" in command:
            state.there = "2.13.0+cpu" if environment.CPU_INDEX in command else "2.13.0"
        state.calls.append(command)
        return int(state.failing in command)

    monkeypatch.setattr(environment.subprocess, "call", call)
    return state


def all_of(requirements: Path) -> list[str]:
    """The arguments by which pip installs a list of requirements, with the pins of everything that they bring."""
    return ["-c", str(environment.CONSTRAINTS), "-r", str(requirements)]


def pip_calls(state) -> list[list[str]]:
    """The arguments of every `pip install`, without those that all calls have."""
    same = [str(environment.interpreter()), "-m", "pip", "install", "--disable-pip-version-check"]
    calls = [command for command in state.calls if "pip" in command]
    assert all(command[:5] == same for command in calls)
    return [command[5:] for command in calls]


def test_the_first_time_torch_comes_by_itself_from_the_index_of_cpu_builds(clone, capsys):
    """Catches gigabytes of CUDA on a laptop, and all other packages taken from an index that lacks them."""
    environment.setup()
    assert clone.calls[0] == [sys.executable, "-m", "venv", str(environment.ENVIRONMENT)]
    assert pip_calls(clone) == [
        [*CPU_INDEX, "--no-deps", "torch==2.13.0"],
        ["--quiet", *all_of(environment.REQUIREMENTS)],
        ["--quiet", "--no-deps", "--no-build-isolation", "-e", str(clone.root)],
    ]
    assert "GB to download" in capsys.readouterr().out
    assert environment.up_to_date(tests=False) and not environment.up_to_date(tests=True)


def test_size_and_time_are_said_before_anything_is_done(clone, capsys, monkeypatch):
    def begin():
        print("BEGINS")
        raise KeyboardInterrupt

    monkeypatch.setattr(environment, "_make_environment", begin)
    with pytest.raises(KeyboardInterrupt):
        environment.setup("cuda")
    said = capsys.readouterr().out
    assert said.index("several GB") < said.index("BEGINS") and "half an hour" in said


def test_the_plain_index_serves_where_the_other_cannot_be_reached(clone, capsys):
    clone.reason = "Name or service not known"
    environment.setup()
    assert pip_calls(clone)[:2] == [["--no-deps", "torch==2.13.0"], all_of(environment.REQUIREMENTS)]
    said = capsys.readouterr().out
    assert "Name or service not known" in said and "Ctrl-C" in said
    assert "often the build for CUDA, several GB. For the small build" in said and "call the same again where" in said
    assert "HTTPS_PROXY" in said and f"{environment.interpreter()} -m pip install" in said


@pytest.mark.parametrize(("system", "build"), [("linux", "cuda"), ("darwin", None), ("win32", None), ("win32", "cpu")])
def test_only_linux_needs_the_index_of_cpu_builds(clone, monkeypatch, system, build):
    monkeypatch.setattr(environment, "SYSTEM", system)
    environment.setup(build)
    assert pip_calls(clone)[0] == ["--no-deps", "torch==2.13.0"]


@pytest.mark.parametrize(("system", "said"), [("darwin", "COURSE_DEVICE=mps"), ("win32", "pytorch.org")])
def test_cuda_is_refused_where_the_package_index_has_none(clone, monkeypatch, system, said):
    monkeypatch.setattr(environment, "SYSTEM", system)
    with pytest.raises(environment.SetupError, match=said):
        environment.setup("cuda")
    assert clone.calls == []


def test_torch_that_is_there_is_not_asked_for_again(clone, monkeypatch):
    """Catches a wait for an index at each change of another requirement."""
    clone.there = "2.13.0"
    monkeypatch.setattr(environment, "why_unreachable", lambda index: pytest.fail("the index was asked"))
    environment.setup()
    assert [call[-2:] for call in pip_calls(clone)] == [["-r", str(environment.REQUIREMENTS)], ["-e", str(clone.root)]]


@pytest.mark.parametrize(
    ("there", "build", "arguments"),
    [
        ("2.13.0+cpu", "cuda", ["--force-reinstall", "--no-deps", "torch==2.13.0"]),
        ("2.13.0", "cpu", [*CPU_INDEX, "--force-reinstall", "--no-deps", "torch==2.13.0"]),
        ("2.12.0+cpu", "cpu", [*CPU_INDEX, "--no-deps", "torch==2.13.0"]),
    ],
)
def test_another_build_replaces_the_one_that_is_there(clone, there, build, arguments):
    """For pip 2.13.0+cpu is 2.13.0: without force it would leave the wrong build where it is."""
    clone.there = there
    environment.setup(build)
    assert pip_calls(clone)[0] == arguments


def test_cuda_stays_when_a_requirement_changes(clone):
    """Catches a build that was asked for once and is lost at the next `git pull`."""
    environment.setup("cuda")
    clone.calls.clear()
    environment.REQUIREMENTS.write_text("torch==2.14.0\n")
    clone.there = "2.13.0"
    environment.setup()
    assert pip_calls(clone)[0] == ["--no-deps", "torch==2.14.0"]
    assert environment.stamp(tests=False).read_text() == "cuda\n"


def test_a_build_that_cannot_be_had_leaves_the_one_that_is_there(clone):
    clone.there = "2.13.0"
    clone.reason = "timed out"
    with pytest.raises(environment.SetupError, match="timed out.*stays as it is"):
        environment.setup("cpu")
    assert pip_calls(clone) == []


def test_tests_bring_their_requirements_in_the_same_call(clone):
    environment.setup(tests=True)
    assert ["--quiet", *all_of(environment.TEST_REQUIREMENTS)] in pip_calls(clone)
    assert environment.up_to_date(tests=True) and environment.up_to_date(tests=False)


@pytest.mark.parametrize("failing", ["torch==2.13.0", "-r", "-e"])
def test_what_failed_is_tried_again_the_next_time(clone, failing):
    """Catches a stamp beside an environment that is half there."""
    clone.failing = failing
    with pytest.raises(environment.SetupError, match="pip could not install"):
        environment.setup(tests=True)
    assert not environment.up_to_date(tests=False) and not environment.up_to_date(tests=True)


def test_an_environment_that_cannot_be_made_leaves_nothing_behind(clone):
    """Debian's Python makes a folder without pip and fails: the next call must not take it for an environment."""
    clone.failing = "venv"
    with pytest.raises(environment.SetupError, match="python3-venv"):
        environment.setup()
    assert not environment.ENVIRONMENT.exists()


def test_where_no_folder_was_made_the_sentence_is_the_same(clone, monkeypatch):
    """Catches a traceback about a folder that is not there, in the place of the package that is missing."""
    monkeypatch.setattr(environment.subprocess, "call", lambda command: 1)
    with pytest.raises(environment.SetupError, match="python3-venv"):
        environment.setup()


def test_what_it_costs_is_said_for_what_is_installed(clone, capsys):
    """Catches the figure of the small environment for the large one, and a first installation's at each change."""

    def said(**asked) -> str:
        environment.setup(**asked)
        return capsys.readouterr().out.splitlines()[0]

    first = said()
    clone.calls.clear()
    assert first.startswith("Installing what the course needs into .venv: ") and said().startswith("Bringing .venv up")
    environment.stamp(tests=False).unlink()
    with_tests = said(tests=True)
    assert "Installing what the course and its tests need into .venv: " in with_tests
    disk, more = (float(re.search(r", ([\d.]+) GB on disk, ", line)[1]) for line in (first, with_tests))
    assert 1 < disk < more
    environment.stamp(tests=False).unlink()
    assert "several GB" in said(build="cuda", tests=True)


def test_the_python_of_the_environment_is_known(clone, monkeypatch):
    """Catches an environment that calls itself for ever, and one that is never called."""
    monkeypatch.setattr(sys, "prefix", str(environment.ENVIRONMENT))
    assert environment.in_use()
    monkeypatch.setattr(sys, "prefix", str(environment.ROOT))
    assert not environment.in_use()


@pytest.mark.parametrize(("status", "version"), [(0, "2.13.0+cpu"), (1, "")])
def test_an_environment_without_torch_has_no_version_of_it(status, version, monkeypatch):
    done = SimpleNamespace(returncode=status, stdout="2.13.0+cpu\n")
    monkeypatch.setattr(environment.subprocess, "run", lambda command, **options: done)
    assert environment.installed_torch() == version


@pytest.mark.parametrize("changed", ["REQUIREMENTS", "CONSTRAINTS", "PROJECT"])
def test_a_change_of_the_requirements_is_noticed(clone, changed):
    environment.setup()
    later = environment.stamp(tests=False).stat().st_mtime + 10
    environment.os.utime(getattr(environment, changed), (later, later))
    assert not environment.up_to_date(tests=False)


def test_an_index_that_does_not_answer_is_given_up_quickly(monkeypatch):
    """Catches pip's own retries, minutes of them, and an error of another kind than the one expected."""
    asked = []

    def refuse(url, timeout, context):
        asked.append((url, timeout))
        raise TimeoutError("timed out")

    monkeypatch.setattr(environment.urllib.request, "urlopen", refuse)
    assert environment.why_unreachable("https://index.example") == "timed out"
    assert asked == [("https://index.example/torch/", environment.SECONDS_TO_ANSWER)]


def test_an_index_that_answers_is_reachable_and_why_one_is_not_is_said_plainly(monkeypatch):
    """Catches "<urlopen error ...>" in a sentence for students."""
    monkeypatch.setattr(environment.urllib.request, "urlopen", lambda url, **options: contextlib.nullcontext())
    assert environment.why_unreachable("https://index.example") == ""

    def refuse(url, **options):
        raise urllib.error.URLError("no route to host")

    monkeypatch.setattr(environment.urllib.request, "urlopen", refuse)
    assert environment.why_unreachable("https://index.example") == "no route to host"


def test_the_pin_and_the_version_in_use_are_found():
    """The regular expression and the question to the environment, on the real things."""
    assert environment.torch_pin().removeprefix("torch==") == environment.installed_torch().split("+")[0]


MAKEFILE = (Path(__file__).parents[3] / "Makefile").read_text(encoding="utf-8")
SCRIPT = """#!/bin/sh
echo "$@" >> calls
case "$*" in *"checker setup"*)
  mkdir -p .venv/bin
  cp "$0" .venv/bin/python 2> /dev/null
  echo "$*" | sed -n 's/.*--torch //p' > .venv/installed
  test -s .venv/installed || echo cpu > .venv/installed
  case "$*" in *--tests*) cp .venv/installed .venv/installed-test;; esac
esac
"""


@pytest.fixture
def made(tmp_path):
    """`make` in a folder where Python is a script that writes down what it was called with."""
    (tmp_path / "Makefile").write_text(MAKEFILE)
    for name in ("requirements.txt", "requirements-test.txt", "constraints.txt", "pyproject.toml"):
        (tmp_path / name).write_text("")
    (tmp_path / "fake").write_text(SCRIPT)
    (tmp_path / "fake").chmod(0o755)

    def make(*arguments) -> list[str]:
        (tmp_path / "calls").write_text("")
        outside = {"PATH": environment.os.environ["PATH"]}  # not what the `make` that runs these tests was asked for
        subprocess.run(["make", "-s", "PYTHON=./fake", *arguments], cwd=tmp_path, check=True, env=outside)
        return (tmp_path / "calls").read_text().splitlines()

    make.folder = tmp_path
    return make


def test_make_installs_once_and_again_when_the_requirements_change(made):
    assert made("test") == ["-m checker setup --tests", "-m checker test"]
    assert made("test") == ["-m checker test"]
    assert made("test", "SHAPES=1") == ["-m checker test -p tests.shapes"]
    assert made("report", "NOTEBOOK=x") == ["-m checker report x"]
    later = (made.folder / ".venv" / "installed-test").stat().st_mtime + 10
    environment.os.utime(made.folder / "requirements-test.txt", (later, later))
    assert made("report", "NOTEBOOK=x") == ["-m checker report x"]
    assert made("test") == ["-m checker setup --tests", "-m checker test"]


def test_make_changes_the_build_of_torch_when_it_is_asked_to_and_not_otherwise(made):
    assert made("lab") == ["-m checker setup", "-m checker lab"]
    assert made("lab", "TORCH=cuda") == ["-m checker setup --torch cuda", "-m checker lab"]
    assert made("lab", "TORCH=cuda") == ["-m checker lab"]
    assert made("lab") == ["-m checker lab"]


def test_make_start_needs_no_environment(made):
    assert made("start", "NOTEBOOK=dots") == ["-m checker start dots"]
    assert not (made.folder / ".venv").exists()
