"""The course's environment, `.venv`: whether it is there, and how it is made. Standard library alone.

On Linux the package index serves torch for CUDA, gigabytes that a laptop has no use for. So torch is installed first
and by itself, from the index of CPU builds; where that one cannot be reached, or another build is asked for, from the
plain index. Every other package comes from the plain index.

requirements.txt names the packages that the course imports. constraints.txt pins these and all that they bring, for
Linux, macOS and Windows, so that an environment that is made next year is the one that is made today.
"""

import os
import re
import shutil
import ssl
import subprocess
import sys
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = ROOT / ".venv"
PROJECT = ROOT / "pyproject.toml"
REQUIREMENTS = ROOT / "requirements.txt"
TEST_REQUIREMENTS = ROOT / "requirements-test.txt"
CONSTRAINTS = ROOT / "constraints.txt"
SYSTEM = sys.platform  # "linux", "darwin" or "win32"
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
SECONDS_TO_ANSWER = 5
BUILDS = ("cpu", "cuda")
NO_CUDA = {
    "darwin": "There is no CUDA on a Mac. Leave it out: a Mac's own GPU is used with COURSE_DEVICE=mps.",
    "win32": (
        "On Windows the package index has torch for the CPU only. Set up without it first, then install the CUDA build"
        r" with .venv\Scripts\python -m pip as https://pytorch.org/get-started/locally says."
    ),
}


class SetupError(Exception):
    """The environment cannot be made; the message says why and what to do."""


def require_clone() -> None:
    """Raises SetupError where only the checker is installed, without the course around it."""
    if not REQUIREMENTS.exists():
        raise SetupError(f"{ROOT} is no clone of the course: it has no requirements.txt. Call this in a clone of it.")


def interpreter() -> Path:
    """The environment's Python, whether it is there or not."""
    return ENVIRONMENT / ("Scripts/python.exe" if SYSTEM == "win32" else "bin/python")


def in_use() -> bool:
    """True if the Python that runs this is the environment's."""
    return Path(sys.prefix).resolve() == ENVIRONMENT.resolve()


def stamp(tests: bool) -> Path:
    """The file that tells when the environment was last installed into; the Makefile looks at its date as well.

    It holds the build of torch that was asked for.
    """
    return ENVIRONMENT / ("installed-test" if tests else "installed")


def up_to_date(tests: bool) -> bool:
    """True if the environment is there and no list of requirements has changed since."""
    sources = [PROJECT, REQUIREMENTS, CONSTRAINTS]
    if tests:
        sources.append(TEST_REQUIREMENTS)
    made = stamp(tests)
    return made.exists() and all(source.stat().st_mtime <= made.stat().st_mtime for source in sources)


def setup(build: str | None = None, tests: bool = False) -> None:
    """Make the environment, or bring it up to date.

    Args:
        build: of torch, "cpu" or "cuda"; None for the one that was asked for last, at first "cpu".
        tests: what the tests need as well.

    Raises:
        SetupError: there is no such build here, no environment can be made, or pip fails. The stamps are then as
            they were, so that the next call tries again.
    """
    wanted = build or _asked_for_last() or "cpu"
    if wanted == "cuda" and SYSTEM in NO_CUDA:
        raise SetupError(NO_CUDA[SYSTEM])
    _announce(wanted, tests)
    if not interpreter().exists():
        _make_environment()
    _install_torch(wanted, asked=build is not None)
    # All else is small, but for the libraries of CUDA: pip shows a bar for each.
    with_cuda = SYSTEM == "linux" and not installed_torch().endswith("+cpu")
    quiet = [] if with_cuda else ["--quiet"]
    pip_install(*quiet, "-c", str(CONSTRAINTS), "-r", str(TEST_REQUIREMENTS if tests else REQUIREMENTS))
    # The pinned setuptools builds the course's own package. In isolation pip would fetch the newest.
    pip_install("--quiet", "--no-deps", "--no-build-isolation", "-e", str(ROOT))
    stamp(tests=False).write_text(wanted + "\n", encoding="utf-8")
    if tests:
        stamp(tests=True).write_text(wanted + "\n", encoding="utf-8")


