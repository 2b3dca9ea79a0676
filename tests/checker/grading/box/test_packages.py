"""Packages that the grader finds and a box does not."""

import sys
from importlib.util import find_spec

from checker.grading.box import packages
from checker.grading.box.packages import unseen


def test_a_package_outside_of_the_environment_is_named(tmp_path, monkeypatch):
    """Catches a class of zeros because torch was installed into a home folder, which no box shows."""
    (tmp_path / "at_home").mkdir()
    (tmp_path / "at_home" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    assert unseen(["at_home", "json", "not_there_at_all"]) == {"at_home": tmp_path}


def test_those_of_the_environment_are_seen(tmp_path, monkeypatch):
    """Catches a grader that refuses the environment that `checker setup` makes."""
    place = tmp_path / "lib" / "site-packages" / "in_it"
    place.mkdir(parents=True)
    (place / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(place.parent)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert unseen(["in_it"]) == {}


def test_all_that_notebooks_import_is_looked_for(monkeypatch):
    """Catches a package that nobody looks for, whose notebooks fail for everybody."""
    monkeypatch.setattr(packages, "SYSTEM", ())
    monkeypatch.setattr(sys, "prefix", "/nowhere")
    monkeypatch.setattr(sys, "base_prefix", "/nowhere")
    imported = ("ipykernel", "nbclient", "nbformat", "numpy", "torch", "transformers")
    assert list(unseen()) == [name for name in imported if find_spec(name)]
