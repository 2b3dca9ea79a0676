"""A project that has what its pages load, in place of what npm and a training give."""

from pathlib import Path

import pytest

from checker.site.loaded import pyodide
from checker.site.pieces import trying

PROJECT = Path(__file__).parents[4]


def gotten(folder: Path, names: tuple[str, ...]) -> None:
    """Put files of 1.2 MB in all into a folder."""
    folder.mkdir(parents=True)
    for number, name in enumerate(names):
        size = 1_200_000 - len(names) + 1 if number == 0 else 1
        (folder / name).write_bytes(bytes([number]) * size)


@pytest.fixture
def project(tmp_path) -> Path:
    """A project that has the record of "Try it", and what it and "Check your notebook" load."""
    project = tmp_path / "project"
    (project / "benchmarks").mkdir(parents=True)
    record = (PROJECT / "benchmarks" / "watch.json").read_bytes()
    (project / "benchmarks" / "watch.json").write_bytes(record)
    gotten(project / "build" / "pyodide", pyodide.PACKAGE.files)
    gotten(project / "build" / "try", trying.LOADED)
    return project
