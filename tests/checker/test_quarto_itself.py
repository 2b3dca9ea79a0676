"""The real Quarto on the project itself, where it is installed."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from checker.pages import quarto

PROJECT = Path(__file__).parents[2]


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.mark.slow
def test_rendering_leaves_the_repository_clean(tmp_path):
    """Catches a line that Quarto adds to .gitignore, pages beside their sources, and notebooks that it rewrites."""
    program = quarto.program()
    if program is None:
        pytest.skip("no Quarto is installed")
    project = tmp_path / "project"
    git(tmp_path, "clone", "-q", str(PROJECT), str(project))
    for name in git(PROJECT, "ls-files", "--modified", "--others", "--exclude-standard").splitlines():
        if (PROJECT / name).is_file():
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(PROJECT / name, project / name)
    git(project, "add", "-A")
    before = git(project, "status", "--porcelain")
    for page in ("docs/start.qmd", "notebooks/dots.ipynb"):
        subprocess.run([program, "render", page], cwd=project, check=True, env=os.environ, capture_output=True)
    assert git(project, "status", "--porcelain") == before
    assert (project / "_site" / "notebooks" / "dots.html").is_file()
