"""The files that a box shows, of a project made here."""

import pytest

from checker.grading.box import modules
from checker.grading.box.modules import files, refused


@pytest.fixture
def project(tmp_path):
    """Write the files of a project: a text for each path."""

    def write(**texts):
        for name, text in texts.items():
            path = tmp_path.joinpath(*name.split("__")).with_suffix(".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return write


def test_a_module_brings_its_packages_and_what_it_imports(project):
    """Catches a function that fails in the box for want of a file, and a file that it has no use for."""
    root = project(
        shared__init="", shared__a="import os, shared.b\nfrom checker.c import one, two\n# ü", shared__b="",
        shared__left_out="", checker__c="def f():\n    from shared import d\n", shared__d="from . import left_out",
    )  # fmt: skip
    (root / "shared" / "init.py").rename(root / "shared" / "__init__.py")
    found = files(["shared.a.name"], root)
    names = ("shared/__init__.py", "shared/a.py", "shared/b.py", "checker/c.py", "shared/d.py")
    assert found == {name: root / name for name in names}
    assert files(["nowhere.x"], root) == {}


def test_a_table_of_a_modules_name_goes_with_it(project):
    """Catches a module that stops in every box, where the file that it reads when it is imported is not."""
    root = project(shared__a="import shared.b", shared__b="")
    for name in ("b", "other"):
        (root / "shared" / f"{name}.toml").touch()
    assert sorted(files(["shared.a"], root)) == ["shared/a.py", "shared/b.py", "shared/b.toml"]
    assert "shared/engine/named.toml" in files(["shared.training"])


def test_modules_that_import_each_other_are_read_once(project):
    """Catches a search without an end."""
    root = project(shared__a="import shared.b", shared__b="import shared.a")
    assert sorted(files(["shared.a"], root)) == ["shared/a.py", "shared/b.py"]


def test_what_is_imported_of_others_is_not_looked_for(project):
    """Catches a module of a library's name taken for the project's, and a name that only begins like it."""
    root = project(shared__a="import torch.nn, sharedness\nfrom numpy import array\nimport checker.c", checker__c="")
    path = root / "shared" / "a.py"
    assert modules._imports(path) == ["checker.c"]
    path.write_text("from shared.c import x as y\nimport shared.d as e")
    modules._imports.cache_clear()
    assert modules._imports(path) == ["shared.c", "shared.c.x", "shared.d"]


def test_with_a_module_all_in_it_is_allowed_and_with_a_name_its_module():
    """Catches `import shared.tasks` refused for who may import a function of it, and the other functions let in."""
    allowed = ["shared.tasks.tags.parse", "shared.poker"]
    fine = ["shared", "shared.tasks", "shared.tasks.tags", "shared.tasks.tags.parse", "shared.poker.deal.one"]
    assert refused(fine, allowed) == []
    wrong = ["shared.kl", "shared.poker_night", "shared.tasks.tags.*", "shared.tasks.tags.other"]
    assert refused([*reversed(wrong), "shared.kl"], allowed) == wrong


def test_what_calls_a_function_in_a_box_is_there():
    """Catches a program that is renamed and not shown: no function could be called."""
    shown = files(modules.CALLING)
    assert {"checker/grading/box/inside/__main__.py", "checker/grading/box/inside/answers.py"} <= shown.keys()
    assert all((modules.ROOT / name) == path and path.is_file() for name, path in shown.items())
