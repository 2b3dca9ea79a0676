"""Formulas of the objective, recognised in syntax trees: ratios, averages and the k3 estimate, as people write them."""

import ast
from dataclasses import dataclass

from checker.reading.syntax.code import Code
from checker.reading.syntax.expressions import called, difference, mentions, number, same, subject

AVERAGES = ("mean", "sum", "masked_mean", "masked_sum", "nanmean")
KEEPING = ("clamp", "clip", "detach", "float", "contiguous")  # x of `x.clamp(-20, 20)` is still x


def quotient(code: Code, node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """(a, b) when the expression is the ratio a / b of probabilities, or exp(a - b) of their logarithms."""
    node = code.resolve(node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return node.left, node.right
    exponent = _exponent(node)
    return None if exponent is None else difference(code.resolve(unclipped(exponent)))


def unclipped(node: ast.expr) -> ast.expr:
    """x of `x.clamp(-20, 20)`, `x.detach()` and the like, which keep what x is."""
    while called(node) in KEEPING and subject(node) is not None:
        node = subject(node)
    return node


def averaged(node: ast.expr) -> ast.expr:
    """x of `x.mean()`, `x.sum(-1)`, `(x * mask).sum() / mask.sum()` and `masked_mean(x, mask)`."""
    for _ in range(6):
        if _divides_by_a_count(node):
            node = node.left
        elif called(node) in AVERAGES and subject(node) is not None:
            node = subject(node)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and mentions(node.right, "mask"):
            node = node.left
        else:
            break
    return node


def _divides_by_a_count(node: ast.expr) -> bool:
    """True for `x.sum() / y`, whatever y is, and for `x / mask.sum()`, `x / len(rows)`, `x / n_tokens`."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)):
        return False
    return called(node.left) == "sum" or mentions(node.right, r"mask|len|count|^n_|num")


@dataclass(frozen=True)
class K3:
    """The estimate k3 = exp(x) - x - 1, found in an expression.

    log_r: (a, b) when x is seen to be a - b; None when it is a name or a call that shows no difference.
    """

    log_r: tuple[ast.expr, ast.expr] | None


def k3(code: Code, node: ast.AST) -> K3 | None:
    """The k3 that an expression is: `expm1(x) - x`, or `exp(x) - x - 1` or `r - log(r) - 1` in any order of terms."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub))):
        return None
    terms = _terms(node)
    return _k3_of_two_terms(code, terms) or _k3_of_three_terms(code, terms)


@dataclass(frozen=True)
class _Term:
    """A term of a sum, with its sign: 1 or -1."""

    sign: int
    value: ast.expr


def _terms(node: ast.expr, sign: int = 1) -> list[_Term]:
    """The terms of a sum. `x - (a - b)` has two: a difference that is subtracted or added is one term."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub))):
        return [_Term(sign, node)]
    sign_of_second = sign if isinstance(node.op, ast.Add) else -sign
    if difference(node.right) is not None:
        return [*_terms(node.left, sign), _Term(sign_of_second, node.right)]
    return [*_terms(node.left, sign), *_terms(node.right, sign_of_second)]


def _k3_of_two_terms(code: Code, terms: list[_Term]) -> K3 | None:
    """k3 written as expm1(x) - x."""
    if [term.sign for term in terms] != [1, -1] or called(terms[0].value) != "expm1":
        return None
    exponent = subject(terms[0].value)
    return K3(difference(code.resolve(exponent))) if same(exponent, terms[1].value) else None


def _k3_of_three_terms(code: Code, terms: list[_Term]) -> K3 | None:
    """k3 written as exp(x) - x - 1 or r - log(r) - 1. Four terms are possible: x may be written out as a - b."""
    rest = [term for term in terms if not (term.sign == -1 and number(term.value) == 1)]
    if len(rest) == len(terms) or not 3 <= len(terms) <= 4:
        return None
    for term in rest:
        others = [other for other in rest if other is not term]
        if term.sign == 1:
            found = _k3_of_ratio(code, term.value, others)
            if found is not None:
                return found
    return None


def _k3_of_ratio(code: Code, ratio: ast.expr, others: list[_Term]) -> K3 | None:
    """k3 when the other terms come to -log(ratio): by name, `- log(r)`, or as the exponent of `exp(x)`, `- x`."""
    subtracted = _negated_sum(others)
    if subtracted is None:
        return None
    forms = [subtracted, code.resolve(subtracted)]
    if called(forms[-1]) == "log":
        return K3(quotient(code, ratio)) if same(subject(forms[-1]), ratio) else None
    exponent = _exponent(code.resolve(ratio))
    if exponent is None:
        return None
    if not any(same(one, other) for one in (exponent, code.resolve(exponent)) for other in forms):
        return None
    return K3(difference(code.resolve(unclipped(exponent))))


def _exponent(node: ast.expr) -> ast.expr | None:
    """x of `exp(x)`; None for anything else."""
    return subject(node) if called(node) == "exp" else None


def _negated_sum(terms: list[_Term]) -> ast.expr | None:
    """x when the terms come to -x: the one term `- x`, or the two of `- a + b`, which are -(a - b)."""
    signs = sorted(term.sign for term in terms)
    if signs == [-1]:
        return terms[0].value
    if signs == [-1, 1]:
        first, second = sorted(terms, key=lambda term: term.sign)
        return ast.BinOp(first.value, ast.Sub(), second.value)
    return None
