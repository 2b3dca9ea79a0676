"""The names under which a notebook has the course's checks, and what calls them."""

import ast

import pytest

from checker.reading.syntax.checks import brought, names_of
from checker.reading.syntax.trees import read_trees
from tests.checker.reading.cells import notebook

CALLED = {
    "from shared import check\ncheck.kl(f)": ["kl"],
    "check.kl(f)": ["kl"],
    "from shared import check as c\nc.kl(f)\ncheck.loss(f)": ["kl", "loss"],
    "import shared.check as chk\nchk.kl(f)": ["kl"],
    "import shared.check\nshared.check.kl(f)": ["kl"],
    "from shared import check\nmine = again = check\nmine.kl(f), again.loss(f)": ["kl", "loss"],
    "import shared.check\nmine = shared.check\nmine.kl(f)": ["kl"],
    "mine = check\ncheck.kl(f)": ["kl"],
    "from shared.check import per_token_kl, loss as check_loss\nper_token_kl(f)\ncheck_loss(f)": [
        "per_token_kl",
        "loss",
    ],
    "from shared import check as a\nfrom shared import check as b\na.kl(f), b.kl(f)": ["kl", "kl"],
    "from shared.check import kl\nfrom shared.check import loss\nkl(f), loss(f)": ["kl", "loss"],
    "print(check.kl)": [],
    "import math as m\nm.sqrt(2)": [],
    "from math import sqrt\nsqrt(2)": [],
    "from shared.checks import kl\nkl(f)": [],
    "from .check import kl\nkl(f)": [],
    "from . import check as c\nc.kl(f)": [],
    "rows[0].kl(f)\nf(1)(2)": [],
    "model = other\nmodel.kl(f)": [],
    "import other as shared\nother.check.kl(f)": [],
}


@pytest.mark.parametrize("source", CALLED)
def test_a_check_is_known_by_every_name_that_it_is_given(source):
    """Catches an exercise that seems to be checked nowhere, and a call of something else taken for a check."""
    trees = read_trees(notebook(source))
    names = names_of(trees)
    assert [name for tree in trees for _, name in names.calls(tree)] == CALLED[source]


def test_a_name_of_one_cell_is_known_in_all():
    trees = read_trees(notebook("from shared import check as c", "x = 1", "c.kl(f)"))
    names = names_of(trees)
    assert [[name for _, name in names.calls(tree)] for tree in trees] == [[], [], ["kl"]]


def test_another_module_of_the_course_is_known_in_the_same_way():
    """Catches what the notebook does about its blanks taken for a check, and the other way round."""
    trees = read_trees(notebook("from shared import blanks as b, check as c\nb.fill(f)\nblanks.fill(f)\nc.kl(f)"))
    names = names_of(trees, "shared.blanks")
    assert [name for _, name in names.calls(trees[0])] == ["fill", "fill"]
    trees = read_trees(notebook("from shared.tasks import dots\ndots.rows()\ntasks.dots.rows()"))
    assert [name for _, name in names_of(trees, "shared.tasks.dots").calls(trees[0])] == ["rows"]


def test_calls_are_counted_in_a_cell_that_is_no_python():
    """Catches a failed check that nobody misses since its cell was not finished."""
    names = names_of(read_trees(notebook("import shared.check\nfrom shared import check as c")))
    source = "check.kl(f)\n  c.loss(f)\nx = shared.check.kl(f)\n# check.no(f)\nmy_check.no(f)\ncheck.no\nsharedxcheck.no(\ndef ("
    assert names.lines_in(source) == 3


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("import a.b as c, d", [("c", "a.b"), ("d", "d")]),
        ("from a.b import c as d, e", [("d", "a.b.c"), ("e", "a.b.e")]),
        ("from . import a", [("a", "..a")]),
        ("from ..b import a", [("a", "..b.a")]),
    ],
)
def test_an_import_brings_names_that_stand_for_something(line, found):
    assert list(brought(ast.parse(line).body[0])) == found
