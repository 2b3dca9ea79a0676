"""The questions about a notebook's code: where something stands, what calls it, and what a name stands for."""

import ast

import pytest

from checker.reading.syntax.code import Code, Place, Variable, read_code
from tests.checker.reading.cells import notebook


def code_of(*cells: str) -> Code:
    return read_code(notebook(*cells))


def shown(code: Code, place: int = -1) -> ast.expr:
    """The first argument of a call of `show`, of the last one where no other is asked for."""
    return list(code.calls("show"))[place][1].args[0]


def told(nodes) -> list[str]:
    return [ast.unparse(node) for node in nodes]


def test_nodes_are_found_by_kind_with_their_cells():
    """Catches a finding that names another cell."""
    code = read_code(notebook(("markdown", "# x = 0"), "x = 1\nfor y in x: pass", "no python (", "z = 2"))
    assert [(cell, ast.unparse(node)) for cell, node in code.walk(ast.Assign)] == [(1, "x = 1"), (3, "z = 2")]
    assert [cell for cell, _ in code.walk(ast.For, ast.Assign)] == [1, 1, 3]
    assert list(code.walk(ast.While)) == []


def test_what_stands_around_a_node_is_found_from_the_inside_out():
    code = code_of("def f():\n    for x in y:\n        show(x)")
    node = shown(code)
    assert [type(parent) for parent in code.parents(node)] == [ast.Call, ast.Expr, ast.For, ast.FunctionDef, ast.Module]
    assert isinstance(code.within(node, ast.FunctionDef, ast.For), ast.For)
    assert code.within(node, ast.While) is None
    assert code.parent(code.trees[0].module) is None
    assert told(code.children(code.parent(node))) == ["show", "x"] and code.children(ast.Pass()) == []
    assert set(code.inside(code.parent(node))) == set(ast.walk(code.parent(node))) - {
        part for part in ast.walk(code.parent(node)) if isinstance(part, ast.Load)
    }


def test_a_scope_is_the_nearest_function():
    """Catches a variable of one function taken for that of another."""
    code = code_of(
        "def f():\n    if a:\n        show(lambda x: show(x))\nclass A:\n    def g(self):\n        show(1)\nshow(2)"
    )
    scopes = {ast.unparse(call.args[0]): code.scope(call) for _, call in code.calls("show")}
    assert isinstance(scopes.pop("x"), ast.Lambda)
    assert scopes == {"lambda x: show(x)": code.functions["f"], "1": code.functions["g"], "2": None}
    assert code.scope(code.functions["f"]) is None


def test_the_place_of_a_node_is_that_of_its_statement():
    code = code_of("x = 1", "show(\n    2)\nshow(3)")
    assert [code.place(call.args[0]) for _, call in code.calls("show")] == [Place(1, 1), Place(1, 3)]
    assert code.place(code.trees[1].module) == Place(1, 0) < Place(1, 1)


def test_calls_come_in_the_notebooks_order():
    code = code_of("b(1)\na(2)", "x.b(3)\nc(4)")
    assert [(cell, ast.unparse(call)) for cell, call in code.calls("a", "b")] == [
        (0, "b(1)"),
        (0, "a(2)"),
        (1, "x.b(3)"),
    ]
    assert list(code.calls("d")) == []


def test_calls_of_a_function_are_told_from_those_around_it():
    """Catches a pass of the model that is counted for the function in which another is defined."""
    code = code_of("a(b(1))\ndef f():\n    c()\n    def g():\n        d()\n    return e()", "h()")
    assert told(code.calls_in(code.trees[0].module)) == ["b(1)", "a(b(1))"]
    assert told(code.calls_in(code.functions["f"])) == ["c()", "e()"] and told(code.calls_in(code.functions["g"])) == [
        "d()"
    ]
    assert told(code.calls_in(code.trees[1].module)) == ["h()"] and code.calls_in(ast.Pass()) == []


def test_a_call_leads_to_the_notebooks_own_function():
    """Catches `model.f(x)` taken for a call of the notebook's own `f`."""
    code = code_of(
        "def f(x): return 1", "def f(x): return 2", "f(1)\nself.f(1)\nmodel.f(1)\nself.model.f(1)\nlen(1)\nf(1)(2)"
    )
    calls = [call for _, call in code.walk(ast.Call)]
    found = [code.procedure(call) for call in calls]
    assert {ast.unparse(call) for call, function in zip(calls, found) if function} == {"f(1)", "self.f(1)"}
    assert {function.body[0].value.value for function in found if function} == {2}


def test_what_a_function_returns_is_known_by_its_name():
    source = "def f(x):\n    if x:\n        return 1\n    def g():\n        return 2\n    return\nh = lambda: 3\nasync def k():\n    return 4"
    assert {name: told(values) for name, values in code_of(source).returned.items()} == {"f": ["1"], "g": ["2"]}


