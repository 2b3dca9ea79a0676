"""Mistakes in the group and its normalisation."""

import ast
import re
from collections.abc import Iterator

from checker.rules.base import Remark, Submission, rule
from checker.rules.method.vocabulary import GROUP_SIZE
from checker.rules.syntax.code import Code
from checker.rules.syntax.expressions import (
    called,
    difference,
    keyword,
    mentions,
    number,
    parameters,
    plain_name,
    same,
    subject,
)

REWARDS = r"reward|return|score|(^|_)(r|rs|rew|rews)(_|$)|group"
RESHAPES = ("unsqueeze", "view", "reshape", "expand", "repeat_interleave", "expand_as", "item", "float", "to")


def _plain(code: Code, node: ast.expr) -> ast.expr:
    """What a name stands for, without changes of shape: x of `x.unsqueeze(1)`, `x[:, None]`."""
    for _ in range(6):
        before = node
        node = code.resolve(node)
        if called(node) in RESHAPES and subject(node) is not None:
            node = subject(node)
        elif isinstance(node, ast.Subscript) and any(
            isinstance(p, ast.Constant) and p.value is None for p in getattr(node.slice, "elts", [node.slice])
        ):
            node = node.value
        if node is before:
            break
    return node


def _is_centred(node: ast.AST) -> bool:
    """Whether it is rewards minus a mean."""
    pair = difference(node)
    return (
        bool(pair) and mentions(pair[0], REWARDS) and mentions(pair[1], r"mean|(^|_)(mu|m|avg|average)(_|$)|baseline")
    )


