"""Sampling with dropout off, scoring with dropout on."""

import ast
import re
from collections.abc import Iterator

from checker.reading.syntax.code import Code
from checker.reading.syntax.expressions import called, mentions, number
from checker.rules.base import Remark, Submission, rule
from checker.rules.method.vocabulary import MODEL, SCORES, is_generation


@rule(
    "M016",
    "question",
    why=(
        "With dropout on, the same tokens get other probabilities each time: sampling with `eval()` and"
        " scoring with `train()` makes a ratio that is not 1 before the first update."
    ),
    wrong=("model.eval(); out = model.generate(**inputs)\nmodel.train(); logps = model(out).logits.log_softmax(-1)"),
    right=(
        "model.eval(); out = model.generate(**inputs)\n"
        "logps = model(out).logits.log_softmax(-1)  # gradients need no train()"
    ),
)
def dropout_in_one_pass(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    switches = any(_mode(call) == "train" for _, call in code.calls("train"))
    if (
        not switches
        or _distils(code)
        or _has_no_dropout(code)
        or not any(is_generation(call) for _, call in code.calls("generate"))
    ):
        return
    told = set()
    for tree in code.trees:
        scopes = [
            tree.module,
            *(node for node in code.inside(tree.module) if isinstance(node, ast.FunctionDef)),
        ]
        for scope in scopes:
            sampled_in = None
            mode = None
            switched = None
            # Only a switch between sampling and scoring lets the two disagree, so the order of the source counts.
            for event, node in _events(code, scope, depth=2):
                if event in ("eval", "train"):
                    mode = event
                    switched = node
                elif event == "sample":
                    sampled_in = mode
                elif event == "score" and sampled_in == "eval" and mode == "train" and switched not in told:
                    told.add(switched)
                    place, _ = code.place(switched)
                    yield (
                        code.trees[place].cell,
                        f"line {switched.lineno}: is dropout off while sampling, and on again while scoring?",
                        "Then the ratio is not 1 before the first update; gradients need no `train()`.",
                    )


def _distils(code: Code) -> bool:
    """True if a student learns from a teacher's distribution: no ratio is taken there, and dropout does no harm."""
    named = {name for _, name in code.bindings} | set(code.functions)
    return any(re.search("teacher", name, re.IGNORECASE) for name in named)


# Families whose published configurations have every dropout at 0.
WITHOUT_DROPOUT = re.compile(r"qwen|llama|mistral|gemma|smollm|deepseek|olmo|phi-?[34]|pythia|course-lm", re.IGNORECASE)


def _has_no_dropout(code: Code) -> bool:
    """True if the notebook itself sets every dropout it mentions to 0, or mentions none and names a model without."""
    rates = [
        k.value
        for _, call in code.walk(ast.Call)
        for k in call.keywords
        if k.arg and ("dropout" in k.arg or "pdrop" in k.arg)
    ]
    if rates or any(True for _ in code.calls("Dropout", "dropout")):
        return bool(rates) and all(number(rate) == 0 for rate in rates)
    return any(isinstance(n.value, str) and WITHOUT_DROPOUT.search(n.value) for _, n in code.walk(ast.Constant))


def _events(code: Code, scope: ast.AST, depth: int) -> Iterator[tuple[str, ast.AST]]:
    """Switches of mode, sampling and scoring, in source order; the notebook's own functions followed."""
    own = [node for statement in getattr(scope, "body", []) for node in _outside_functions(statement)]
    calls = [node for node in own if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda node: (node.end_lineno, node.end_col_offset)):
        name = called(call)
        function = code.procedure(call)
        if mode := _mode(call):
            yield mode, call
        elif is_generation(call):
            yield "sample", call
        elif name in SCORES and code.within(call, ast.With) is None:
            yield "score", call
        elif function is not None and depth and function is not scope:
            yield from _events(code, function, depth - 1)


def _mode(call: ast.Call) -> str:
    """ "train" or "eval" for a call that puts the policy into that mode, else ""."""
    if (
        called(call) not in ("eval", "train")
        or not isinstance(call.func, ast.Attribute)
        or not _is_policy(call.func.value)
    ):
        return ""
    return "eval" if call.args and getattr(call.args[0], "value", True) is False else called(call)


def _outside_functions(statement: ast.AST) -> Iterator[ast.AST]:
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return
    yield statement
    for child in ast.iter_child_nodes(statement):
        yield from _outside_functions(child)


def _is_policy(node: ast.expr) -> bool:
    return mentions(node, MODEL) and not mentions(node, r"(^|_)(ref(erence)?|reward|value|critic|old|base)(_|$)")


RULES = [dropout_in_one_pass]