def test_a_name_means_the_variable_of_its_function_before_that_outside():
    code = code_of("x = y = 1\ndef f(y):\n    z = 2\n    show(x), show(y), show(z), show(w)", "show(z)\nshow(x)")
    *names, z, x = [shown(code, place) for place in range(6)]
    function = code.functions["f"]
    assert {name.id: code.variable(name).scope for name in names} == {
        "x": None,
        "y": function,
        "z": function,
        "w": function,
    }
    assert code.variable(z) == Variable(None, "z") and code.variable(x) == Variable(None, "x")
    assert [told(b.value for b in code.visible(name)) for name in (*names, z)] == [["1"], [], ["2"], [], []]


def test_what_is_put_into_a_list_belongs_to_its_name():
    code = code_of("rows = []\nrows.append(1)\nfor rows in x: pass\nrows += y\ndef f():\n    rows = 2")
    assert sorted(told(code.values("rows"))) == ["1", "2", "[]", "x", "y"] and code.values("x") == []
    assert sorted(told(b.value for b in code.bindings[Variable(None, "rows")])) == ["1", "[]", "x", "y"]


RESOLVED = {
    "x = 1\nshow(x)": "1",
    "x = 1\ny = x\nshow(y)": "1",
    "a = f(x)\nb = a\nc = b\nd = c\nshow(d)": "f(x)",
    "show(f(x))": "f(x)",
    "show(x)": "x",
    "show(x)\nx = 1": "x",
    "x = 1\nx = 2\nshow(x)": "x",
    "x = 1\nx = 1\nshow(x)": "1",
    "x = 1\nx += 2\nshow(x)": "x",
    "for x in y: pass\nshow(x)": "x",
    "x = 1\ndef f():\n    show(x)": "1",
    "x = 1\ndef f(x):\n    show(x)": "x",
    "x = 1\ndef f():\n    x = 2\n    show(x)": "2",
    "x, y = 1, 2\nshow(y)": "2",
    "x = x\nshow(x)": "x",
}


@pytest.mark.parametrize("source", RESOLVED)
def test_a_name_is_followed_to_the_one_thing_that_it_stands_for(source):
    """Catches a formula that is not seen for a name in between, and a guess where there are two."""
    code = code_of(source)
    assert ast.unparse(code.resolve(shown(code))) == RESOLVED[source]


def test_of_several_cells_the_nearest_above_counts():
    assert ast.unparse((code := code_of("x = 1", "x = 2", "show(x)", "x = 3")).resolve(shown(code))) == "2"


IN_FORCE = {
    "x = 1\nx = 2\nshow(x)": "2",
    "x = 1\nx = 2\nif a:\n    show(x)": "2",
    "x = 1\nx = 2\nshow(x)\nx = 3": "2",
    "x = 1\nx = f(x)\nshow(x)": "f(x)",
    "x = 0\nif a:\n    x = 1\n    show(x)": "1",
    "x = 0\nif a:\n    pass\nelse:\n    x = 1\n    show(x)": "1",
    "x = 0\ntry:\n    pass\nfinally:\n    x = 1\n    show(x)": "1",
    "x = 1\nshow(x)": None,
    "x = 1\nif a:\n    x = 2\nshow(x)": None,
    "x = 0\nif a:\n    x = 1\nelse:\n    show(x)": None,
    "x = 1\nx += 2\nshow(x)": None,
    "x = []\nx.append(1)\nshow(x)": None,
    "show(x)\nx = 1\nx = 2": None,
    "x = 0\nx = show(x)": "0",
    "x = y = 0\nx = 1\ndef f():\n    show(x)": "1",
    "x = 0\nx = 1\ndef f(x):\n    show(x)": None,
}


@pytest.mark.parametrize("source", IN_FORCE)
def test_the_last_assignment_that_always_runs_is_in_force(source):
    """Catches the value of a branch that may not have been taken, and the one that was written over."""
    code = code_of(source)
    binding = code.binding_in_force(shown(code))
    assert (binding and ast.unparse(binding.value)) == IN_FORCE[source]
    assert code.binding_in_force(shown(code)) is binding


def test_a_variable_gets_what_it_is_bound_to_and_what_calls_pass():
    """Catches a parameter that is judged by one of its calls while another passes what cannot be seen."""
    source = """rows = []
rows.append(1)
empty = None
def f(a, b=0, c=None):
    a = 2
def g(d): pass
def h(e): pass
class A:
    def m(self, k): pass
f(3, c=4)
f(5, 6, c=7)
g(*x)
g(8)
other.h(9)
self.m(10)
"""
    code = code_of(source)
    found = {variable.name: sorted(told(values)) for variable, values in code.given.items()}
    assert found == {"rows": ["1"], "a": ["2", "3", "5"], "c": ["4", "7"], "k": ["10"]}
    assert {variable.scope for variable in code.given if variable.name in "ac"} == {code.functions["f"]}
