"""An older Python, which cannot read the course's code, is told which one to install."""

import ast
import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BEGINNING = ROOT / "checker" / "__init__.py"


def test_an_old_python_is_told_what_is_missing_and_what_to_type(monkeypatch):
    """Catches an address or a command that cannot be copied out of the sentence."""
    monkeypatch.setattr(sys, "version_info", (3, 10, 2, "final", 0))
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(BEGINNING))
    said = ended.value.code
    assert said.startswith("This course needs Python 3.11 or newer, and this is Python 3.10.")
    assert re.findall(r"\S*://\S+", said) == ["https://www.python.org/downloads"]
    commands = re.findall(r"`(.+?)`", said)
    assert {command.split()[0] for command in commands} == {"python3.12", "py", "make"}
    assert all(command.endswith(("-m checker setup", "PYTHON=python3.12 setup")) for command in commands)
    assert "PYTHON ?= " in (ROOT / "Makefile").read_text(encoding="utf-8"), "the variable that make is given"
    assert "on Windows `py " in said and said.endswith("`.")


@pytest.mark.parametrize("version", [(3, 11, 0, "final", 0), (3, 13, 1, "final", 0)])
def test_a_new_python_goes_on(monkeypatch, version):
    monkeypatch.setattr(sys, "version_info", version)
    assert runpy.run_path(str(BEGINNING))["__version__"]


def test_an_old_python_can_read_that_far():
    """The sentence must come before a syntax error does."""
    ast.parse(BEGINNING.read_text(encoding="utf-8"), feature_version=(3, 4))
