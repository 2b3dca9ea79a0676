"""Mistakes in how completions are sampled: gradients left on, one call for each completion."""

import ast
import re
from collections.abc import Iterator

from checker.reading.syntax.bindings import BINDING, bound
from checker.reading.syntax.code import Code
from checker.reading.syntax.expressions import LOOPS, called, mentions, names, number, plain_name, subject
from checker.rules.base import Remark, Submission, rule
from checker.rules.method.gradients import is_quiet, is_true
from checker.rules.method.vocabulary import GROUP_SIZE, MODEL, SCORES, is_generation


@rule(
    "M019",
    "question",
    why=(
        "With gradients on, each token's forward pass keeps what a backward pass would need, which is slower and"
        " takes the memory of a training step; and nothing can flow through a sampled token anyway."
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
    if any(isinstance(code.parent(call), ast.Expr) and not is_true(call) for _, call in code.calls("set_grad_enabled")):
        return
    for cell, function in code.walk(ast.FunctionDef):
        inside = [node for node in code.inside(function) if isinstance(node, ast.Call)]
        draws = [n for n in inside if called(n) in ("multinomial", "sample") and _draws(n) and not is_quiet(code, n)]
        draws = [n for n in draws if code.within(n, ast.For, ast.While) is not None]
        if not any(map(_lengthens, inside)) or any(called(n) == "step" for n in inside):
            continue  # an action of an agent, whose environment comes between: no sequence that grows
        forward = [n for n in inside if _is_forward(n) and not is_quiet(code, n)]
        scored = any(called(n) in (*SCORES, "log_prob") for n in inside)
        if draws and forward and not scored and not _called_quietly(code, function):
            yield (
                cell,
                f"line {draws[0].lineno}: do these samples need gradients?",
                "Nothing flows through a sampled token; `torch.no_grad()` around the loop saves the memory.",
            )


def _draws(call: ast.Call) -> bool:
    """`torch.multinomial(...)`, or `Categorical(...).sample()`."""
    return (
        called(call) == "multinomial"
        or called(call.func.value if isinstance(call.func, ast.Attribute) else None) == "Categorical"
    )


def _lengthens(call: ast.Call) -> bool:
    """`torch.cat([ids, token], dim=1)` and its like: what was drawn is put behind what it was drawn from."""
    return called(call) in ("cat", "concat", "concatenate", "hstack")


def _is_forward(call: ast.Call) -> bool:
    return (
        isinstance(call.func, ast.Name)
        and bool(re.search(MODEL, call.func.id, re.I))
        and not re.search("config|name", call.func.id)
    )


def _called_quietly(code: Code, function: ast.FunctionDef) -> bool:
    """True if every call of a function stands where gradients are off."""
    sites = [call for _, call in code.walk(ast.Call) if plain_name(call.func) == function.name]
    return bool(sites) and all(is_quiet(code, site) for site in sites)


@rule(
    "M020",
    "question",
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
            inside = [n for n in code.inside(loop) if _generates(code, n) and _nearest_loop(code, n) is loop]
            unused = inside and not any(plain_name(target) in names(call) for call in inside)
            if not unused:
                continue
            named_so = mentions(iterable, GROUP_SIZE) or _is_small_group(code, loop, iterable)
            if named_so or all(_collects_the_same(code, call, loop, iterable) for call in inside):
                yield (
                    cell,
                    f"line {loop.lineno}: could one call of `generate` make all completions of a prompt?",
                    "Each call reads the prompt again; `num_return_sequences=G` is several times faster.",
                )


def _collects_the_same(code: Code, call: ast.Call, loop: ast.AST, iterable: ast.Call) -> bool:
    """True if a loop gives a model's own `generate` the same each time, and puts the result into a list."""
    within = code.inside(loop)
    calls = {called(part) for part in within}
    if (
        not is_generation(call)
        or not calls & {"append", "extend"}
        or calls & {"step", "backward", "input", "synchronize"}
    ):
        return False
    if mentions(iterable, "step|epoch|iter|turn|round"):
        return False
    given = [*call.args, *(k.value for k in call.keywords)]
    asked = {part.id for value in given for part in code.inside(value) if isinstance(part, ast.Name)}
    changed = {binding.name for part in within if isinstance(part, BINDING) for binding in bound(part)}
    changed |= {plain_name(subject(part)) for part in within if called(part) in CHANGES}
    return bool(asked) and not asked & changed


CHANGES = ("add", "update", "insert", "pop", "put")  # beside those that are bindings: "append", "extend"


def _generates(code: Code, node: ast.AST) -> bool:
    """A call of `generate`, or of a function of the notebook's own that calls a model's."""
    if not isinstance(node, ast.Call):
        return False
    function = code.procedure(node)
    return called(node) == "generate" or (function is not None and any(map(is_generation, code.calls_in(function))))


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
    sampled_inside_the_graph,
    one_generate_per_completion,
]
