"""Executing what a model says."""

import ast
import re
from collections.abc import Iterator

from checker.reading.syntax.bindings import Binding
from checker.reading.syntax.code import Code
from checker.reading.syntax.expressions import called, names, parameters, plain_name
from checker.reading.syntax.flow import Flow
from checker.rules.base import Remark, Submission, rule
from checker.rules.method.vocabulary import is_generation

SAID = r"completion|response|output|generat|pred|answer|decoded|text|reply|(^|_)(gen|out|resp)(_|$)"
WRITTEN = r"^(code|program|solution|script)(_\w+)?$|_(code|program|solution|script)$"
OF_THE_TASK = r"^(prompts?|questions?|schema|setup|tests?|test_\w+|assert\w*|examples?|targets?|ground_truth|gold\w*)$"
JUDGES = r"reward|score|verif|check|grade|extract|parse|evaluate"

UNTRUSTED = "It would run, with your files and your network; a small parser gives 0 to what does not parse."
ENDLESS = "Digits and operators are enough for 9**9**9, which takes all time and memory; a small parser has a limit."
OF_NUMBERS = re.compile(r"\^?\[[\\dsw0-9+\-*/()., ]+\][+*]?\$?")  # a pattern that lets these characters through


@rule(
    "M013",
    "question",
    why="The model's text is untrusted. `eval` runs what it says: files, the network, or 9**9**9, which has no end.",
    wrong="value = eval(completion)",
    right="value = parse_expression(completion)  # a small parser, see shared/tasks/arithmetic.py",
)
def model_output_executed(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    said = Flow(
        code,
        lambda node: isinstance(node, (ast.Name, ast.Attribute)) and any(re.search(SAID, n, re.I) for n in _own(node)),
        lambda node: called(node) in ("literal_eval", "len", "float", "int"),
    )
    for cell, call in code.walk(ast.Call):
        if plain_name(call.func) not in ("eval", "exec") or plain_name(call.func) in code.functions:
            continue  # what is no built-in, `def eval(loader, model)` for instance, executes nothing
        if not call.args or isinstance(call.args[0], ast.Constant):
            continue
        function = code.within(call, ast.FunctionDef)
        judges = re.search(JUDGES, getattr(function, "name", ""), re.IGNORECASE)
        if (judges and not _is_of_the_task(code, call.args[0])) or said(call.args[0]) or _is_a_program(code, call):
            reason = ENDLESS if _lets_only_numbers_through(code, call) else UNTRUSTED
            yield cell, f"line {call.lineno}: can what the model says reach this `{call.func.id}`?", reason


def _lets_only_numbers_through(code: Code, call: ast.Call) -> bool:
    """True if the function around, or the cell, looks at the text by a pattern of digits and operators."""
    holder = code.scope(call) or code.trees[code.place(call).tree].module
    written = (part.value for part in code.inside(holder) if isinstance(part, ast.Constant))
    return any(isinstance(text, str) and OF_NUMBERS.fullmatch(text) for text in written)


def _is_of_the_task(code: Code, node: ast.expr) -> bool:
    """True if the code that is executed comes with the task: a part of the prompt, one of its tests."""
    known = {name for part in code.inside(node) for binding in _bindings(code, part) for name in names(binding.value)}
    return any(re.search(OF_THE_TASK, name, re.IGNORECASE) for name in names(node) | known)


def _bindings(code: Code, node: ast.AST) -> list[Binding]:
    return code.visible(node) if isinstance(node, ast.Name) else []


def _is_a_program(code: Code, call: ast.Call) -> bool:
    """`exec(code)` of a parameter, where a model generates."""
    own = parameters(code.within(call, ast.FunctionDef))
    is_one = plain_name(call.args[0]) in own and re.search(WRITTEN, plain_name(call.args[0]), re.IGNORECASE)
    return bool(is_one) and any(is_generation(made) for _, made in code.calls("generate"))


def _own(node: ast.Name | ast.Attribute) -> tuple[str, ...]:
    return (node.id,) if isinstance(node, ast.Name) else (node.attr,)


RULES = [model_output_executed]
