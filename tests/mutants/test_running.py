"""The code of a function that is changed where its module is imported already."""

from types import ModuleType, SimpleNamespace

import pytest

from tests.mutants.running import changed_function

SOURCE = """
from contextlib import contextmanager
from functools import cache, cached_property

LIMIT = 3


def plain(x, more=1):
    return [x + more for _ in range(1)]


@contextmanager
def manager():
    yield 1


@cache
def kept():
    return 1


class Thing:
    size: int = 1

    def method(self):
        return 1

    @property
    def seen(self):
        return 1

    @cached_property
    def known(self):
        return 1

    @classmethod
    def made(cls):
        return 1
"""


@pytest.fixture
def module():
    made = ModuleType("made")
    made.__file__ = "made.py"
    exec(compile(SOURCE, "made.py", "exec"), vars(made))
    return made


def change(module, where: str, old: str, new: str):
    """The functions found of a mutant with `new` in the place of the first `old` behind the name of its function."""
    begin = SOURCE.index(f"{where.rpartition('.')[2]}(") if where else 0
    return changed_function(
        module, SimpleNamespace(where=where, source=SOURCE[:begin] + SOURCE[begin:].replace(old, new, 1))
    )


@pytest.mark.parametrize("where", ["manager", "kept", "Thing.method", "Thing.seen", "Thing.known", "Thing.made"])
def test_a_function_is_found_below_its_decorator(module, where):
    """Catches a mutant that is called a survivor since something else than its function was changed."""
    function, code = change(module, where, " 1\n", " 2\n")
    assert (
        function.__name__ == where.rpartition(".")[2] and 2 in code.co_consts and 2 not in function.__code__.co_consts
    )


def test_every_name_of_a_function_gets_the_change(module):
    taken = module.plain
    function, code = change(module, "plain", "x + more", "x - more")
    function.__code__ = code
    assert taken(3) == [2]


@pytest.mark.parametrize(
    ("where", "old", "new"),
    [("plain", "more=1", "more=2"), ("", "LIMIT = 3", "LIMIT = 4"), ("Thing", "1", "2"), ("plain", "LIMIT", "LIMIT")],
)
def test_what_is_no_code_of_a_function_is_left_to_a_new_import(module, where, old, new):
    """Catches a default, a constant or a field that seems to be changed and is not."""
    begin = "class Thing:" if where == "Thing" else ""
    source = SOURCE.replace(old, new, 1) if not begin else SOURCE.replace("size: int = 1", "size: int = 2")
    assert changed_function(module, SimpleNamespace(where=where, source=source)) is None
