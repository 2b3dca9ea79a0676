"""Mistakes in the KL: its direction, its sign, its gradient."""

import ast
import re
from collections.abc import Iterator

from checker.reading.syntax.code import Code
from checker.reading.syntax.expressions import (
    FUNCTIONS,
    called,
    difference,
    mentions,
    names,
    number,
    operands,
    plain_name,
    product,
    subject,
)
from checker.rules.base import Remark, Submission, rule
from checker.rules.method.formulas import AVERAGES, averaged, k3
from checker.rules.method.losses import has_minus, is_gain
from checker.rules.method.vocabulary import MODEL, POLICY, REFERENCE, is_reference

KL = r"(^|_)kls?(_|$)|^approx_kl|^k[123]$"
COEFFICIENT = r"beta|kl_?(coef|weight|lambda|penalty_coe)|lambda_?kl|kl_?c"


@rule(
    "M007",
    "question",
    why=(
        "Samples come from the policy, so k3 needs log_r = ref_logps - logps, and the exact KL weighs by the"
        " policy's probabilities. The other way round it is another quantity, with a huge variance."
    ),
    wrong="log_r = logps - ref_logps\nkl = torch.exp(log_r) - log_r - 1",
    right="log_r = ref_logps - logps\nkl = torch.exp(log_r) - log_r - 1",
)
def kl_reversed(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    reason = "It takes log_r = ref_logps - logps, or the policy's probabilities times (logps - ref_logps)."
    for cell, node in code.walk(ast.BinOp):
        found = k3(code, node)
        pair = found.log_r if found else None
        if pair and is_reference(pair[1]) and not mentions(pair[0], REFERENCE):
            yield cell, f"line {node.lineno}: is the KL the right way round?", reason
        elif _weighs_by_the_reference(code, node):
            yield cell, f"line {node.lineno}: is KL(reference || policy) the one that you want?", reason
    for cell, call in code.calls("kl_div"):
        if len(call.args) >= 2 and is_reference(call.args[1]) and not mentions(call.args[0], REFERENCE):
            if mentions(call.args[0], f"{POLICY}|{MODEL}|logits|probs?$"):
                yield (
                    cell,
                    f"line {call.lineno}: is KL(reference || policy) wanted, which `kl_div(policy, reference)` computes?",
                    "The penalty of GRPO is KL(policy || reference): `F.kl_div(ref_logps, logps, log_target=True)`.",
                )
    for cell, node in code.walk(ast.Assign):
        pair = difference(averaged(node.value))
        if pair and re.fullmatch(r"(approx_|per_token_|token_)?kl(_div|_loss|_penalty)?", plain_name(node.targets[0])):
            # ref_logps - logps is right on the way to k3, where only the name calls it a KL.
            backwards = is_reference(pair[0]) and not mentions(pair[1], REFERENCE) and mentions(pair[1], POLICY)
            if backwards and not _goes_on(code, plain_name(node.targets[0])):
                yield (
                    cell,
                    f"line {node.lineno}: is the sign of this KL as you want it?",
                    "Its estimate is logps - ref_logps, or k3; the other sign pays for leaving the reference.",
                )

    for cell, node in code.walk(ast.BinOp, ast.AugAssign):
        if isinstance(node.op, ast.Sub) and _takes_a_penalty_from_a_loss(code, node) or _adds_it_to_a_gain(code, node):
            yield (
                cell,
                f"line {node.lineno}: is the KL to be taken from the loss?",
                "A loss is made small, so this pays for leaving the reference: `loss = policy_loss + beta * kl`, kl"
                " being k3 of ref_logps - logps.",
            )


def _is_penalty(node: ast.expr) -> bool:
    """`beta * kl`, and `0.04 * kl`."""
    factors = product(node)
    weighted = any(mentions(factor, COEFFICIENT) or (number(factor) or 0) > 0 for factor in factors)
    return weighted and any(mentions(averaged(factor), KL) for factor in factors)


def _takes_a_penalty_from_a_loss(code: Code, node: ast.BinOp | ast.AugAssign) -> bool:
    """`loss = policy_loss - beta * kl` and `loss -= beta * kl`, where no minus stands before all of it."""
    left, right = operands(node)
    if not _is_penalty(right) or _is_behind_a_minus(code, node):
        return False
    statement = node if isinstance(node, ast.AugAssign) else code.within(node, ast.Assign)
    targets = getattr(statement, "targets", [getattr(statement, "target", None)])
    if not any(target is not None and mentions(target, r"(^|_)loss(_|$)") for target in targets):
        return False
    made = code.resolve(left)
    return any(isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub) for part in (left, made)) or mentions(
        left, r"(^|_)loss(_|$)"
    )


