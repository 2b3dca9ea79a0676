"""Python for the browser: made whole or not at all, over what was made before, and without packages from elsewhere."""

import base64
import json
import runpy
from importlib.util import find_spec
from pathlib import Path

import pytest

from checker.site.loaded import pyodide
from checker.site.loaded.npm import Package, Unreachable

LISTED = {"info": {"python": "größer"}, "packages": {"numpy": {"file_name": "numpy.whl"}}}


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    """A project, and a package whose files come from nowhere: 0.7 MB each beside the list of packages."""

    def write(package: Package, folder: Path) -> None:
        for name in package.files:
            (folder / name).write_bytes(bytes(700_000))
        (folder / pyodide.LOCK).write_text(json.dumps(LISTED, ensure_ascii=False), encoding="utf-8")

    monkeypatch.setattr(Package, "write", write)
    monkeypatch.setattr(pyodide, "PROJECT", tmp_path)
    return tmp_path


@pytest.mark.parametrize("before", [False, True])
def test_what_was_made_takes_the_place_of_what_was_there(project, capsys, before):
    """Catches files of another version beside those of today, and a build that was broken off in the way of the next."""
    folder = project / "build" / "pyodide"
    if before:
        for old in (folder, project / "build" / "pyodide-unfinished"):
            old.mkdir(parents=True)
            (old / "old.wasm").write_bytes(b"old")
    assert pyodide.files(project) == []
    pyodide.main()
    assert list((project / "build").iterdir()) == [folder]
    assert sorted(pyodide.files(project)) == sorted(folder.iterdir()) and len(pyodide.PACKAGE.files) == 5
    assert capsys.readouterr().out.startswith(f"{Path('build') / 'pyodide'}: 3 MB for the page")
    lock = folder / "pyodide-lock.json"
    assert json.loads(lock.read_text(encoding="utf-8")) == {"info": {"python": "größer"}, "packages": {}}
    lock.unlink()
    assert pyodide.files(project) == []


def test_no_package_of_pyodides_is_offered(tmp_path):
    """Catches the list of packages, whose files the page would look for elsewhere."""
    lock = tmp_path / pyodide.LOCK
    lock.write_text(json.dumps(LISTED, ensure_ascii=False), encoding="utf-8")
    pyodide.without_packages(lock)
    assert json.loads(lock.read_text(encoding="utf-8")) == LISTED | {"packages": {}}


def test_what_is_there_stays_where_npm_does_not_get_it(project, monkeypatch, capsys):
    """Catches a site that loses its Python because the registry is away for a day."""

    def write(package: Package, folder: Path) -> None:
        raise Unreachable(f"npm did not get {package.name}")

    pyodide.main()
    monkeypatch.setattr(Package, "write", write)
    capsys.readouterr()
    pyodide.main()
    assert len(pyodide.files(project)) == len(pyodide.PACKAGE.files)
    assert "how to install the checker: npm did not get pyodide@" in capsys.readouterr().out
    assert [folder.name for folder in (project / "build").iterdir()] == ["pyodide"]


def test_what_the_page_names_is_what_gets_it(monkeypatch, capsys):
    """Catches a command that does nothing, and an import that gets a program. Without npm the project stays as it is."""
    monkeypatch.setattr("shutil.which", lambda name: None)
    module = pyodide.COMMAND.removeprefix("python -m ")
    assert find_spec(module).origin == pyodide.__file__
    runpy.run_path(pyodide.__file__, run_name="imported")
    assert capsys.readouterr().out == ""
    runpy.run_path(pyodide.__file__, run_name="__main__")
    assert "npm, which gets pyodide@" in capsys.readouterr().out


def test_the_package_is_pinned_and_has_what_runs():
    """Catches a hash that no package can have, and a name that npm would not know."""
    package = pyodide.PACKAGE
    assert len(base64.b64decode(package.sha512, validate=True)) == 64
    name, _, version = package.name.partition("@")
    assert name == "pyodide" and all(part.isdigit() for part in version.split("."))
    assert sorted(Path(file).suffix for file in package.files) == [".json", ".mjs", ".mjs", ".wasm", ".zip"]
    assert all(file.startswith(("pyodide", "python")) for file in package.files)
    assert (pyodide.PROJECT / "checker" / "site" / "loaded" / "pyodide.py").is_file()
