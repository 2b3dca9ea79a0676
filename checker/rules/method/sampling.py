"""Mistakes in how completions are sampled and then scored."""

import ast
import re
from collections.abc import Iterator

from checker.rules.base import Remark, Submission, rule
from checker.rules.method.vocabulary import GROUP_SIZE, MODEL, is_generation
from checker.rules.syntax import LOOPS, Code, called, keyword, mentions, names, number, plain_name

SCORES = ("log_softmax", "cross_entropy", "logsumexp", "selective_log_softmax")
SCORER = r"log_?p(rob)?s?(_|$)|log_?probs?|sequence_logp|token_logp|logprobs"


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
    tempered, cut = (
        _scores_tempered(code),
        any(True for _ in code.calls("topk", "kthvalue", "sort", "nucleus")),
    )
    elsewhere = {cell.number for number_ in (2, 3, 7, 8) for cell in submission.sections.get(number_, [])}
    for cell, node, temperature in _tempered(code):
        if not tempered and number(temperature) not in _ALL and not _is_evaluation(code, node):
            yield cell, *_other_temperature(node, number(temperature))
    for cell, call in code.calls("generate", "GenerationConfig"):
        if cell in elsewhere or not _samples(call) or _is_evaluation(code, call):
            continue
        temperature = _setting(code, call, "temperature")
        if temperature not in _ALL and not tempered:
            yield cell, *_other_temperature(call, temperature)
        kept = [
            f"{name}={value}"
            for name in ("top_k", "top_p")
            if (value := _setting(code, call, name)) not in _ALL
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
        (
            f"line {node.lineno} samples at temperature {temperature}, and the log-probabilities are computed"
            " at 1"
        ),
        "Divide the logits by the temperature before `log_softmax`.",
    )


_ALL = (None, 0, 1, 1.0)


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
        left, right = (
            (node.target, node.value) if isinstance(node, ast.AugAssign) else (node.left, node.right)
        )
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
    wrong=(
        "model.eval(); out = model.generate(**inputs)\n"
        "model.train(); logps = model(out).logits.log_softmax(-1)"
    ),
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
            sampled_in, mode, switched = None, None, None
            for event, node in _events(code, scope, depth=2):
                if event in ("eval", "train"):
                    mode, switched = event, node
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
    return mentions(node, MODEL) and not mentions(
        node, r"(^|_)(ref(erence)?|reward|value|critic|old|base)(_|$)"
    )


@rule(
    "M019",
    "warning",
    why=(
        "Sampling with gradients on keeps every forward pass of every token in memory, and nothing can flow"
        " through a sampled token anyway."
    ),
    wrong=(
        "def sample(model, ids):\n    for _ in range(8):\n"
        "        probs = model(ids).logits[:, -1].softmax(-1)\n"
        "        ids = torch.cat([ids, torch.multinomial(probs, 1)], dim=1)\n    return ids"
    ),
    right="@torch.no_grad()\ndef sample(model, ids):\n    ...",
)
def sampled_inside_the_graph(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    if any(
        isinstance(code.parent(call), ast.Expr) and not _is_true(call)
        for _, call in code.calls("set_grad_enabled")
    ):
        return
    for cell, function in code.walk(ast.FunctionDef):
        inside = [node for node in code.inside(function) if isinstance(node, ast.Call)]
        draws = [
            n
            for n in inside
            if called(n) in ("multinomial", "sample") and _draws(n) and not _is_quiet(code, n)
        ]
        draws = [n for n in draws if code.within(n, ast.For, ast.While) is not None]
        forward = [n for n in inside if _is_forward(n) and not _is_quiet(code, n)]
        scored = any(called(n) in (*SCORES, "log_prob") for n in inside)
        if draws and forward and not scored and not _called_quietly(code, function):
            yield (
                cell,
                f"line {draws[0].lineno} samples tokens with gradients on",
                "Put the sampling loop under `torch.no_grad()`.",
            )


QUIET = r"^(no_grad|inference_mode)$"


def _is_true(call: ast.Call) -> bool:
    return bool(call.args) and getattr(call.args[0], "value", True) is True


def _draws(call: ast.Call) -> bool:
    """`torch.multinomial(...)`, or `Categorical(...).sample()`."""
    return (
        called(call) == "multinomial"
        or called(call.func.value if isinstance(call.func, ast.Attribute) else None) == "Categorical"
    )


def _is_forward(call: ast.Call) -> bool:
    return (
        isinstance(call.func, ast.Name)
        and bool(re.search(MODEL, call.func.id, re.I))
        and not re.search("config|name", call.func.id)
    )


def _is_quiet(code: Code, node: ast.AST) -> bool:
    """Whether gradients are off at a node: by a `with` around it, or a decorator of its function."""
    for parent in code.parents(node):
        heads = [item.context_expr for item in parent.items] if isinstance(parent, ast.With) else []
        heads += parent.decorator_list if isinstance(parent, ast.FunctionDef) else []
        if any(
            mentions(head, QUIET) or (called(head) == "set_grad_enabled" and not _is_true(head))
            for head in heads
        ):
            return True
    return any(called(part) == "detach" for part in code.inside(node))


def _called_quietly(code: Code, function: ast.FunctionDef) -> bool:
    """Whether every call of a function stands where gradients are off."""
    sites = [call for _, call in code.walk(ast.Call) if plain_name(call.func) == function.name]
    return bool(sites) and all(_is_quiet(code, site) for site in sites)


@rule(
    "M020",
    "note",
    why=(
        "Each call reads the prompt again. One call with `num_return_sequences=G`, or the prompts repeated,"
        " is several times faster."
    ),
    wrong="for _ in range(num_generations):\n    model.generate(**inputs)",
    right="model.generate(**inputs, num_return_sequences=num_generations)",
)
def one_generate_per_completion(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    for cell, loop in code.walk(*LOOPS):
        generators = [(loop.target, loop.iter)] if isinstance(loop, ast.For) else []
        generators += [(g.target, g.iter) for g in getattr(loop, "generators", [])][-1:]
        for target, iterable in generators:
            if called(iterable) != "range" or len(iterable.args) != 1:
                continue
            inside = [
                n for n in code.inside(loop) if called(n) == "generate" and _nearest_loop(code, n) is loop
            ]
            unused = inside and not any(plain_name(target) in names(call) for call in inside)
            if unused and (mentions(iterable, GROUP_SIZE) or _is_small_group(code, loop, iterable)):
                yield (
                    cell,
                    f"line {loop.lineno} calls `generate` once for each completion",
                    "Ask for all completions of a prompt in one call.",
                )


def _nearest_loop(code: Code, node: ast.AST) -> ast.AST | None:
    return code.within(node, *LOOPS)


def _is_small_group(code: Code, loop: ast.AST, iterable: ast.Call) -> bool:
    """`range(4)` inside of a loop over prompts."""
    size = number(code.resolve(iterable.args[0]))
    outer = code.within(loop, ast.For)
    return (
        size is not None
        and 2 <= size <= 64
        and outer is not None
        and mentions(outer.iter, r"prompt|batch|row|question|example")
    )


RULES = [
    sampled_and_scored_differently,
    dropout_in_one_pass,
    sampled_inside_the_graph,
    one_generate_per_completion,
]
