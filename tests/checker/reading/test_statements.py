"""The statements of a notebook: the names that each makes, changes and reads."""

import sys

import pytest

from checker.reading.syntax.statements import Definitions, Statement, definitions
from tests.checker.reading.cells import notebook


def statements(defined: Definitions) -> list[Statement]:
    return sorted({one for makers in defined.makers.values() for one in makers}, key=lambda one: one.place)


def names(text: str) -> set[str]:
    return set(text.split())


# Each statement with what it binds, changes and reads.
STATEMENTS = {
    "x = y": ("x", "", "y"),
    "x, (y, *z) = a": ("x y z", "", "a"),
    "x: int = y": ("x", "", "y"),
    "x += y": ("x", "", "y"),
    "(x := y)": ("x", "", "y"),
    "for i in rows: total += i * w": ("i total", "", "rows i w"),
    "with open(f) as g: x = 1": ("g x", "", "open f"),
    "try: x = 1\nexcept E as e: y = e": ("x y e", "", "E e"),
    "match a:\n    case [b, *c]: pass\n    case {'k': d, **e}: pass\n    case f: pass": ("b c d e f", "", "a"),
    "x = [i for i in rows if i > low]": ("x", "", "rows low"),
    "x = {k: v for k, v in rows}": ("x", "", "rows"),
    "x = [a for i, row in rows for a in row[i]]": ("x", "", "rows"),
    "x = [[i * j for j in i] for i in j]": ("x", "", "j"),
    "x = [(y := i) for i in rows]": ("x y", "", "rows"),
    "x = lambda a: a + b": ("x", "", "b"),
    "def f(a, a): return a + b": ("f", "", "b"),
    "def f(a=[i for i in c]): return [i for i in a if (b := i)] + [b]": ("f", "", "c"),
    "def top(a): return [a + b for a in c]": ("top", "", "b c"),
    "def f(a=c): return a + b": ("f", "", "b c"),
    "def f(a: T) -> U:\n    v: W = a\n    return v": ("f", "", ""),
    "def f():\n    global x\n    x += 1": ("f", "", "x"),
    "def f(a):\n    def g(): return a + b\n    return g": ("f", "", "b"),
    "def f():\n    x = 1\n    def g():\n        nonlocal x\n        x += y\n    return g": ("f", "", "y"),
    "def f(x):\n    def g():\n        global x\n        x = 1\n    return x": ("f", "", "x"),
    "async def f(): return b": ("f", "", "b"),
    "@d\nclass A(B):\n    x = y\n    w = x\n    def m(self): return z + x": ("A", "", "d B y z x"),
    "class A:\n    rows = y\n    x = [rows for row in rows]": ("A", "", "y rows"),
    "x[0] = y": ("", "x", "x y"),
    "x.a = y": ("", "x", "x y"),
    "x.a[0].b = y": ("", "x", "x y"),
    "x.f(1).a = y": ("", "x", "x y"),
    "del x[0]": ("", "x", "x"),
    "x.append(y)": ("", "x", "x y"),
    "x.a[0].sort()": ("", "x", "x"),
    "x.f(1).g(2)": ("", "x", "x"),
    "y = x.pop()": ("y", "x", "x"),
    "y: int = x.pop()": ("y", "x", "x"),
    "for i in rows: x.append(i)": ("i", "x", "rows x i"),
    "if a: x.append(1)": ("", "x", "a x"),
    "y = x.a": ("y", "", "x"),
    "y = x[0]": ("y", "", "x"),
    "y = f(x)": ("y", "", "f x"),
    "y = f(x.pop())": ("y", "", "f x"),
}
if sys.version_info >= (3, 12):
    STATEMENTS |= {
        "def f[T](a: T) -> T: return T(a) + b": ("f", "", "b"),
        "class A[T](B[T]):\n    def m(self): return T": ("A", "", "B"),
        "type x = list[y]": ("x", "", ""),
    }


@pytest.mark.parametrize("source", STATEMENTS)
def test_a_statement_makes_changes_and_reads_names(source):
    """Catches a list that arrives without what was put into it, and training that is run for a name of its own."""
    [statement] = statements(definitions(notebook(source)))
    found = (statement.binds, statement.changes, statement.reads)
    assert found == tuple(map(names, STATEMENTS[source]))


def test_what_makes_no_name_is_no_statement_of_a_program():
    sources = ["f(x)", "print(x.append(1))", "x == 1", "[0][0] = 1", "''.join(x)", "pass"]
    for source in sources:
        assert definitions(notebook(source)).makers == {}, source


