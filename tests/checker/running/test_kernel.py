"""A kernel's start and end, and what it is started with. No kernel runs here: see test_report.py."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import tqdm
import tqdm.auto
from traitlets.config.loader import KVArgParseConfigLoader

from checker.running import kernel
from checker.running.kernel import ARGUMENTS, fresh_kernel

ROOT = Path(__file__).parents[3]


class Manager:
    """A manager that starts nothing, and keeps what it was asked for."""

    has_kernel = True

    def __init__(self, kernel_name):
        self.name = kernel_name
        self.started = self.ended = None

    async def start_kernel(self, **options):
        self.started = options

    async def shutdown_kernel(self, **options):
        self.ended = options


@pytest.fixture
def begun(monkeypatch, tmp_path):
    """A manager whose kernel was started in a folder, with the block left by an error."""
    monkeypatch.setattr(kernel, "AsyncKernelManager", Manager)

    def start(has_kernel=True) -> Manager:
        with pytest.raises(KeyboardInterrupt), fresh_kernel(tmp_path) as manager:
            manager.has_kernel = has_kernel
            raise KeyboardInterrupt
        return manager

    return start


def test_a_kernel_starts_in_its_folder_and_is_ended_at_once(begun, tmp_path):
    """Catches a kernel that is asked to end and may go on for seconds, and one that is ended twice."""
    manager = begun()
    assert manager.name == "python3", "the name by which Jupyter knows the Python that this is"
    assert manager.started["cwd"] == str(tmp_path) and manager.started["extra_arguments"] == ARGUMENTS
    assert manager.ended == {"now": True}
    assert begun(has_kernel=False).ended is None


@pytest.mark.parametrize("before", [None, "", "/elsewhere"])
def test_the_project_comes_first_on_the_path_and_what_was_there_stays(before, begun, monkeypatch):
    """Catches a notebook that finds no `shared`, an empty entry, which is the folder itself, and a path that is lost."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    if before is not None:
        monkeypatch.setenv("PYTHONPATH", before)
    monkeypatch.setenv("OF_THE_USER", "stays")
    given = begun().started["env"]
    assert given["PYTHONPATH"].split(os.pathsep) == [str(ROOT), *([before] if before else [])]
    assert given["OF_THE_USER"] == "stays"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OMP_WAIT_POLICY", "PASSIVE"),
        ("TOKENIZERS_PARALLELISM", "false"),
        ("TRANSFORMERS_VERBOSITY", "error"),
        ("HF_HUB_DISABLE_PROGRESS_BARS", "1"),
    ],
)
def test_libraries_are_kept_quiet_unless_somebody_set_it_otherwise(name, value, begun, monkeypatch):
    """Catches a name that the library does not read, and a setting of the user's that is written over."""
    monkeypatch.delenv(name, raising=False)
    assert begun().started["env"][name] == value
    monkeypatch.setenv(name, "theirs")
    assert begun().started["env"][name] == "theirs"


def test_no_warning_of_a_library_is_in_the_outputs(begun, monkeypatch):
    monkeypatch.delenv("PYTHONWARNINGS", raising=False)
    warns = "import warnings; warnings.warn('noise')"
    done = subprocess.run(
        [sys.executable, "-S", "-c", warns], env=begun().started["env"], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_arguments_are_read_as_settings_of_a_kernel():
    """Catches a history of everybody's cells in one database. Whether the kernel heeds them is not shown here."""
    settings = KVArgParseConfigLoader(ARGUMENTS).load_config()
    assert settings.HistoryManager.hist_file == ":memory:"
    assert int(settings.IPKernelApp.log_level) == 50
    assert len(ARGUMENTS) == 3 and "exec_lines" in settings.IPKernelApp


def test_bars_are_text_and_no_name_is_left_behind(monkeypatch):
    """Catches bars of widgets that a page cannot show, and a `tqdm` that a notebook forgot to import."""
    (line,) = [argument.split("exec_lines=")[1] for argument in ARGUMENTS if "exec_lines" in argument]
    monkeypatch.setattr(tqdm.auto, "tqdm", object())
    names = {}
    exec(line, names)
    assert tqdm.auto.tqdm is tqdm.tqdm and names.keys() == {"__builtins__"}
