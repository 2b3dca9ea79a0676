"""Exact evaluation of small arithmetic expressions from untrusted text: fractions, no `eval`.

expression = term (("+" | "-") term)*
term       = factor (("*" | "/") factor)*
factor     = number | "(" expression ")"
"""

import re
from fractions import Fraction

MAX_CHARACTERS = 200
MAX_DIGITS = 6
MAX_DEPTH = 20
TOKEN = re.compile(r" *([0-9]+|[-+*/()])")


class NotAnExpression(ValueError):
    """The text is not an expression of this grammar, is too long or too deep, or divides by zero."""


def evaluate(text: str) -> tuple[Fraction, list[int]]:
    """The value of an expression, and the numbers in it from left to right.

    Raises:
        NotAnExpression: with the reason. No other exception is raised, whatever the text.
    """
    tokens = _tokens(text)
    value, position = _expression(tokens, 0, 0)
    if position != len(tokens):
        raise NotAnExpression(f"{tokens[position]!r} is not expected there.")
    return value, [int(token) for token in tokens if token.isdigit()]


def is_expression(text: str) -> bool:
    """True if the text is an arithmetic expression and nothing more."""
    try:
        evaluate(text)
    except NotAnExpression:
        return False
    return True


def _tokens(text: str) -> list[str]:
    if len(text) > MAX_CHARACTERS:
        raise NotAnExpression(f"The expression is longer than {MAX_CHARACTERS} characters.")
    tokens = []
    position = 0
    text = text.strip()
    while position < len(text):
        match = TOKEN.match(text, position)
        if match is None:
            raise NotAnExpression(f"{text[position]!r} does not belong in an expression.")
        if len(match[1]) > MAX_DIGITS:
            raise NotAnExpression(f"A number has more than {MAX_DIGITS} digits.")
        tokens.append(match[1])
        position = match.end()
    return tokens


def _expression(tokens: list[str], position: int, depth: int) -> tuple[Fraction, int]:
    value, position = _term(tokens, position, depth)
    while position < len(tokens) and tokens[position] in "+-":
        right, after = _term(tokens, position + 1, depth)
        value = value + right if tokens[position] == "+" else value - right
        position = after
    return value, position


def _term(tokens: list[str], position: int, depth: int) -> tuple[Fraction, int]:
    value, position = _factor(tokens, position, depth)
    while position < len(tokens) and tokens[position] in "*/":
        right, after = _factor(tokens, position + 1, depth)
        if tokens[position] == "/" and right == 0:
            raise NotAnExpression("It divides by zero.")
        value = value * right if tokens[position] == "*" else value / right
        position = after
    return value, position


def _factor(tokens: list[str], position: int, depth: int) -> tuple[Fraction, int]:
    if position == len(tokens):
        raise NotAnExpression("The expression ends where a number is expected.")
    if tokens[position].isdigit():
        return Fraction(int(tokens[position])), position + 1
    if tokens[position] != "(":
        raise NotAnExpression(f"{tokens[position]!r} stands where a number is expected.")
    if depth == MAX_DEPTH:
        raise NotAnExpression(f"The brackets are nested more than {MAX_DEPTH} deep.")
    value, position = _expression(tokens, position + 1, depth + 1)
    if position == len(tokens) or tokens[position] != ")":
        raise NotAnExpression("A bracket is not closed.")
    return value, position + 1
