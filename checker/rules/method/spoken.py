"""Words of an environment in the loss, as if the policy had said them."""

import ast
import re
from collections.abc import Iterator

from checker.reading.syntax.code import Code
from checker.reading.syntax.expressions import called, keyword, mentions
from checker.rules.base import Remark, Submission, rule

OF_COMPLETION = r"^(completion|response|generation)s?_mask$"
OF_POLICY = r"(^|_)(policy|loss|env|environment|tool|action|assistant|own|spoken|heard)_?(masks?|tokens?)(_|$)"
AVERAGES = r"loss|masked_(mean|sum)|aggregate"


@rule(
    "M023",
    "question",
    why=(
        "An environment's words stand in the completion, and the policy did not draw them. In the loss a reward raises"
        " their probability too: the policy learns to say what it wants to hear."
    ),
    wrong=(
        "rollout = sample(model, tokenizer, prompts, 8, environment_factory=Game, rows=rows)\n"
        "loss = masked_mean(-advantages[:, None] * logps, rollout.completion_mask)"
    ),
    right=(
        "rollout = sample(model, tokenizer, prompts, 8, environment_factory=Game, rows=rows)\n"
        "loss = masked_mean(-advantages[:, None] * logps, rollout.loss_mask)"
    ),
)
def environment_in_the_loss(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    if not _has_an_environment(code) or _knows_a_mask_of_the_policy(code):
        return
    for cell, node in code.walk(ast.Assign, ast.Return, ast.Call):
        if _is_a_loss(code, node) and _reads_the_completions_mask(code, node):
            yield (
                cell,
                f"line {node.lineno}: are the environment's words in this loss?",
                "The completion's mask counts them; `loss_mask` (or `policy_mask`) is 1 for the policy's own tokens alone.",
            )
            return


def _has_an_environment(code: Code) -> bool:
    """True if a call is handed something that writes into completions."""
    for _, call in code.walk(ast.Call):
        given = keyword(call, "environment", "environment_factory")
        if given is not None and not isinstance(given, ast.Constant):
            return True
    return False


def _knows_a_mask_of_the_policy(code: Code) -> bool:
    """True if some name in the code speaks of the policy's own tokens: then what is masked where is not guessed."""
    return any(mentions(node, OF_POLICY) for _, node in code.walk(ast.Name, ast.Attribute, ast.Subscript)) or any(
        re.search(OF_POLICY, k.arg or "") for _, k in code.walk(ast.keyword)
    )


def _reads_the_completions_mask(code: Code, node: ast.AST) -> bool:
    """True if the completion's mask stands here, by its own name or by one that was given to it before."""
    if mentions(node, OF_COMPLETION):
        return True
    given = [code.resolve(part) for part in code.inside(node) if isinstance(part, ast.Name)]
    return any(isinstance(value, ast.Attribute | ast.Name) and mentions(value, OF_COMPLETION) for value in given)


def _is_a_loss(code: Code, node: ast.AST) -> bool:
    """`loss = ...`, `return ...` in a function that is called a loss, or the call of something that averages."""
    if isinstance(node, ast.Call):
        return re.search(AVERAGES, called(node)) is not None
    if isinstance(node, ast.Return):
        return "loss" in code.scope(node).name
    return any(mentions(target, r"(^|_)loss(es)?(_|$)") for target in node.targets)


RULES = [
    environment_in_the_loss,
]
