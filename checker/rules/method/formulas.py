"""How people write the formulas of the objective: ratios, averages and the k3 estimate, recognised in syntax trees."""

import ast

from checker.rules.syntax.code import Code
from checker.rules.syntax.expressions import called, difference, mentions, number, operands, same, subject

AVERAGES = ("mean", "sum", "masked_mean", "masked_sum", "nanmean")


def quotient(code: Code, node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """(a, b) when the expression is the ratio a / b of probabilities, or exp(a - b) of their logarithms."""
    node = code.resolve(node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return node.left, node.right
    if called(node) == "exp" and subject(node) is not None:
        return difference(code.resolve(unclipped(subject(node))))
    return None


def unclipped(node: ast.expr) -> ast.expr:
    """x of `x.clamp(-20, 20)`, `x.detach()` and the like, which keep what x is."""
    while called(node) in ("clamp", "clip", "detach", "float", "contiguous") and subject(node) is not None:
        node = subject(node)
    return node


def averaged(node: ast.expr) -> ast.expr:
    """x of `x.mean()`, `x.sum(-1)`, `(x * mask).sum() / mask.sum()` and `masked_mean(x, mask)`."""
    for _ in range(6):
        if (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Div)
            and (called(node.left) == "sum" or mentions(node.right, r"mask|len|count|^n_|num"))
        ):
            node = node.left
        elif called(node) in AVERAGES and subject(node) is not None:
            node = subject(node)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and mentions(node.right, "mask"):
            node = node.left
        else:
            break
    return node


def halved(node: ast.BinOp | ast.AugAssign) -> ast.expr | None:
    """x of `x / 2`, `0.5 * x`, `x * 0.5`, `x /= 2` and `x *= 0.5`."""
    left, right = operands(node)
    if isinstance(node.op, ast.Div) and number(right) == 2:
        return left
    if isinstance(node.op, ast.Mult) and number(right) == 0.5:
        return left
    return right if isinstance(node.op, ast.Mult) and number(left) == 0.5 else None


def is_k3(code: Code, node: ast.expr) -> bool:
    """Whether the expression is k3 or an average of it."""
    while called(node) in AVERAGES and subject(node) is not None:
        node = subject(node)
    return bool(k3(code, code.resolve(node)))


def k3(code: Code, node: ast.AST) -> tuple[ast.expr, ast.expr] | bool:
    """(a, b) when the expression is exp(a - b) - (a - b) - 1 in some order of terms; True when it is k3 of a
    difference that cannot be seen; else False."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub))):
        return False
    terms = _terms(node)
    if len(terms) == 2 and terms[0][0] == 1 and terms[1][0] == -1 and called(terms[0][1]) == "expm1":
        inner = subject(terms[0][1])
        return same(inner, terms[1][1]) and (difference(code.resolve(inner)) or True)
    if not 3 <= len(terms) <= 4 or (-1, 1) not in [(sign, number(term)) for sign, term in terms]:
        return False
    rest = [(sign, term) for sign, term in terms if (sign, number(term)) != (-1, 1)]
    positive = [term for sign, term in rest if sign == 1]
    for term in positive:
        others = [pair for pair in rest if pair[1] is not term]
        stands_for = code.resolve(term)
        if len(others) == 1 and others[0][0] == -1 and called(logarithm := code.resolve(others[0][1])) == "log":
            if same(subject(logarithm), term):
                return quotient(code, term) or True
        elif called(stands_for) == "exp" and subject(stands_for) is not None:
            exponent = subject(stands_for)
            linear = _minus(others)
            if any(
                same(one, other)
                for one in (exponent, code.resolve(exponent))
                for other in (linear, code.resolve(linear))
            ):
                return difference(code.resolve(unclipped(exponent))) or True
    return False


def _terms(node: ast.expr, sign: int = 1) -> list[tuple[int, ast.expr]]:
    """(sign, term) of a sum, differences in brackets kept together."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        second = sign if isinstance(node.op, ast.Add) else -sign
        if isinstance(node.right, ast.BinOp) and isinstance(node.right.op, ast.Sub):
            return [*_terms(node.left, sign), (second, node.right)]
        return [*_terms(node.left, sign), *_terms(node.right, second)]
    return [(sign, node)]


def _minus(terms: list[tuple[int, ast.expr]]) -> ast.expr:
    """The expression x when the terms come to -x, or to -a + b for x = a - b."""
    if len(terms) == 1 and terms[0][0] == -1:
        return terms[0][1]
    if len(terms) == 2 and sorted(sign for sign, _ in terms) == [-1, 1]:
        minuend = next(term for sign, term in terms if sign == -1)
        subtrahend = next(term for sign, term in terms if sign == 1)
        return ast.BinOp(minuend, ast.Sub(), subtrahend)
    return ast.Constant(None)
