"""Mistakes in the objective: ratio, reference, KL, the loss."""

import ast
import re
from collections.abc import Iterator

from checker.rules.base import Remark, Submission, rule
from checker.rules.method.vocabulary import ADVANTAGE, REFERENCE, is_reference
from checker.rules.syntax import (
    FUNCTIONS,
    Code,
    called,
    difference,
    mentions,
    names,
    number,
    plain_name,
    product,
    same,
    subject,
)

POLICY = r"log_?p(rob)?s?|policy|new|cur(rent)?|theta|^lp"
COEFFICIENT = r"beta|kl_?(coef|weight|lambda|penalty_coe)|lambda_?kl|kl_?c"
AVERAGES = ("mean", "sum", "masked_mean", "masked_sum", "nanmean")


@rule(
    "M004",
    "warning",
    why=(
        "`disable_adapter()` only makes a context manager: called on its own it changes nothing, and the"
        ' "reference" is the policy itself. The KL is then 0 for ever.'
    ),
    wrong="model.disable_adapter()\nref_logps = logps_of(model)",
    right="with model.disable_adapter():\n    ref_logps = logps_of(model)",
)
def adapter_not_disabled(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    entered = {plain_name(item.context_expr) for _, node in code.walk(ast.With) for item in node.items}
    for cell, call in code.calls("disable_adapter"):
        parent = code.parent(call)
        kept = {plain_name(target) for target in parent.targets} if isinstance(parent, ast.Assign) else {""}
        if isinstance(parent, ast.Expr) or (isinstance(parent, ast.Assign) and not kept & (entered | {""})):
            yield (
                cell,
                f"line {call.lineno} calls `disable_adapter()` without `with`",
                "Write `with model.disable_adapter():` and compute the reference inside.",
            )


def _quotient(code: Code, node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """(a, b) when the expression is the ratio a / b of probabilities, or exp(a - b) of their logarithms."""
    node = code.resolve(node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return node.left, node.right
    if called(node) == "exp" and subject(node) is not None:
        return difference(code.resolve(_unclipped(subject(node))))
    return None


def _unclipped(node: ast.expr) -> ast.expr:
    """x of `x.clamp(-20, 20)`, `x.detach()` and the like, which keep what x is."""
    while called(node) in ("clamp", "clip", "detach", "float", "contiguous") and subject(node) is not None:
        node = subject(node)
    return node


@rule(
    "M005",
    "warning",
    why=(
        "The ratio corrects for the policy that sampled. Taken against the reference it leaves the clipping"
        " range for good as soon as the policy has moved, and the gradient stops."
    ),
    wrong=(
        "ratio = torch.exp(logps - ref_logps)\n"
        "loss = -torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages)"
    ),
    right=(
        "ratio = torch.exp(logps - old_logps)\n"
        "loss = -torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages)"
    ),
)
def ratio_against_the_reference(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    told = set()
    for cell, node in code.walk(ast.BinOp):
        if not isinstance(node.op, ast.Mult) or isinstance(code.parent(node), ast.BinOp):
            continue
        factors = product(node)
        if not any(mentions(factor, ADVANTAGE) and not called(factor) == "exp" for factor in factors):
            continue
        for factor in map(code.resolve, factors):
            factor = code.resolve(_unclipped(factor))
            pair = _quotient(code, factor)
            if (
                pair
                and is_reference(pair[1])
                and not mentions(pair[0], REFERENCE)
                and not mentions(pair[0], "reward")
            ):
                line = factor.lineno
                if line not in told:
                    told.add(line)
                    yield (
                        cell,
                        f"line {line} takes the ratio against the reference",
                        (
                            "Use the log-probabilities of the policy that sampled (`old_logps`); the"
                            " reference belongs in the KL term."
                        ),
                    )


def _k3(code: Code, node: ast.AST) -> tuple[ast.expr, ast.expr] | bool:
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
        if (
            len(others) == 1
            and others[0][0] == -1
            and called(logarithm := code.resolve(others[0][1])) == "log"
        ):
            if same(subject(logarithm), term):
                return _quotient(code, term) or True
        elif called(stands_for) == "exp" and subject(stands_for) is not None:
            exponent = subject(stands_for)
            linear = _minus(others)
            if any(
                same(one, other)
                for one in (exponent, code.resolve(exponent))
                for other in (linear, code.resolve(linear))
            ):
                return difference(code.resolve(_unclipped(exponent))) or True
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
        minuend, subtrahend = (next(term for s, term in terms if s == sign) for sign in (-1, 1))
        return ast.BinOp(minuend, ast.Sub(), subtrahend)
    return ast.Constant(None)


@rule(
    "M006",
    "warning",
    why=(
        "k3 = exp(log_r) - log_r - 1 is the estimator already; half of it is half the penalty that beta says."
        " (k2 has the factor one half.)"
    ),
    wrong="kl = 0.5 * (torch.exp(log_r) - log_r - 1)",
    right="kl = torch.exp(log_r) - log_r - 1",
)
def k3_halved(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    for cell, node in code.walk(ast.BinOp, ast.AugAssign):
        halved = _halved(node)
        if halved is not None and _is_k3(code, halved):
            yield cell, f"line {node.lineno} halves the k3 estimate", "Leave the factor out."


def _halved(node: ast.BinOp | ast.AugAssign) -> ast.expr | None:
    """x of `x / 2`, `0.5 * x`, `x * 0.5`, `x /= 2` and `x *= 0.5`."""
    left, right = (node.target, node.value) if isinstance(node, ast.AugAssign) else (node.left, node.right)
    if isinstance(node.op, ast.Div) and number(right) == 2:
        return left
    if isinstance(node.op, ast.Mult) and number(right) == 0.5:
        return left
    return right if isinstance(node.op, ast.Mult) and number(left) == 0.5 else None


def _is_k3(code: Code, node: ast.expr) -> bool:
    while called(node) in AVERAGES and subject(node) is not None:
        node = subject(node)
    return bool(_k3(code, code.resolve(node)))


@rule(
    "M007",
    "warning",
    why=(
        "Samples come from the policy, so k3 needs log_r = ref_logps - logps, and the exact KL weighs by the"
        " policy's probabilities. The other way round it is another quantity, with a huge variance."
    ),
    wrong="log_r = logps - ref_logps\nkl = torch.exp(log_r) - log_r - 1",
    right="log_r = ref_logps - logps\nkl = torch.exp(log_r) - log_r - 1",
)
def kl_reversed(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    advice = "Use log_r = ref_logps - logps, or the policy's probabilities times (logps - ref_logps)."
    for cell, node in code.walk(ast.BinOp):
        pair = _k3(code, node)
        if isinstance(pair, tuple) and is_reference(pair[1]) and not mentions(pair[0], REFERENCE):
            yield cell, f"line {node.lineno} has the KL the wrong way round", advice
        elif _weighs_by_the_reference(code, node):
            yield cell, f"line {node.lineno} computes KL(reference || policy)", advice
    for cell, call in code.calls("kl_div"):
        if len(call.args) >= 2 and is_reference(call.args[1]) and not mentions(call.args[0], REFERENCE):
            if mentions(call.args[0], POLICY):
                yield (
                    cell,
                    f"line {call.lineno}: `kl_div(policy, reference)` computes KL(reference || policy)",
                    "Swap the two: `F.kl_div(ref_logps, logps, log_target=True)`.",
                )
    for cell, node in code.walk(ast.Assign):
        pair = difference(_averaged(node.value))
        if pair and re.fullmatch(
            r"(approx_|per_token_|token_)?kl(_div|_loss|_penalty)?", plain_name(node.targets[0])
        ):
            backwards = (
                is_reference(pair[0]) and not mentions(pair[1], REFERENCE) and mentions(pair[1], POLICY)
            )
            if backwards and not _goes_on(code, plain_name(node.targets[0])):
                yield (
                    cell,
                    f"line {node.lineno} has the sign of the KL reversed",
                    "Use logps - ref_logps, or k3.",
                )


def _weighs_by_the_reference(code: Code, node: ast.BinOp) -> bool:
    """exp(ref) * (ref - policy)."""
    if not isinstance(node.op, ast.Mult):
        return False
    for weight, other in ((node.left, node.right), (node.right, node.left)):
        pair, weight = difference(other), code.resolve(weight)
        if pair and is_reference(pair[0]) and not mentions(pair[1], REFERENCE) and mentions(pair[1], POLICY):
            if is_reference(weight) and (
                called(weight) in ("exp", "softmax") or mentions(weight, r"prob(?!.*log)")
            ):
                return True
    return False


def _goes_on(code: Code, name: str) -> bool:
    """Whether a name is only a step on the way to a KL: its exp, its square, or minus it is used."""
    for _, node in code.walk(ast.Call):
        if called(node) in ("exp", "pow", "square", "abs", "expm1") and name in names(node):
            return True
    for _, node in code.walk(ast.BinOp):
        if isinstance(node.op, ast.Pow) and name in names(node.left):
            return True
    return any(
        isinstance(n.op, ast.USub) and plain_name(n.operand) == name for _, n in code.walk(ast.UnaryOp)
    )


def _averaged(node: ast.expr) -> ast.expr:
    """x of `x.mean()`, `x.sum(-1)`, `(x * mask).sum() / mask.sum()` and `masked_mean(x, mask)`."""
    for _ in range(6):
        if (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Div)
            and mentions(node.right, r"mask|len|count|^n_|num")
        ):
            node = node.left
        elif called(node) in AVERAGES and subject(node) is not None:
            node = subject(node)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and mentions(node.right, "mask"):
            node = node.left
        else:
            break
    return node


@rule(
    "M008",
    "warning",
    why="logps - ref_logps is k1: as a term of the loss its gradient has mean 0, so it holds nothing back.",
    wrong="loss = policy_loss + beta * (logps - ref_logps).mean()",
    right="loss = policy_loss + beta * (torch.exp(log_r) - log_r - 1).mean()",
)
def k1_as_a_loss(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    for cell, node in code.walk(ast.BinOp):
        if (
            not isinstance(node.op, ast.Mult)
            or isinstance(code.parent(node), ast.BinOp)
            and isinstance(code.parent(node).op, ast.Mult)
        ):
            continue
        factors = product(node)
        if not any(mentions(factor, COEFFICIENT) for factor in factors) or not _is_in_a_loss(code, node):
            continue
        for term in factors:
            for _ in range(3):
                term = _averaged(code.resolve(term))
            pair = difference(term)
            if (
                pair
                and is_reference(pair[1])
                and mentions(pair[0], POLICY)
                and not mentions(pair[0], REFERENCE)
            ):
                yield (
                    cell,
                    f"line {node.lineno} uses logps - ref_logps as the KL term of a loss",
                    "Use k3, or subtract it from the reward instead.",
                )
                break


def _is_in_a_loss(code: Code, node: ast.AST) -> bool:
    """Whether an expression is added to what is called a loss, or returned by a function called one."""
    for parent in code.parents(node):
        if isinstance(parent, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            return any(
                mentions(target, "loss|objective") and not mentions(target, "reward") for target in targets
            )
        if isinstance(parent, ast.Return):
            function = code.scope(parent)
            return "loss" in getattr(function, "name", "") or "objective" in getattr(function, "name", "")
        if isinstance(parent, (ast.stmt, *FUNCTIONS)) or (
            isinstance(parent, ast.Call) and called(parent) not in AVERAGES
        ):
            return False
    return False


NOT_POLICY = r"\w*(kl|value|critic|vf|vloss|entropy|beta|coef|coeff|reward|rewards|advantages?|adv)\w*"
NEUTRAL = {
    *("mean", "sum", "torch", "item", "self", "float", "tensor", "stack", "requires_grad", "requires_grad_"),
    *("to", "device", "config", "cfg", "args", "mask", "masked_mean", "backward", "abs", "log", "size"),
    "completion_mask",
}


@rule(
    "M017",
    "warning",
    why=(
        "A loss made of rewards, KL or values alone has no path from the reward to the weights: nothing pulls"
        " the policy towards what was rewarded."
    ),
    wrong="loss = value_loss + beta * kl.mean()\nloss.backward()",
    right="loss = policy_loss + value_loss + beta * kl.mean()\nloss.backward()",
)
def no_policy_gradient(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    stepped = {plain_name(subject(call)) for _, call in code.calls("backward") if subject(call) is not None}
    stepped |= {plain_name(call.args[0]) for _, call in code.calls("backward") if call.args}
    for (_, name), group in code.bindings.items():
        if name not in stepped - {""} or any(not b.plain or name in names(b.value) for b in group):
            continue
        for binding in group:
            used = _made_of(code, binding.value)
            without_policy = used and all(re.fullmatch(NOT_POLICY, n, re.IGNORECASE) for n in used)
            if without_policy and any(re.search(r"kl|reward|adv", n, re.IGNORECASE) for n in used):
                tree, line = code.place(binding.statement)
                yield (
                    code.trees[tree].cell,
                    f"line {line}: the loss has no policy-gradient term",
                    "Add the surrogate: minus advantage times ratio (or log-probability).",
                )


def _made_of(code: Code, value: ast.expr) -> set[str]:
    """The names in an expression, those of losses followed to what they are made of."""
    used: set[str] = set()
    for node in ast.walk(value):
        if isinstance(node, ast.Attribute):
            used.add(node.attr)
        elif isinstance(node, ast.Name):
            stands_for = code.resolve(node)
            hides_policy = not re.search(r"kl|value|entropy", node.id) and mentions(
                stands_for, POLICY + "|ratio"
            )
            used |= names(stands_for) if hides_policy else {node.id}
    return used - NEUTRAL


RULES = [
    adapter_not_disabled,
    ratio_against_the_reference,
    k3_halved,
    kl_reversed,
    k1_as_a_loss,
    no_policy_gradient,
]