@rule(
    "M009",
    "warning",
    why=(
        "A group whose rewards are all equal has standard deviation 0: the advantages, the loss and then"
        " every weight become nan."
    ),
    wrong="advantages = (rewards - rewards.mean()) / rewards.std()",
    right="advantages = (rewards - mean) / (std + 1e-4)",
)
def no_epsilon(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    if any(True for _ in code.calls("nan_to_num", "isnan", "nan_to_num_")):
        return
    for cell, node in code.walk(ast.BinOp):
        if not isinstance(node.op, ast.Div) or not _is_centred(code.resolve(node.left)):
            continue
        divisor = _plain(code, node.right)
        if called(divisor) in ("std", "stdev", "pstdev") and not _is_guarded(code, node):
            yield (
                cell,
                f"line {node.lineno} divides by a standard deviation that can be 0",
                "Add a small number: `/ (std + 1e-4)`.",
            )


def _is_guarded(code: Code, node: ast.BinOp) -> bool:
    """Whether the divisor is compared with something in the same function: the zero was thought of."""
    scope = code.scope(node)
    divisors = {plain_name(part) for part in ast.walk(node.right)} - {""}
    for _, comparison in code.walk(ast.Compare):
        if code.scope(comparison) is scope and any(plain_name(part) in divisors for part in ast.walk(comparison)):
            return True
    return any(
        isinstance(parent, (ast.If, ast.IfExp)) and mentions(parent.test, r"std|sigma|spread|var")
        for parent in code.parents(node)
    )


@rule(
    "M010",
    "note",
    why=(
        "torch.std divides by G - 1, numpy's by G. With G = 2 every advantage is then 0.71 of what it is with G."
        " DeepSeekMath writes std(r) without saying which; TRL takes G - 1. Say which one you mean."
    ),
    wrong="std = rewards.view(-1, G).std(dim=1)",
    right="std = rewards.view(-1, G).std(dim=1, correction=0)",
)
def sample_standard_deviation(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    for cell, call in code.calls("std", "stdev"):
        values = subject(call)
        if (
            values is None
            or keyword(call, "correction", "unbiased", "ddof") is not None
            or _is_numpy(code, call, values)
        ):
            continue
        over_a_group = keyword(call, "dim") is not None or called(call) == "stdev" or mentions(values, "group")
        over_a_group |= number(call.args[-1]) is not None if call.args else False
        if over_a_group and mentions(values, r"reward|group|(^|_)(A|adv|advs|advantages?|returns)(_|$)"):
            if _is_said(code, call):
                continue
            yield (
                cell,
                f"line {call.lineno} takes the sample standard deviation of a group (divides by G - 1)",
                "Pass `correction=0`, or say in a comment that you want the sample's.",
            )


def _is_numpy(code: Code, call: ast.Call, values: ast.expr) -> bool:
    """numpy's std divides by G already; a part of an array is one too."""
    made = _whole(code, values)
    return keyword(call, "axis") is not None or any(
        isinstance(part, ast.Name) and part.id in ("np", "numpy")
        for tree in (call.func, made)
        for part in ast.walk(tree)
    )


def _whole(code: Code, node: ast.expr) -> ast.expr:
    """What an array was made as: x of `x[i : i + G]`, of `x.reshape(...)`, and what x stands for."""
    for _ in range(6):
        before = node
        bindings = code.visible(node) if isinstance(node, ast.Name) else []
        node = bindings[-1].value if len(bindings) > 1 and bindings[-1].plain else code.resolve(node)
        if isinstance(node, ast.Subscript):
            node = node.value
        elif called(node) in RESHAPES and subject(node) is not None:
            node = subject(node)
        if node is before:
            break
    return node


def _is_said(code: Code, node: ast.AST) -> bool:
    """Whether the line, or the one above it, speaks of the choice."""
    tree, _ = code.place(node)
    near = code.trees[tree].lines[max(0, node.lineno - 2) : node.end_lineno]
    return any(re.search(r"#.*(unbiased|sample|bessel|correction|G\s*-\s*1)", line, re.IGNORECASE) for line in near)


@rule(
    "M011",
    "warning",
    why=(
        "Normalised over the whole batch, an easy prompt pushes up everything that was sampled for it, right or wrong."
    ),
    wrong="rewards = rewards.view(-1, G)\nadvantages = (rewards - rewards.mean()) / (rewards.std() + 1e-4)",
    right=(
        "rewards = rewards.view(-1, G)\nadvantages = (rewards - rewards.mean(dim=1, keepdim=True)) /"
        " (rewards.std(dim=1, keepdim=True) + 1e-4)"
    ),
)
def normalised_over_the_batch(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    for cell, node in code.walk(ast.BinOp):
        pair = difference(node)
        if not pair or not mentions(pair[0], r"reward|score|return"):
            continue
        mean = code.resolve(pair[1])
        if called(mean) != "mean" or _has_dimension(mean) or not same(subject(mean) or mean, pair[0]):
            continue
        if _is_grouped(code, pair[0]) or _holds_several_groups(code, pair[0]):
            yield (
                cell,
                f"line {node.lineno} subtracts the mean of the whole batch from rewards in groups",
                "Take the mean over each prompt's group: `rewards.view(-1, G).mean(dim=1, keepdim=True)`.",
            )


def _has_dimension(mean: ast.Call) -> bool:
    """Whether the mean is taken over one dimension rather than over everything."""
    return bool(mean.keywords) or len(mean.args) > any(argument is subject(mean) for argument in mean.args)


def _is_grouped(code: Code, node: ast.expr) -> bool:
    """Whether the expression is plainly a (prompts, G) view."""
    values = [code.resolve(node)]
    if isinstance(node, ast.Name) and values[0] is node:
        values = [b.value for b in code.visible(node) if code.place(b.statement) < code.place(node)]
    return bool(values) and all(
        called(value) in ("view", "reshape", "unflatten") and len(value.args) >= 2 for value in values
    )


def _holds_several_groups(code: Code, node: ast.expr) -> bool:
    """Whether a flat list of rewards is filled in a loop over prompts and, inside, one over the group."""
    if not isinstance(node, ast.Name) or node.id in parameters(code.scope(node)):
        return False
    made = code.resolve(node)
    listed = subject(made) if called(made) in ("tensor", "as_tensor", "array", "FloatTensor", "stack") else node
    if not isinstance(listed, ast.Name):
        return False
    if isinstance(code.resolve(listed), ast.ListComp):
        generators = code.resolve(listed).generators
        return (
            len(generators) == 2 and called(generators[1].iter) == "range" and mentions(generators[1].iter, GROUP_SIZE)
        )
    bindings = code.visible(listed)
    fills = [b.statement for b in bindings if isinstance(b.statement, ast.Call)]
    starts = [b.statement for b in bindings if isinstance(b.statement, ast.Assign)]
    for fill in fills:
        loops = [parent for parent in code.parents(fill) if isinstance(parent, ast.For)]
        if len(loops) < 2 or not (called(loops[0].iter) == "range" and mentions(loops[0].iter, GROUP_SIZE)):
            continue
        over_prompts = loops[1]
        outside = [not any(parent is over_prompts for parent in code.parents(start)) for start in [*starts, node]]
        if mentions(over_prompts.iter, r"prompt|batch|row|question|example|problem") and all(outside):
            return True
    return False


@rule(
    "M012",
    "warning",
    why=("With one completion the reward equals the group's mean: every advantage is 0 and nothing is learned."),
    wrong="num_generations = 1",
    right="num_generations = 8",
)
def group_of_one(submission: Submission) -> Iterator[Remark]:
    size = re.compile(r"^(num_generations|group_size|G|G_size|completions_per_prompt|samples_per_prompt)$")
    code = submission.code
    for cell, line, name, value in _settings(code):
        if number(value) == 1 and (size.match(name) or (size.match(name.lower()) and name != "g")):
            if name == "G" and _is_a_return(code):
                continue
            yield (
                cell,
                f"line {line} sets a group of 1",
                "Use at least 2 completions for each prompt; 4 to 16 are usual.",
            )


def _is_a_return(code: Code) -> bool:
    """Whether G is the discounted return of a textbook: `G = r + gamma * G`."""
    bindings = [b for (_, name), group in code.bindings.items() if name == "G" for b in group]
    return any(mentions(b.value, "gamma|discount|^G$") for b in bindings)


# Where one completion of a prompt is enough, and where it is not.
ELSEWHERE = re.compile(r"eval|ppo|generat|sampl|test|compare|greedy|rollout", re.IGNORECASE)
TRAINING = re.compile(r"grpo|rloo|^(training_?)?(config|args|arguments)$|^train|step$", re.IGNORECASE)


def _settings(code: Code) -> Iterator[tuple[int, int, str, ast.expr]]:
    """(cell, line, name, value) of every setting: assigned, a default, a keyword, an entry of a dict."""
    for (_, name), group in code.bindings.items():
        for binding in group:
            if not isinstance(binding.statement, (ast.Assign, ast.AnnAssign)) or not binding.plain:
                continue
            holder = code.within(binding.statement, ast.ClassDef, ast.FunctionDef)
            if holder is None or not ELSEWHERE.search(holder.name):
                tree, line = code.place(binding.statement)
                yield code.trees[tree].cell, line, name, binding.value
    for cell, call in code.walk(ast.Call):
        if call.keywords and TRAINING.search(called(call)) and not ELSEWHERE.search(called(call)):
            yield from ((cell, call.lineno, k.arg, k.value) for k in call.keywords if k.arg)
    for cell, function in code.walk(ast.FunctionDef):
        if ELSEWHERE.search(function.name):
            continue
        given = [*function.args.posonlyargs, *function.args.args]
        defaults = [*zip(given[len(given) - len(function.args.defaults) :], function.args.defaults)]
        defaults += [pair for pair in zip(function.args.kwonlyargs, function.args.kw_defaults) if pair[1] is not None]
        yield from ((cell, function.lineno, argument.arg, value) for argument, value in defaults)
    for cell, entries in code.walk(ast.Dict):
        for key, value in zip(entries.keys, entries.values):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield cell, entries.lineno, key.value, value


RULES = [no_epsilon, sample_standard_deviation, normalised_over_the_batch, group_of_one]
