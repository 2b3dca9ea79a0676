"""Mistakes in the objective: what the ratio is taken against, what the loss is made of."""

import ast
import re
from collections.abc import Iterator

from checker.reading.syntax.code import Code
from checker.reading.syntax.expressions import called, mentions, names, plain_name, product, subject
from checker.rules.base import Remark, Submission, rule
from checker.rules.method.formulas import quotient, unclipped
from checker.rules.method.vocabulary import ADVANTAGE, MODEL, POLICY, REFERENCE, is_reference

NOT_POLICY = r"\w*(kl|value|critic|vf|vloss|entropy|beta|coef|coeff|reward|rewards|advantages?|adv)\w*"
CRITIC = r"value|critic|(^|_)(vf|v|q)(_|$)"
BARE_BASE = r"^(base|init(ial)?+)_?+(?!model|policy|lm|llm|net)"
DRAWN = ("sample", "multinomial", "argmax", "one_hot", "generate", "item")  # nothing is learned through their results
FAR = 3  # steps from a loss to what it is made of
NEUTRAL = {
    *("mean", "sum", "torch", "item", "self", "float", "tensor", "stack", "requires_grad_"),
    *("to", "device", "config", "cfg", "args", "mask", "masked_mean", "abs", "log", "size"),
    "completion_mask",
}


@rule(
    "M005",
    "question",
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
            factor = code.resolve(unclipped(factor))
            pair = quotient(code, factor)
            if pair and _is_of_the_reference(pair[1]) and not mentions(pair[0], REFERENCE + "|reward"):
                line = factor.lineno
                if line not in told:
                    told.add(line)
                    yield (
                        cell,
                        f"line {line}: is this ratio against the reference, not against the policy that sampled?",
                        "Against the reference it leaves the clipping range for good; the sampler's are `old_logps`.",
                    )


def _is_of_the_reference(node: ast.expr) -> bool:
    """True if it is of the reference. `base_probs` alone may as well be of the policy that sampled."""
    is_named = any(re.search(REFERENCE, name, re.I) and not re.search(BARE_BASE, name, re.I) for name in names(node))
    return is_reference(node) and is_named


@rule(
    "M017",
    "question",
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
        if re.search(CRITIC, name, re.IGNORECASE) and len(stepped - {""}) > 1:
            continue  # it learns by a loss of its own, the policy by another
        for binding in group:
            used = _made_of(code, binding.value)
            if any(_may_hold_the_policy(code, part) for part in ast.walk(binding.value)):
                continue
            if mentions(binding.value, "surr"):
                continue
            without_policy = used and all(re.fullmatch(NOT_POLICY, n, re.IGNORECASE) for n in used)
            if without_policy and any(re.search(r"kl|reward|adv", n, re.IGNORECASE) for n in used):
                tree, line = code.place(binding.statement)
                yield (
                    code.trees[tree].cell,
                    f"line {line}: where is the policy gradient in this loss?",
                    "Rewards, KL or values alone pull nothing; minus advantage times ratio (or log-probability) does.",
                )


def _may_hold_the_policy(code: Code, node: ast.AST) -> bool:
    """True if a name that says reward or advantage is made of log-probabilities, or of what cannot be seen.

    A loss called `reward_loss` or `advantage_term` is often the surrogate.
    """
    name = plain_name(node)
    if not re.search(r"reward|adv", name, re.IGNORECASE):
        return False
    bindings = code.visible(node)
    if re.search(r"loss|term|obj", name, re.IGNORECASE) and not any(b.plain for b in bindings):
        return True
    return any(_reaches_the_policy(code, b.value, FAR) for b in bindings)


def _reaches_the_policy(code: Code, value: ast.expr, far: int) -> bool:
    """True if log-probabilities or a ratio are in an expression, or in what its names stand for."""
    if mentions(value, POLICY + r"|ratio|loss"):
        return True
    if any(called(part) in DRAWN for part in ast.walk(value)):
        return False
    if any(_is_forward(part) for part in ast.walk(value)):
        return True
    parts = [(part, code.resolve(part)) for part in ast.walk(value) if isinstance(part, ast.Name)] if far else []
    return any(made_of is not part and _reaches_the_policy(code, made_of, far - 1) for part, made_of in parts)


def _is_forward(node: ast.AST) -> bool:
    """`model(state)`: what a reward is made of it has a path to the weights."""
    name = plain_name(node.func) if isinstance(node, ast.Call) else ""
    return bool(re.search(MODEL, name, re.IGNORECASE)) and not re.search(NOT_POLICY, name, re.IGNORECASE)


def _made_of(code: Code, value: ast.expr) -> set[str]:
    """The names in an expression, those of losses followed to what they are made of."""
    used: set[str] = set()
    for node in ast.walk(value):
        if isinstance(node, ast.Attribute):
            used.add(node.attr)
        elif isinstance(node, ast.Name):
            stands_for = code.resolve(node)
            hides_policy = not re.search(r"kl|value|entropy", node.id) and mentions(stands_for, POLICY + "|ratio")
            used |= names(stands_for) if hides_policy else {node.id}
    return used - NEUTRAL


RULES = [
    ratio_against_the_reference,
    no_policy_gradient,
]