def _adds_it_to_a_gain(code: Code, node: ast.BinOp | ast.AugAssign) -> bool:
    """`-(ratio * advantages + beta * kl)`, and the same with a name in between: `loss = -objective.mean()`."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add) or not _is_penalty(node.right):
        return False
    if not is_gain(code, node.left) or has_minus(code, node.left):
        return False
    statement = code.within(node, ast.Assign)
    name = plain_name(statement.targets[0]) if statement else ""
    turned = {name for _, n in code.walk(ast.UnaryOp) if isinstance(n.op, ast.USub) for name in names(n.operand)}
    return _is_behind_a_minus(code, node) or bool(name) and name in turned


def _is_behind_a_minus(code: Code, node: ast.AST) -> bool:
    return any(isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.USub) for parent in code.parents(node))


def _weighs_by_the_reference(code: Code, node: ast.BinOp) -> bool:
    """exp(ref) * (ref - policy)."""
    if not isinstance(node.op, ast.Mult):
        return False
    for weight, other in ((node.left, node.right), (node.right, node.left)):
        pair = difference(other)
        weight = code.resolve(weight)
        if pair and is_reference(pair[0]) and not mentions(pair[1], REFERENCE) and mentions(pair[1], POLICY):
            if is_reference(weight) and (called(weight) in ("exp", "softmax") or mentions(weight, r"prob(?!.*log)")):
                return True
    return False


def _goes_on(code: Code, name: str) -> bool:
    """True if a name is only a step on the way to a KL: the code uses its exp, its square, or minus it."""
    for _, node in code.walk(ast.Call):
        if called(node) in ("exp", "pow", "square", "abs", "expm1") and name in names(node):
            return True
    for _, node in code.walk(ast.BinOp):
        if isinstance(node.op, ast.Pow) and name in names(node.left):
            return True
    return any(isinstance(n.op, ast.USub) and plain_name(n.operand) == name for _, n in code.walk(ast.UnaryOp))


@rule(
    "M008",
    "question",
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
        for term in [part for factor in factors for part in (factor, *_added_to(code, factor))]:
            pair = difference(_collected(code, term))
            if pair and is_reference(pair[1]) and mentions(pair[0], POLICY) and not mentions(pair[0], REFERENCE):
                yield (
                    cell,
                    f"line {node.lineno}: is logps - ref_logps meant to hold the policy back, as a term of the loss?",
                    "There its gradient has mean 0; k3 in the loss, or k1 subtracted from the reward, does hold it.",
                )
                break


def _collected(code: Code, node: ast.expr) -> ast.expr:
    """The values that an average is of: x of `torch.stack(xs).mean()` with `xs.append(x)` in a loop."""
    for _ in range(6):
        node = averaged(code.resolve(node))
        if called(node) in ("stack", "cat", "tensor") and subject(node) is not None:
            node = subject(node)
        added = [b.value for b in code.visible(node) if called(b.statement)] if isinstance(node, ast.Name) else []
        if len(added) == 1:
            node = added[0]
    return node


def _added_to(code: Code, factor: ast.expr) -> list[ast.expr]:
    """The values that a loop adds to a name: x of `kl += x`."""
    if not isinstance(factor, ast.Name):
        return []
    bindings = (binding.statement for binding in code.visible(factor))
    return [node.value for node in bindings if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add)]


def _is_in_a_loss(code: Code, node: ast.AST) -> bool:
    """True if an expression is added to what is called a loss, or returned by a function called one."""
    for parent in code.parents(node):
        if isinstance(parent, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            is_one = any(mentions(target, "loss|objective") and not mentions(target, "reward") for target in targets)
            return is_one or any(_is_term_of_a_loss(code, target) for target in targets)
        if isinstance(parent, ast.Return):
            return re.search("loss|objective", code.scope(parent).name) is not None
        if isinstance(parent, (ast.stmt, *FUNCTIONS)) or (
            isinstance(parent, ast.Call) and called(parent) not in AVERAGES
        ):
            return False
    return False


def _is_term_of_a_loss(code: Code, target: ast.expr) -> bool:
    """True if a name, `kl_penalty` for instance, is added in the expression that a loss is bound to."""
    name = plain_name(target)
    if not re.search("kl", name, re.IGNORECASE):
        return False
    losses = (b for (scope, known), group in code.bindings.items() if re.search("loss|objective", known) for b in group)
    return any(code.scope(loss.statement) is code.scope(target) and name in names(loss.value) for loss in losses)


RULES = [
    kl_reversed,
    k1_as_a_loss,
]
