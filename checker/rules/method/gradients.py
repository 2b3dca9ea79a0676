"""A test for code in which gradients are off."""

import ast

from checker.reading.syntax.code import Code
from checker.reading.syntax.expressions import called, mentions

QUIET = r"^(no_grad|inference_mode)$"


def is_quiet(code: Code, node: ast.AST) -> bool:
    """True if gradients are off at a node: by a `with` around it, or a decorator of its function."""
    for parent in code.parents(node):
        heads = [item.context_expr for item in parent.items] if isinstance(parent, ast.With) else []
        heads += parent.decorator_list if isinstance(parent, ast.FunctionDef) else []
        if any(mentions(head, QUIET) or (called(head) == "set_grad_enabled" and not is_true(head)) for head in heads):
            return True
    return any(called(part) == "detach" for part in code.inside(node))


def is_true(call: ast.Call) -> bool:
    return bool(call.args) and getattr(call.args[0], "value", True) is True