def test_each_name_of_an_import_is_a_statement_of_its_own():
    """Catches a function that pays for what is imported beside what it needs, and a module that seems to be changed."""
    found = definitions(
        notebook("import os.path, math as m\nfrom shared.a import b as c, d\nfrom ..e import f\nfrom g import *")
    )
    assert {name: [one.source for one in makers] for name, makers in found.makers.items()} == {
        "os": ["import os.path"],
        "m": ["import math as m"],
        "c": ["from shared.a import b as c"],
        "d": ["from shared.a import d"],
        "f": ["from ..e import f"],
        "*": ["from g import *"],
    }
    assert all(one.is_import and not one.is_function and not one.changes for one in statements(found))
    assert definitions(notebook("import random, numpy as np", "random.seed(0)\nnp.random.x = 1")).makers.keys() == {
        "random",
        "np",
    }


@pytest.mark.parametrize(
    ("source", "imports"),
    [
        ("import shared.a, os", "shared.a"),
        ("import shared as s", "shared"),
        ("from shared.a import b, c as d", "shared.a.b shared.a.c"),
        ("from shared import a", "shared.a"),
        ("from shared.a import *", "shared.a.*"),
        ("from sharedness import a", ""),
        ("import sharedness", ""),
        ("from .shared import a", ""),
        ("from . import shared", ""),
        ("def f():\n    from shared.a import b\n    import shared.c", "shared.a.b shared.c"),
        ("x = 1", ""),
    ],
)
def test_imports_of_the_project_are_found_anywhere(source, imports):
    """Catches a solution of the course's own that is called from within a function."""
    found = statements(definitions(notebook(source)))
    assert set().union(*(one.imports for one in found)) == names(imports)


def test_definitions_compute_nothing_where_they_stand():
    found = definitions(
        notebook("def a(): pass\nclass b: pass\nc = lambda: 1\nasync def d(): pass\ne = f(1)\nimport g")
    )
    assert {name for name, (one,) in found.makers.items() if one.is_function} == set("abcd")
    assert {name for name, (one,) in found.makers.items() if one.is_import} == {"g"}


def test_a_statement_knows_its_cell_and_place():
    """Catches a warning about "Cell -1", and a definition that is sought in the next cell."""
    found = definitions(notebook("x = 1", "# Cell 4: Reward\n\ny = 1; z = 2", ("markdown", "words"), "w = 3"))
    assert [(name, one.section, one.place) for name, (one,) in found.makers.items()] == [
        ("x", "the first cells", (0, 1, 0)),
        ("y", "Cell 4", (1, 3, 0)),
        ("z", "Cell 4", (1, 3, 7)),
        ("w", "Cell 4", (3, 1, 0)),
    ]


def test_makers_stand_in_the_notebooks_order_and_those_that_bind_are_told_from_those_that_change():
    found = definitions(notebook("x = []\nx.append(1)", "x = [2]"))
    assert [one.source for one in found.makers["x"]] == ["x = []", "x.append(1)", "x = [2]"]
    assert [one.source for one in found.bound("x")] == ["x = []", "x = [2]"] and found.bound("y") == ()


def test_a_number_that_python_does_not_write_out_is_taken_as_it_stands():
    """Catches one huge number that costs a whole notebook its points."""
    source = "x = 1\ny = [0x" + "f" * 10_000 + ",\n     z]\nw = 2"
    one = definitions(notebook(source)).makers["y"][0]
    assert one.source == "\n".join(source.split("\n")[1:3]) and one.reads == {"z"}


EXERCISE = "def {}(x):\n    # student code here\n    # TODO: x\n    return x\n    # end student code"


def test_a_function_that_holds_an_exercise_is_known():
    """Catches a neighbour's exercise counted for a function, and what is beside a function counted for it."""
    cells = [EXERCISE.format("f") + "\ndef g(x): return x", f"def h(x): return x\n{EXERCISE.format('k')}"]
    cells += [
        "class A:\n    # student code here\n    # TODO: x\n    y = 1\n    # end student code",
        "%time\n" + EXERCISE.format("m"),
    ]
    assert definitions(notebook(*cells)).filled == {"f", "k", "m"}


def test_the_last_check_of_each_function_counts():
    """Catches a later cell that is taken for what a check judged."""
    found = definitions(
        notebook(
            "from shared import check as c",
            "c.kl(f)\nx = 1; c.loss(g)",
            "if y:\n    c.kl(f)",
            "c.kl()\nc.kl(lambda: 1)\nprint(f)\nother.kl(f)\nc.kl(rows[0])",
        )
    )
    assert found.last_checks == {"f": (2, 2, 4), "g": (1, 2, 7)}


def test_what_calls_a_check_or_is_about_blanks_is_part_of_no_program():
    """Catches a check that is run while a function is graded."""
    found = definitions(
        notebook(
            "from shared import blanks, check",
            "right = check.kl(f)\nwith blanks.allowed() as b: z = 2",
            "if x:\n    y = blanks.filled(f)\ndef h(): return check.kl(f)\nw = 3",
        )
    )
    assert found.makers.keys() == {"blanks", "check", "h", "w"}


def test_a_cell_that_is_no_python_defines_nothing():
    assert definitions(notebook("x = (", "y = 1", ("markdown", "z = 1"))).makers.keys() == {"y"}
