"""Forms that a newer Python has: told where they alone stop this one, and never guessed."""

import ast
import sys

import pytest

from checker.reading.syntax.newer import DEFAULTS, F_STRING, PARAMETERS, TEMPLATE, TYPE_STATEMENT, newer_form

NEWER = [
    ("type Rows = list[str]", 1, TYPE_STATEMENT),
    ("x = 1; type Pair[T: int] = tuple[T, T]", 1, TYPE_STATEMENT),
    ("x = 1\n\ndef first[T](rows: list[T]) -> T:\n    return rows[0]", 3, PARAMETERS),
    ("class Batch[T: (int, str), *Ts, **P](Base):\n    pass", 1, PARAMETERS),
    ("async def f[T = int](x: T):\n    pass", 1, DEFAULTS),
    ('print(f"{row["answer"]}")', 1, F_STRING),
    ('a = "it\'s"\nb = f"{\'\\n\'.join(rows)} {{}}"', 2, F_STRING),
    ('f"{x # the reward\n}"', 1, F_STRING),
    ("f'{1}' rf'\\d{\n1}'", 1, F_STRING),
    ("f'{d['a'] = !r:>{w['b']}} \\N{EM DASH} {x != 1:%H:%M}' 'b'", 1, F_STRING),
    ('f"{f"{f"{1}"}"}"', 1, F_STRING),
    ('if"x": t"{x}"', 1, TEMPLATE),
    ("# type X = 3\n'type X = 3'\nx = RT'a{x}'", 3, TEMPLATE),
]
PLAINLY_WRONG = [
    *(
        "type X: int",
        "type X[T]",
        "type X == 3",
        "f(\ntype x = 3)",
        "x: type y = 3",
        "type X = 3 = 4",
        "type X =3, 4",
        "type X = \n3",
        "type X = 3, 4",
        "type X[3] = 4",
    ),
    *(
        "def f[T](x: pass",
        "def f[](x): pass",
        "def f[T=](x): pass",
        "def f[3](x): pass",
        "class A[T: pass",
        "class A[T]: = 3",
        "def f[T]g(x): pass",
    ),
    *(
        'f"{x["a"}"',
        'f"{x["a"] = = 3}"',
        'f"{x["a"] != = 3}"',
        'f"{}" f"{x["a"]}"',
        'f"{ # x\n}"',
        'f"{x["a"]!z}"',
        'f"{x:["a"]}"',
        'f"{x]["a"}"',
        'f"{x["a"]\\}"',
        'f"{x["a"]',
        'f"{x["a"]}',
        'f"\n{x["a"]}"',
    ),
    *("f'{d['a']}}'", 'print f"{x["a"]}"', 't"{x', 'ft"{x}"', "type X = int\nx = = 2", "f'\\N{", 'x = "'),
    *("x = 'type X = 3'\ny = = 3", "except A, B:", 'f"{' * 30_000, 'f"' * 3_000, "x = 1"),
]


@pytest.mark.parametrize(("source", "line", "form"), NEWER)
def test_a_form_of_a_newer_python_is_told_with_its_line(source, line, form):
    """Catches a student who is told to mend what is right on their Python, and one that is told so on it."""
    there = sys.version_info[:2] >= form.version
    assert newer_form(source) == (None if there else (line, form))
    if there:
        ast.parse(source)


@pytest.mark.parametrize("source", PLAINLY_WRONG)
def test_what_no_python_reads_is_no_newer_form(source):
    """Catches a slip that is taken for syntax of another version, and a hostile cell that ends the checker."""
    assert newer_form(source) is None
