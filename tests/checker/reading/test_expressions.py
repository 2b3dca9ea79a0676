"""Small readings of one expression."""

import ast

import pytest

from checker.reading.syntax.expressions import (
    argument,
    called,
    difference,
    direct_parts,
    is_empty,
    keyword,
    mentions,
    names,
    number,
    operands,
    parameters,
    product,
    same,
    subject,
)


def expression(source: str) -> ast.expr:
    return ast.parse(source, mode="eval").body


def shown(node: ast.AST | None) -> str | None:
    return None if node is None else ast.unparse(node)


@pytest.mark.parametrize(
    ("source", "name"),
    [("exp(x)", "exp"), ("torch.exp(x)", "exp"), ("a.b().exp(x)", "exp"), ("f()(x)", ""), ("exp", ""), ("a.exp", "")],
)
def test_a_call_is_known_by_its_last_name(source, name):
    assert called(expression(source)) == name
    assert called(None) == ""


METHODS = ["x.std", "x.std(0)", "a.x", "self.a.x", "rows[0].x", "torch.rand(2)"]
FUNCTIONS = ["torch.std", "np.std", "numpy.std", "math.exp", "F.softmax", "nn.softmax", "statistics.stdev", "jnp.exp"]
FUNCTIONS += ["functional.softmax", "nn.functional.softmax", "torch.nn.functional.softmax", "np.linalg.norm", "std"]


def test_the_subject_of_a_call_is_what_it_is_about():
    """Catches `torch` in `torch.nn.functional.softmax(logits)` taken for what is softened."""
    assert [shown(subject(expression(f"{method}.mean(1)"))) for method in METHODS] == METHODS
    for function in FUNCTIONS:
        assert shown(subject(expression(f"{function}(x, 1)"))) == "x", function
        assert shown(subject(expression(f"{function}(dim=1, input=x)"))) == "x", function
        assert subject(expression(f"{function}(dim=1)")) is None


def test_names_are_those_of_variables_attributes_and_keys():
    """Catches a rule that overlooks a mask since it is a field or a key."""
    assert names(expression('a.b["c"] + d[0][e].f("g", h=[i for i in j])')) == set("abcdefij")
    assert mentions(expression("batch['Attention_MASK']"), r"mask$") and mentions(expression("eval_rows"), "EVAL")
    assert not mentions(expression("f('mask')"), "mask")


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("def f(a, /, b, *c, d=1, **e): pass", set("abcde")),
        ("async def f(a): pass", {"a"}),
        ("lambda a, b=1: c", {"a", "b"}),
        ("def f(): pass", set()),
        ("class C: pass", set()),
    ],
)
def test_all_parameters_are_found(source, found):
    statement = ast.parse(source).body[0]
    assert parameters(getattr(statement, "value", statement)) == found
    assert parameters(None) == set()


def test_a_keyword_is_found_by_one_of_its_names():
    call = expression("f(1, b=2, c=3, **d)")
    assert shown(keyword(call, "c")) == "3" and shown(keyword(call, "c", "b")) == "2" and keyword(call, "d") is None


@pytest.mark.parametrize(
    ("signature", "call", "passed"),
    [
        ("a, b", "f(1, 2)", "2"),
        ("a, b", "f(1, b=2)", "2"),
        ("a, /, b", "f(1, 2)", "2"),
        ("a, b", "f(1, 2, 3)", "2"),
        ("b, a", "f(1, 2)", "1"),
        ("a, b=3", "f(1)", None),
        ("a, b", "f(*rows)", None),
        ("a, b", "f(*rows, 2)", None),
        ("b, a", "f(1, *rows)", "1"),
        ("a, *, b=3", "f(1, 2)", None),
        ("self, b", "x.f(1)", "1"),
        ("self, a, b", "x.f(1, 2)", "2"),
        ("a", "f(1)", None),
    ],
)
def test_the_value_that_a_call_passes_is_found(signature, call, passed):
    """Catches the value of a neighbour, and one that is read out of a list of unknown length."""
    function = ast.parse(f"def f({signature}): pass").body[0]
    assert shown(argument(expression(call), function, "b")) == passed


def test_expressions_are_the_same_when_they_are_written_alike():
    assert same(expression("a+b"), expression("a + b")) and not same(expression("a + b"), expression("b + a"))
    assert not same(expression("a"), expression("'a'"))
    node = expression("a")
    assert same(node, node)


@pytest.mark.parametrize(
    ("source", "value"),
    [("3", 3), ("-0.5", -0.5), ("--2", 2), ("True", None), ("'3'", None), ("-x", None), ("+3", None), ("None", None)],
)
def test_a_number_is_read_with_its_sign(source, value):
    assert number(expression(source)) == value
    assert number(None) is None


@pytest.mark.parametrize("source", ["None", "[]", "()", "{}", "list()", "dict()"])
def test_a_place_for_values_is_no_value(source):
    """Catches a list that is filled below taken for one that holds something else."""
    assert is_empty(expression(source))


@pytest.mark.parametrize("source", ["0", "''", "[1]", "(1,)", "{1: 2}", "list(x)", "dict(x)", "dict(a=1)", "f()", "x"])
def test_a_value_is_no_empty_place(source):
    assert not is_empty(expression(source))


def test_parts_of_formulas_are_found():
    assert list(map(shown, operands(expression("a / b")))) == ["a", "b"]
    assert list(map(shown, operands(ast.parse("a /= b").body[0]))) == ["a", "b"]
    assert list(map(shown, difference(expression("a - b * c")))) == ["a", "b * c"]
    assert difference(expression("a + b")) is None and difference(expression("-a")) is None
    assert list(map(shown, product(expression("-a * (b * -c) * (d + e)")))) == ["a", "b", "c", "d + e"]
    assert list(map(shown, product(expression("a / b")))) == ["a / b"]


def test_the_parts_of_a_node_are_nodes_without_marks():
    """Catches a mark of reading that is followed as if it were code, and an entry of a list that is lost."""
    assert list(map(shown, direct_parts(expression("f(a, *b, c=d)")))) == ["f", "a", "*b", "c=d"]
    assert direct_parts(expression("a")) == [] == direct_parts(expression("1"))
    assert list(map(shown, direct_parts(expression("a[b]")))) == ["a", "b"]
    assert list(map(shown, direct_parts(expression("{**a}")))) == ["a"]
