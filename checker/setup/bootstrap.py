"""The commands that work before anything is installed: setup, start, lab and test. Standard library alone.

They are for those without make, on Windows above all, and the Makefile calls them too.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec

from checker import __version__
from checker.setup import environment, model
from checker.setup.start import StartError, editions, start

COMMANDS = {
    "setup": "Make the course's environment in .venv, or bring it up to date.",
    "start": "Copy a blank notebook into work/, to be filled in.",
    "lab": "Open JupyterLab on work/; what follows goes to it.",
    "test": "Run the course's tests; what follows goes to pytest.",
}
HANDING_ON = {"lab": "JupyterLab", "test": "pytest"}  # the commands with options of another program
FAILED = 2
INTERRUPTED = 130
EDITIONS = environment.ROOT / "notebooks" / "student"
WORK = environment.ROOT / "work"
LAB_SETTINGS = environment.ROOT / "checker" / "setup" / "lab"  # lines of code are wrapped, nobody asks for news
# A file's tests run in one process: they share models, tokenizers and what was measured. The files keep the order that
# tests/conftest.py gives them.
NOT_SLOW = ["-n", "auto", "--dist", "loadfile", "--no-loadscope-reorder", "-m", "not slow"]
# Without pyproject.toml's options, so without the check of shapes, which takes an eighth of the time: `make test-all`,
# `make test SHAPES=1` and a single `pytest FILE` have it.
SHAPES_UNCHECKED = ["-o", "addopts=-q"]
# Plugins that no test needs: three come with other packages, pytest's own puts handlers on the log before each test.
UNUSED = [option for name in ("anyio", "jaxtyping", "logging", "platformdirs") for option in ("-p", f"no:{name}")]
# As in the Makefile: threads that wait without rest make each other many times slower when a core is busy.
THREADS = {"OMP_WAIT_POLICY": "PASSIVE", "TOKENIZERS_PARALLELISM": "false"}


def before_packages(arguments: list[str]) -> None:
    """Do what `python -m checker` does before it imports packages; come back where they are there and needed.

    A command of this module is run. Any other is handed to the environment's Python where this one has no packages;
    the environment is made first where it is not there.
    """
    if arguments and arguments[0] in COMMANDS:
        sys.exit(main(arguments))
    if arguments == ["--version"]:
        print(f"checker {__version__}")
        sys.exit()
    if find_spec("typer") is not None:
        return
    if environment.in_use():
        sys.exit(
            "A package of the course is missing in .venv. Install it with: make setup (or: python -m checker setup)"
        )
    is_there = environment.stamp(tests=False).exists()
    if not is_there and (not arguments or arguments[0] in ("-h", "--help", "help")):
        print(_parser().format_help() + "\nThe other commands are listed once the packages are there.")
        sys.exit()
    command = [str(environment.interpreter()), "-m", "checker", *arguments]
    sys.exit(_told(lambda: _after_setup(command)))


def _after_setup(command: list[str]) -> int:
    """Run a command of the environment's Python, which is made first where it is not there."""
    environment.require_clone()
    if not environment.stamp(tests=False).exists():
        environment.setup()
    return subprocess.call(command)


def main(arguments: list[str]) -> int:
    """Run one of the commands and return its exit status."""
    given, rest = _parser().parse_known_args(arguments)
    if rest and given.command not in HANDING_ON:
        _parser().error(f"{given.command} does not know {' '.join(rest)}")
    if rest[:1] == ["--"]:
        rest = rest[1:]
    return _told(lambda: _done(given, rest))


def _done(given: argparse.Namespace, rest: list[str]) -> int:
    environment.require_clone()
    if given.command == "setup":
        return _setup(given)
    if given.command == "start":
        return _start(given.notebook)
    if given.command == "lab":
        return _lab(rest)
    return _test(rest)


def _told(step: Callable[[], int]) -> int:
    """The exit status of a step; why it cannot be done is told in a sentence."""
    try:
        return step()
    except (environment.SetupError, StartError) as error:
        print(f"error  {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("Stopped. The same command goes on where this one was.", file=sys.stderr)
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="checker")
    commands = parser.add_subparsers(dest="command")
    made = {name: commands.add_parser(name, help=says, description=says) for name, says in COMMANDS.items()}
    for name, program in HANDING_ON.items():
        made[name].usage = f"checker {name} [-h] [-- options of {program}]"
    made["setup"].add_argument("--tests", action="store_true", help="what the tests need as well")
    made["setup"].add_argument(
        "--torch", choices=environment.BUILDS, help="the build of torch; without it the one that is there, at first cpu"
    )
    made["setup"].add_argument("--model", choices=model.models(), help="a real model as well, fetched once")
    made["start"].add_argument("notebook", help=f"its name: {', '.join(editions(EDITIONS)) or 'dots, for instance'}")
    return parser


def _setup(given: argparse.Namespace) -> int:
    if given.model is not None:
        return _fetch(given)
    environment.setup(given.torch, given.tests)
    print("Ready. A notebook to fill in: make start NOTEBOOK=dots (or: python -m checker start dots)")
    return 0


def _fetch(given: argparse.Namespace) -> int:
    if given.torch is not None or not environment.up_to_date(given.tests):
        environment.setup(given.torch, given.tests)
    folder = model.fetch(given.model).relative_to(environment.ROOT).as_posix()
    print(
        f"{folder} is there; git leaves it alone. Notebooks and runs take it by its name:\n"
        f'  in code          load_policy("{given.model}")\n'
        f"  in a notebook    COURSE_MODEL={given.model} make lab (on Windows: set COURSE_MODEL={given.model} first)"
    )
    return 0


def _start(name: str) -> int:
    copy = start(name, EDITIONS, WORK).relative_to(environment.ROOT).as_posix()
    print(
        f"{copy} is yours to fill in; git leaves it alone.\n"
        "  open it        make lab (or: python -m checker lab), or in VS Code with .venv as the kernel\n"
        f"  before you hand in   make report NOTEBOOK={copy} (or: python -m checker report {copy})"
    )
    return 0


def _lab(rest: list[str]) -> int:
    begun = sorted(WORK.glob("*.ipynb"))
    if not begun:
        print("Nothing is begun in work/ yet. First: make start NOTEBOOK=dots (or: python -m checker start dots)")
    shown = WORK if begun else EDITIONS
    folder = shown.relative_to(environment.ROOT).as_posix()
    settings = [
        f"--ServerApp.root_dir={environment.ROOT}",
        f"--LabApp.default_url=/lab/tree/{folder}",
        f"--LabApp.app_settings_dir={LAB_SETTINGS}",
    ]
    return _in_environment(["-m", "jupyterlab", *settings, *rest], tests=False)


def _test(rest: list[str]) -> int:
    if not (environment.ROOT / "tests").is_dir():
        raise environment.SetupError("There are no tests here: the students' edition of the course comes without.")
    return _in_environment(["-m", "pytest", *NOT_SLOW, *SHAPES_UNCHECKED, *UNUSED, *rest], tests=True)


def _in_environment(arguments: list[str], tests: bool) -> int:
    """Call the environment's Python in the course's folder; the environment is made first where it is not there."""
    if not environment.up_to_date(tests):
        environment.setup(tests=tests)
    command = [str(environment.interpreter()), *arguments]
    return subprocess.call(command, cwd=environment.ROOT, env=THREADS | os.environ)
