"""The edition of a notebook for Colab: a set-up cell that leaves torch alone, and the same nine cells."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from checker import __version__
from checker.checking.check import check
from checker.editions.colab import for_colab
from checker.reading.website import Website, website
from checker.site.finish import opening
from tests.test_notebook_form import opens_on_its_title

PROJECT = Path(__file__).parents[3]
DOTS = Path("notebooks") / "dots.ipynb"
PUBLIC = "https://github.com/owner/name"


@pytest.fixture
def notebook() -> dict:
    return json.loads((PROJECT / DOTS).read_text(encoding="utf-8"))


def test_the_structure_stays_that_of_the_course(notebook, tmp_path):
    """Catches a set-up cell that the checker takes for one of the nine, or that moves them."""
    path = tmp_path / "dots.ipynb"
    path.write_text(json.dumps(for_colab(notebook, PUBLIC)), encoding="utf-8")
    # X001: the cell was not run; the set-up runs on Colab alone.
    assert not [one for one in check(path).findings if one.level == "error" and one.code != "X001"]
    assert len(for_colab(notebook, "")["cells"]) == len(notebook["cells"]) + 1
    assert opens_on_its_title(for_colab(notebook, ""))


@pytest.mark.parametrize("repository", [PUBLIC, ""])
def test_the_set_up_installs_no_second_torch(notebook, repository, tmp_path, monkeypatch):
    """Catches a torch that pip replaces, and a course that is fetched from nowhere. Commands are noted, not run."""
    cells = for_colab(notebook, repository)["cells"]
    source = next(cell["source"] for cell in cells if cell["cell_type"] == "code")
    assert isinstance(ast.parse(source), ast.Module)
    called = []
    monkeypatch.setattr(subprocess, "run", lambda command, check: called.append(command))
    monkeypatch.setattr("os.chdir", lambda folder: None)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(PROJECT)
    if not repository:
        with pytest.raises(ValueError, match="address of the course's repository"):
            exec(source, {})
        return
    exec(source, {})
    clone, install = called
    assert repository in clone and clone[clone.index("--branch") + 1] == f"v{__version__}"
    torches = [word for word in install if word.startswith("torch")]
    import torch

    assert torches == [f"torch=={torch.__version__}"] and any(word.startswith("transformers==") for word in install)


def test_it_asks_for_a_gpu_and_gets_the_version_that_it_was_built_from(notebook):
    """Catches a runtime without a GPU, and exercises of one version beside the checks of a later one."""
    notebook["metadata"]["course"] = {"version": "0.1.7", "exercises": {}}
    made = for_colab(notebook, PUBLIC)
    assert made["metadata"]["accelerator"] == "GPU" and made["metadata"]["colab"] == {"gpuType": "T4"}
    setup = next(cell["source"] for cell in made["cells"] if cell["cell_type"] == "code")
    assert 'VERSION = "v0.1.7"' in setup and "accelerator" not in notebook["metadata"]


def test_a_notebook_that_says_nothing_of_itself_gets_todays_version():
    """Catches a traceback for a notebook without metadata or code, and a tag that is none."""
    text = {"cell_type": "markdown", "id": "a", "metadata": {}, "source": "x"}
    for metadata in ({}, {"metadata": {"course": {}}}):
        before, setup = for_colab({"cells": [text]} | metadata, PUBLIC)["cells"]
        assert before == text and f'VERSION = "v{__version__}"' in setup["source"]


def test_the_set_up_is_a_cell_of_code_of_its_own(notebook):
    """Catches a notebook that Colab refuses, or that has two cells of one name."""
    made = for_colab(notebook, PUBLIC)
    nbformat.validate(made)
    (added,) = [cell for cell in made["cells"] if cell not in notebook["cells"]]
    first = next(place for place, cell in enumerate(notebook["cells"]) if cell["cell_type"] == "code")
    assert made["cells"].index(added) == first and "colab" in added["id"]


def test_links_to_colab_and_to_the_source_wait_for_a_public_home():
    """Catches links that lead nowhere before the course is public, and ones that are missing after."""
    site = website(PROJECT)
    assert (site.address, site.repository) == ("", "")
    assert "colab.research" not in opening(PROJECT, DOTS, site)
    public = Website(site.title, site.description, site.pages, repository=PUBLIC)
    shown = opening(PROJECT, DOTS, public)
    assert "https://colab.research.google.com/github/owner/name/blob/gh-pages/files/dots-colab.ipynb" in shown
    for action in ("blob", "edit"):
        assert f'{PUBLIC}/{action}/main/notebooks/dots.ipynb"' in shown
    elsewhere = Website(site.title, site.description, site.pages, repository="https://example.org/course")
    assert elsewhere.elsewhere(Path("files/x.ipynb")) == {}
