"""The flow of a value: what is made of it, and what only seems to be."""

import ast
from collections import Counter

import pytest

from checker.reading.syntax.code import Code, read_code
from checker.reading.syntax.expressions import called
from checker.reading.syntax.flow import Flow
from tests.checker.reading.cells import notebook


def flow(code: Code, asked: Counter | None = None) -> Flow:
    """Values that come from `generate(...)`, and go through everything but `decode(...)`."""

    def origin(node: ast.AST) -> bool:
        if asked is not None:
            asked[node] += 1
        return called(node) == "generate"

    return Flow(code, origin, lambda node: called(node) == "decode")


def shown(code: Code) -> ast.expr:
    """The first argument of the last call of `show`."""
    *_, (_, call) = code.calls("show")
    return call.args[0]


MADE = [
    "show(generate(p))",
    "show(2 * pad(generate(p))[0].T)",
    "show(decode(x) + generate(p))",
    "show(generate(p) + decode(x))",
    "ids = generate(p)\nrows = [row[n:] for row in ids]\nshow(pad(rows))",
    "ids = mask = generate(p)\nshow(mask)",
    "rows = []\nfor q in p:\n    rows.append(generate(q))\nshow(rows)",
    "rows = None\nfor row in generate(p):\n    rows = row\nshow(rows)",
    "for i, row in enumerate(generate(p)):\n    show(row)",
    "show({pad(row) for row in generate(p)})",
    "show(list(row for row in generate(p)))",
    "x = other(p)\nx = generate(p)\nshow(x)",
    "if a:\n    x = generate(p)\nelse:\n    x = generate(q)\nshow(x)",
    # Through functions.
    "def sample(p):\n    return generate(p)\nids = sample(p)\nshow(ids)",
    "def sample(p):\n    if p:\n        return pad(generate(p))\n    return generate(p)\nshow(sample(p))",
    "def score(ids):\n    show(ids)\nscore(generate(p))\nscore(ids=generate(q))",
    "def score(batch):\n    show(batch.view(-1))\nscore(generate(p))",
    "def score(batch):\n    rows = batch\n    show(rows.ids)\nscore(generate(p))",
    "def score(batch):\n    batch = generate(batch)\n    show(batch.ids)\nscore(generate(p))",
    "ids = generate(p)\nshow(ids.rows)",
    # One after the other: what a function returns is known only when what it reads is.
    "x = generate(p)\ndef f():\n    return x\ny = f()\nshow(y)",
]
NOT_MADE = [
    "show(other(p))",
    "show(decode(generate(p)))",
    "ids = generate(p)\ntexts = decode(ids)\nshow(texts)",
    "x = generate(p)\nx = other(p)\nshow(x)",
    "if a:\n    x = generate(p)\nelse:\n    x = other(p)\nshow(x)",
    "show([1 for row in generate(p)])",
    "show({len(x) for x in rows if generate(x) and x})",
    "rows = []\nshow(rows)",
    "show(x)",
    "x = other(p)\nshow(x)",
    "ids = generate(p)\nshow(x)",
    "def sample(p):\n    if p:\n        return other(p)\n    return generate(p)\nshow(sample(p))",
    "def sample(p):\n    return generate(p), p\nshow(sample(p))",
    "def sample(p):\n    return generate(p)\nshow(other(p))",
    "def sample(p):\n    generate(p)\nshow(sample(p))",
    "def score(ids):\n    show(ids)\nscore(generate(p))\nscore(other(q))",
    "def score(ids):\n    show(ids)\nscore(generate(p))\nscore(*rows)",
    "def score(batch):\n    show(batch.ids)\nscore(generate(p))",
    "def score(batch):\n    show(batch.ids + 1)\nscore(generate(p))",
]


@pytest.mark.parametrize(("source", "made"), [(s, True) for s in MADE] + [(s, False) for s in NOT_MADE])
def test_a_value_is_followed_to_what_is_made_of_it(source, made):
    """Catches a rule that is silent for a variable in between, and one that speaks of what has another source."""
    code = read_code(notebook(source))
    assert flow(code)(shown(code)) is made


def test_a_value_is_followed_from_cell_to_cell():
    code = read_code(notebook("ids = generate(p)", "x = 1", "rows = ids[0]", "show(rows)"))
    assert flow(code)(shown(code))


def test_a_notebook_is_followed_once_and_no_longer_than_it_has_to_be():
    """Catches a whole notebook that is followed again for each expression, or when nothing is to be found any more."""
    code = read_code(notebook("x = generate(p)\ndef f():\n    return x\nz = other(p)\nshow(f())\nshow(z)"))
    asked = Counter()
    is_made = flow(code, asked)
    [(_, other)] = code.calls("other")
    assert is_made(shown(code)) is False and asked[other] == 2  # `f` is found in the first round, nothing in the second
    assert is_made(shown(code)) is False and asked[other] == 2
