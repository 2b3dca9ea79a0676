"""Exact evaluation of untrusted text; Python's own parser is the oracle on well-formed input."""

import ast
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.tasks.arithmetic import NotAnExpression, evaluate


def python_value(text: str) -> Fraction:
    """The value by Python's grammar, with fractions for numbers."""

    def value(node):
        if isinstance(node, ast.Constant):
            return Fraction(node.value)
        left, right = value(node.left), value(node.right)
        return {ast.Add: left.__add__, ast.Sub: left.__sub__, ast.Mult: left.__mul__, ast.Div: left.__truediv__}[
            type(node.op)
        ](right)

    return value(ast.parse(text, mode="eval").body)


expressions = st.recursive(
    st.integers(0, 99).map(str),
    lambda inner: st.tuples(inner, st.sampled_from("+-*/"), inner, st.booleans()).map(
        lambda t: f"({t[0]} {t[1]} {t[2]})" if t[3] else f"{t[0]}{t[1]}{t[2]}"
    ),
    max_leaves=8,
)


@given(expressions)
def test_agrees_with_python(text):
    """Precedence and left-to-right: 8 - 4 - 2 is 2, and 8 / 4 / 2 is 1."""
    try:
        expected = python_value(text)
    except ZeroDivisionError:
        with pytest.raises(NotAnExpression, match="divides by zero"):
            evaluate(text)
    else:
        assert evaluate(text)[0] == expected


def test_fractions_are_exact():
    """With floats, 1 / 3 * 3 is right by luck and 8 / (3 - 8 / 3) = 24 is not."""
    assert evaluate("8 / (3 - 8 / 3)") == (24, [8, 3, 8, 3])


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "1 / 0",
        "1 / (2 - 2)",
        "2 ** 3",
        "2 +",
        "+ 2",
        "-2",
        "(2",
        "2)",
        "2 2",
        "2(3)",
        "()",
        "2 + 3 = 5",
        "２ + ３",
        "٣",
        "²",
        "2 × 3",
        "1e9",
        "0x10",
        "1_000",
        "__import__('os')",
        "9999999",
        "(" * 10_000 + "1" + ")" * 10_000,
        "1" + "+1" * 500,
        "1.5",
        "2,3",
        "a",
        "2\n+\n3",
        "\x00",
    ],
)
def test_everything_else_is_refused_with_a_reason(text):
    with pytest.raises(NotAnExpression, match="."):
        evaluate(text)


@given(st.text())
def test_any_text_is_a_value_or_a_refusal(text):
    try:
        evaluate(text)
    except NotAnExpression:
        pass
