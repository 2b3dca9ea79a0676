"""Executing what a model says."""

import ast
import re
from collections.abc import Iterator

from checker.rules.base import Remark, Submission, rule
from checker.rules.syntax.expressions import called, plain_name

SAID = r"completion|response|output|generat|pred|answer|decoded|text|reply|(^|_)(gen|out|resp)(_|$)"
JUDGES = r"reward|score|verif|check|grade|extract|parse|evaluate"


@rule(
    "M013",
    "warning",
    why="The model's text is untrusted. `eval` runs whatever it says: files, the network, an endless loop.",
    wrong="value = eval(completion)",
    right="value = parse_expression(completion)  # a small parser, see shared/tasks/arithmetic.py",
)
def model_output_executed(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    said = code.flow(
        lambda node: isinstance(node, (ast.Name, ast.Attribute)) and any(re.search(SAID, n, re.I) for n in _own(node)),
        lambda node: called(node) in ("literal_eval", "len", "float", "int"),
    )
    for cell, call in code.walk(ast.Call):
        if plain_name(call.func) not in ("eval", "exec") or not call.args or isinstance(call.args[0], ast.Constant):
            continue
        function = code.within(call, ast.FunctionDef)
        if said(call.args[0]) or re.search(JUDGES, getattr(function, "name", ""), re.IGNORECASE):
            yield (
                cell,
                f"line {call.lineno} calls `{call.func.id}` on what the model said",
                "Parse it instead, and give 0 to what does not parse.",
            )


def _own(node: ast.Name | ast.Attribute) -> tuple[str, ...]:
    return (node.id,) if isinstance(node, ast.Name) else (node.attr,)


RULES = [model_output_executed]
