"""The program that writes `shared/check.pyi`."""

import runpy
from pathlib import Path

from shared.exercises import stub


def written(monkeypatch, run_name: str) -> list:
    """The texts that the module's file writes when it is run under a name; nothing reaches the disk."""
    calls = []
    monkeypatch.setattr(Path, "write_text", lambda path, text, encoding: calls.append((path, text, encoding.lower())))
    runpy.run_path(stub.__file__, run_name=run_name)
    return calls


def test_run_as_a_program_it_writes_the_stub(monkeypatch):
    """Catches a stub that stays as it was, and one in the system's own encoding."""
    assert written(monkeypatch, "__main__") == [(stub.STUB, stub.text(), "utf-8")]


def test_an_import_writes_nothing(monkeypatch):
    assert written(monkeypatch, "imported") == []
