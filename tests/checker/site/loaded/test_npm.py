"""Programs from npm: taken only with their pinned hash, and named where they cannot be had."""

import base64
import hashlib
import io
import json
import tarfile
from dataclasses import replace

import pytest

from checker.site.loaded import pyodide
from checker.site.loaded.npm import Package, Unreachable

FILES = ("dist/program.mjs", "program.wasm")


def packed(path, content: bytes) -> Package:
    """A package with these files, each of that content, packed at a path."""
    with tarfile.open(path, "w:gz") as members:
        for name in FILES:
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(content)
            members.addfile(entry, io.BytesIO(content))
    return Package("program@1.0", base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode(), FILES)


def test_a_package_is_unpacked_only_with_the_pinned_hash(tmp_path):
    """Catches another program served to everybody who opens the page."""
    package = packed(tmp_path / "package.tgz", b"program")
    package.unpack(tmp_path / "package.tgz", tmp_path)
    assert {(tmp_path / name).read_bytes() for name in ("program.mjs", "program.wasm")} == {b"program"}
    packed(tmp_path / "package.tgz", b"another")
    with pytest.raises(ValueError, match="pinned for program@1.0"):
        package.unpack(tmp_path / "package.tgz", tmp_path)
    assert (tmp_path / "program.mjs").read_bytes() == b"program"


def test_without_npm_nothing_is_made(tmp_path, monkeypatch, capsys):
    """Catches a site that ends in a traceback on a computer without npm, and half of a program that is served."""
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr(pyodide, "PROJECT", tmp_path)
    pyodide.main()
    assert "npm, which gets pyodide@314.0.7, is not installed" in capsys.readouterr().out
    assert pyodide.files(tmp_path) == list((tmp_path / "build").iterdir()) == []
    with pytest.raises(Unreachable, match="pyodide"):
        replace(pyodide.PACKAGE, files=()).write(tmp_path)


def test_no_package_of_pyodides_is_offered(tmp_path):
    """Catches the list of packages, whose files the page would look for elsewhere."""
    lock = tmp_path / pyodide.LOCK
    lock.write_text(json.dumps({"info": {"python": "3.14.2"}, "packages": {"numpy": {"file_name": "numpy.whl"}}}))
    pyodide.without_packages(lock)
    assert json.loads(lock.read_text()) == {"info": {"python": "3.14.2"}, "packages": {}}