def pip_install(*arguments: str) -> None:
    """`pip install` in the environment. Raises SetupError when it fails; what it printed stands above."""
    command = [str(interpreter()), "-m", "pip", "install", "--disable-pip-version-check", *arguments]
    if subprocess.call(command, cwd=ROOT) != 0:
        raise SetupError(
            f"pip could not install {arguments[-1]}; what it says stands above. Look at the connection and the room on"
            " the disk, then call the same again: what is installed already is kept."
        )


def torch_pin() -> str:
    """The line of requirements.txt that names torch, "torch==..."."""
    return re.search(r"^torch==\S+", REQUIREMENTS.read_text(encoding="utf-8"), re.MULTILINE)[0]


def installed_torch() -> str:
    """The version of torch in the environment, "2.13.0+cpu", or "" where there is none."""
    question = "from importlib.metadata import version; print(version('torch'))"
    done = subprocess.run([str(interpreter()), "-c", question], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def why_unreachable(index: str) -> str:
    """The reason why a package index does not answer within a few seconds; "" when it does.

    Asked before pip is, which would try again for minutes.
    """
    try:
        trusted = ssl.create_default_context(cafile=os.environ.get("PIP_CERT"))
        with urllib.request.urlopen(f"{index}/torch/", timeout=SECONDS_TO_ANSWER, context=trusted):
            return ""
    except OSError as error:
        return str(getattr(error, "reason", error))


def _asked_for_last() -> str:
    made = stamp(tests=False)
    said = made.read_text(encoding="utf-8").strip() if made.exists() else ""
    return said if said in BUILDS else ""


def _announce(build: str, tests: bool) -> None:
    """Say what it costs. The figures are those of Linux, measured; for CUDA they are not."""
    if _asked_for_last() == build:
        print("Bringing .venv up to date with the requirements; what is there already is kept ...", flush=True)
        return
    disk = "1.9 GB" if tests else "1.5 GB"
    cost = f"about 0.3 GB to download, {disk} on disk, two minutes or more"
    if build == "cuda":
        cost = "with torch for CUDA several GB to download and more on disk, half an hour on a slow connection"
    what = "what the course and its tests need" if tests else "what the course needs"
    print(f"Installing {what} into .venv: {cost} ...", flush=True)


def _make_environment() -> None:
    """A fresh environment; a failed one leaves nothing behind."""
    if subprocess.call([sys.executable, "-m", "venv", str(ENVIRONMENT)]) == 0:
        return
    shutil.rmtree(ENVIRONMENT, ignore_errors=True)
    raise SetupError(
        f"{sys.executable} could not make an environment; what it says stands above. On Debian and Ubuntu a package is"
        " missing: sudo apt install python3-venv"
    )


def _install_torch(build: str, asked: bool) -> None:
    """Torch by itself, from the index that has the build; nothing where it is there already.

    asked: the build was asked for now, so that another build of the right version is replaced.
    """
    pin = torch_pin()
    there = installed_torch()
    right_version = there.split("+")[0] == pin.removeprefix("torch==")
    other_build = SYSTEM == "linux" and asked and there.endswith("+cpu") != (build == "cpu")
    if right_version and not other_build:
        return
    arguments = []
    if SYSTEM == "linux" and build == "cpu":
        reason = why_unreachable(CPU_INDEX)
        if not reason:
            arguments = ["--index-url", CPU_INDEX]
        elif right_version:
            raise SetupError(f"{CPU_INDEX} cannot be reached ({reason}): torch stays as it is. Try again later.")
        else:
            print(
                f"{CPU_INDEX} cannot be reached ({reason}). Torch comes from the plain index, on Linux often the build"
                " for CUDA, several GB. For the small build of the CPU stop with Ctrl-C and either call the same again"
                " where that address can be reached (HTTPS_PROXY names a proxy, PIP_CERT its certificate), or fetch the"
                f" wheel of {pin} from it elsewhere and call: {interpreter()} -m pip install THE_WHEEL",
                flush=True,
            )
    if right_version:
        arguments.append("--force-reinstall")
    pip_install(*arguments, "--no-deps", pin)
