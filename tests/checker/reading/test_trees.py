"""The code cells as trees: IPython's magic is passed over, lines stay where they are, and what is no Python is told."""

import ast
import warnings

import pytest

from checker.reading.syntax import trees
from checker.reading.syntax.trees import cells_not_python, read_trees
from tests.checker.reading.cells import notebook

BASH = "%%bash\nls -l"


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("x = 1\n", "x = 1\n"),
        ("%matplotlib inline\nx = 1", "pass\nx = 1"),
        ("if a:\n    !ls\n\tx = 1", None),
        ("if a:\n    !ls -l\nx = 1", "if a:\n    pass\nx = 1"),
        ("!pip install \\\n    torch \\  \n    numpy\nx = 1", "pass\n\n\nx = 1"),
        ("%%time\nx = 1", "pass\nx = 1"),
        ("\n  %%capture out\nx = 1", None),
        ("\n%%timeit -n 3\nx = 1", "\npass\nx = 1"),
        ("?f\nx = 1", "pass\nx = 1"),
        ("rows[0].mean? \nf??\nx = 1", "pass\npass\nx = 1"),
        ("files = !ls\na, b = %time f()\nx = 1", "pass\npass\nx = 1"),
        # What continues a formula is no magic.
        ("%time\nx = (5\n  % n)\ny = (a\n!= b)", "pass\nx = (5\n  % n)\ny = (a\n!= b)"),
        ("%time\nx = a \\\n  + b", "pass\nx = a \\\n  + b"),
        # Nor is a line of a text in plain Python.
        ('x = """\n%d\n!"""', 'x = """\n%d\n!"""'),
        ("", ""),
    ],
)
def test_magic_is_passed_over_and_lines_stay(source, lines):
    """Catches a cell that is not read for a line of magic, and findings that name a neighbour's line."""
    found = read_trees(notebook(source))
    assert ["\n".join(tree.lines) for tree in found] == ([] if lines is None else [lines])
    assert all(ast.dump(tree.module) == ast.dump(ast.parse(lines)) for tree in found)


def test_a_cell_that_is_no_python_is_told_with_its_line():
    """Catches a cell that no rule looks at, without a word; and another language taken for an error."""
    cells = [("markdown", "no ("), "x = 1", "%time\nx = = 2", BASH, "%%time\nfor", "!ls", "x = 'a\n", "\n%%latex\n$x$"]
    found = list(cells_not_python(notebook(*cells)))
    assert [(cell, error.lineno) for cell, error in found] == [(2, 2), (4, 2), (6, 1)]
    assert [tree.cell for tree in read_trees(notebook(*cells))] == [1, 5]


def test_what_is_too_long_for_code_is_neither_read_nor_told(monkeypatch):
    """Catches a checker that takes minutes over data pasted into a cell."""
    monkeypatch.setattr(trees, "MAX_CODE", 10)
    cells = ["x = 123456", "x = 1234567", "x = 12345 ("]
    assert [tree.cell for tree in read_trees(notebook(*cells))] == [0]
    assert list(cells_not_python(notebook(*cells))) == []


def test_of_an_endless_notebook_the_beginning_is_read(monkeypatch):
    """Catches cells that are each small enough and are too many."""
    monkeypatch.setattr(trees, "MAX_ALL_CODE", 10)
    assert [tree.cell for tree in read_trees(notebook("x = 1", "y = 2", "z"))] == [0, 1]
    assert [tree.cell for tree in read_trees(notebook("x = 1", "y = 22", "z"))] == [0]
    assert [cell for cell, *_ in cells_not_python(notebook("x = (", "y = (", "z ("))] == [0, 1]


def test_code_that_is_too_deep_is_left_out():
    """Catches a notebook that ends the checker by a recursion, and plain code that is called too deep."""
    deep = "x = " + "-" * 1000 + "1"
    assert [tree.cell for tree in read_trees(notebook("x = " + "-" * 50 + "1", deep))] == [0]
    assert list(cells_not_python(notebook(deep))) == []


def test_each_node_has_what_stands_in_it_outermost_first():
    [tree] = read_trees(notebook("x = f(y)\nz"))
    assert [type(node).__name__ for node in tree.children] == [
        "Module",
        "Assign",
        "Expr",
        "Name",
        "Call",
        "Name",
        "Name",
        "Name",
    ]
    assert tree.children[tree.module] == tree.module.body
    assert all(tree.children[node] == [] for node in tree.children if isinstance(node, ast.Name))


def test_notebooks_share_the_trees_of_a_cell_and_cells_of_one_notebook_do_not():
    """Catches a class whose cells are parsed for each student, and two equal cells of which one line is found."""
    first, again = read_trees(notebook("shared = 1", "shared = 1"))
    [other] = read_trees(notebook("shared = 1"))
    assert first.module is other.module and first.module is not again.module
    assert (first.cell, again.cell) == (0, 1)


def test_memory_does_not_grow_with_a_class():
    for number in range(1000):
        read_trees(notebook(f"number = {number}"))
    assert trees._parsed.cache_info().currsize < 1000


def test_a_students_escapes_warn_nobody():
    """Catches a warning of Python's about a notebook, printed between the checker's own lines."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(read_trees(notebook("pattern = '\\d'"))) == 1
