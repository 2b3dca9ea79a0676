"""Mistakes by which completions are sampled from one distribution and scored under another."""

import ast
import re
from collections.abc import Iterator

from checker.rules.base import Remark, Submission, rule
from checker.rules.method.vocabulary import MODEL, SCORES, is_generation
from checker.rules.syntax.code import Code
from checker.rules.syntax.expressions import called, keyword, mentions, number, operands, plain_name

SCORER = r"log_?p(rob)?s?(_|$)|log_?probs?|sequence_logp|token_logp|logprobs"
NO_CHANGE = (None, 0, 1, 1.0)  # settings that leave the distribution as it is


@rule(
    "M015",
    "warning",
    why=(
        "Tokens are drawn from one distribution (tempered, or cut to the top k) and scored under another: the"
        " ratio is not 1 before the first update, and the gradient is that of neither."
    ),
    wrong="model.generate(**inputs, do_sample=True, temperature=0.7)\nlogps = logits.log_softmax(-1)",
    right="model.generate(**inputs, do_sample=True, temperature=0.7)\nlogps = (logits / 0.7).log_softmax(-1)",
)
def sampled_and_scored_differently(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    if not any(True for _ in code.calls(*SCORES)):
        return
    tempered = _scores_tempered(code)
    cut = any(True for _ in code.calls("topk", "kthvalue", "sort", "nucleus"))
    elsewhere = {cell.number for section in (2, 3, 7, 8) for cell in submission.sections.get(section, [])}
    for cell, node, temperature in _tempered(code):
        if not tempered and number(temperature) not in NO_CHANGE and not _is_evaluation(code, node):
            yield cell, *_other_temperature(node, number(temperature))
    for cell, call in code.calls("generate", "GenerationConfig"):
        if cell in elsewhere or not _samples(call) or _is_evaluation(code, call):
            continue
        temperature = _setting(code, call, "temperature")
        if temperature not in NO_CHANGE and not tempered:
            yield cell, *_other_temperature(call, temperature)
        kept = [
            f"{name}={value}" for name in ("top_k", "top_p") if (value := _setting(code, call, name)) not in NO_CHANGE
        ]
        if kept and not cut:
            yield (
                cell,
                (
                    f"line {call.lineno} samples with {' and '.join(kept)}, and the log-probabilities are"
                    " over all tokens"
                ),
                "While training, sample from the whole distribution: `top_k=0, top_p=1.0`.",
            )


def _other_temperature(node: ast.AST, temperature: float) -> tuple[str, str]:
    return (
        (f"line {node.lineno} samples at temperature {temperature}, and the log-probabilities are computed at 1"),
        "Divide the logits by the temperature before `log_softmax`.",
    )


def _setting(code: Code, call: ast.Call, name: str) -> float | None:
    value = keyword(call, name)
    return None if value is None else number(code.resolve(value))


def _samples(call: ast.Call) -> bool:
    do_sample = keyword(call, "do_sample")
    return getattr(do_sample, "value", True) is not False


def _is_evaluation(code: Code, node: ast.AST) -> bool:
    """Whether a node stands in what is called an evaluation or a demonstration, or its result is."""
    statement = code.within(node, ast.Assign, ast.FunctionDef)
    holders = [getattr(code.scope(node), "name", "")]
    if isinstance(statement, ast.Assign):
        holders += [plain_name(target) for target in statement.targets]
    return any(re.search(r"eval|test|demo|show|chat|baseline|compare|infer", name) for name in holders)


def _tempered(code: Code) -> Iterator[tuple[int, ast.AST, ast.expr]]:
    """(cell, node, temperature) of every division of logits."""
    for cell, node in code.walk(ast.BinOp, ast.AugAssign):
        left, right = operands(node)
        if isinstance(node.op, ast.Div) and mentions(left, r"logits?|scores|outputs?$"):
            if mentions(right, r"temp|tau|^T$") or number(code.resolve(right)) is not None:
                yield cell, node, code.resolve(right)
    for cell, call in code.calls("div", "div_"):
        if mentions(call.func, "logit") and call.args:
            yield cell, call, code.resolve(call.args[0])


def _only_samples(code: Code, node: ast.AST) -> bool:
    """Whether the function around a node draws tokens and scores none."""
    scope = code.scope(node)
    inside = {called(part) for part in code.inside(scope)} if scope is not None else set()
    return bool(inside & {"multinomial", "Categorical"}) and not inside & set(SCORES)


def _scores_tempered(code: Code) -> bool:
    """Whether logits are divided by a temperature where they are scored, or scoring is told a temperature."""
    return any(not _only_samples(code, node) for _, node, _ in _tempered(code)) or any(
        re.search(SCORER, called(call), re.I)
        and (keyword(call, "temperature") or any(mentions(a, "temp") for a in call.args))
        for _, call in code.walk(ast.Call)
    )


@rule(
    "M016",
    "note",
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
    if not switches or _has_no_dropout(code) or not any(is_generation(call) for _, call in code.calls("generate")):
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
                        f"line {switched.lineno} switches to `train()` between sampling and scoring",
                        "Leave the model in `eval()` for both, so that dropout is off.",
                    )


def _has_no_dropout(code: Code) -> bool:
    """Whether the notebook itself sets every dropout it mentions to 0."""
    rates = [
        k.value
        for _, call in code.walk(ast.Call)
        for k in call.keywords
        if k.arg and ("dropout" in k.arg or "pdrop" in k.arg)
    ]
    return bool(rates) and all(number(rate) == 0 for rate in rates)


def _events(code: Code, scope: ast.AST, depth: int) -> Iterator[tuple[str, ast.AST]]:
    """Switches of mode, sampling and scoring, in source order; the notebook's own functions followed."""
    own = [node for statement in getattr(scope, "body", []) for node in _outside_functions(statement)]
    calls = [node for node in own if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda node: (node.end_lineno, node.end_col_offset)):
        name = called(call)
        function = code.functions.get(plain_name(call.func))
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


RULES = [
    sampled_and_scored_differently,
    dropout_in_one_pass,
]
