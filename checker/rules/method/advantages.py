"""Mistakes in the normalisation of a group's rewards."""

import ast
import re
from collections.abc import Iterator

from checker.reading.syntax.code import Code
from checker.reading.syntax.expressions import (
    called,
    difference,
    keyword,
    mentions,
    names,
    number,
    operands,
    plain_name,
    same,
    subject,
)
from checker.reading.syntax.flow import Flow
from checker.rules.base import Question, Remark, Submission, rule
from checker.rules.method.vocabulary import ADVANTAGE, GROUP_SIZE

REWARDS = r"reward|return|score|discounted|(^|_)(r|rs|rew|rews|q|qs|rtgs?)(_|$)|^Gs?$|group"
# What is normalised and no reward: what a network is given, and what it gives.
OTHER = r"obs|state|feature|image|img|pixel|input|data|frame|(^|_)(x|xs|train|test|df)(_|$)|logit|weight|hidden|token"
PROMPTS = r"^(prompts|questions|batch|rows|problems|texts)$"
PROMPT = r"prompt|batch|row|question|example|problem"
RESHAPES = ("unsqueeze", "view", "reshape", "expand", "repeat_interleave", "expand_as", "item", "float", "to")


def _plain(code: Code, node: ast.expr) -> ast.expr:
    """The value of a name, without changes of shape: x of `x.unsqueeze(1)`, `x[:, None]`."""
    for _ in range(6):
        node = code.resolve(node)
        if called(node) in RESHAPES and subject(node) is not None:
            node = subject(node)
        elif isinstance(node, ast.Subscript) and any(
            isinstance(p, ast.Constant) and p.value is None for p in getattr(node.slice, "elts", [node.slice])
        ):
            node = node.value
    return node


def _is_centred(code: Code, node: ast.AST) -> bool:
    """True if it is rewards minus a mean."""
    pair = difference(node)
    if not pair or not any(mentions(part, pattern) for part in pair for pattern in (REWARDS, ADVANTAGE)):
        return False
    is_called_one = mentions(pair[1], r"mean|(^|_)(mu|m|avg|average)(_|$)|baseline")
    return is_called_one or called(code.resolve(pair[1])) in ("mean", "average")


def _is_by_its_own(node: ast.BinOp) -> bool:
    """`rewards / np.std(rewards - np.mean(rewards))`: rewards by what is made of the same rewards."""
    name = plain_name(node.left)
    return name in names(node.right) - {""} and bool(re.search(REWARDS, name, re.IGNORECASE))


def _divisions(code: Code) -> Iterator[tuple[int, ast.BinOp | ast.AugAssign]]:
    """Every division that scales rewards: `(r - mean) / x`, `r / std(r - mean)`, and `r /= x` below `r -= mean`."""
    for cell, node in code.walk(ast.BinOp):
        if isinstance(node.op, ast.Div) and (_is_centred(code, code.resolve(node.left)) or _is_by_its_own(node)):
            yield cell, node
    centred = {
        (code.scope(node), plain_name(node.target))
        for _, node in code.walk(ast.AugAssign)
        if isinstance(node.op, ast.Sub) and called(code.resolve(node.value)) == "mean"
    }
    for cell, node in code.walk(ast.AugAssign):
        if isinstance(node.op, ast.Div) and (code.scope(node), plain_name(node.target)) in centred:
            if mentions(node.target, REWARDS):
                yield cell, node


def _divisions_of_others(code: Code) -> Iterator[tuple[int, ast.BinOp]]:
    """Every `(x - x.mean()) / x.std()` of what is not called a reward, in a notebook that speaks of rewards."""
    if not any(re.search("reward|adv", name, re.IGNORECASE) for _, name in code.bindings):
        return
    named = {node for _, node in _divisions(code)}
    for cell, node in code.walk(ast.BinOp):
        pair = difference(code.resolve(node.left)) if isinstance(node.op, ast.Div) and node not in named else None
        mean = code.resolve(pair[1]) if pair else None
        spread = _plain(code, node.right)
        if called(mean) in ("mean", "average") and called(spread) == "std" and not mentions(pair[0], OTHER):
            if all(same(subject(call) or call, pair[0]) for call in (mean, spread)):
                yield cell, node


@rule(
    "M009",
    "warning",
    why=(
        "A group whose rewards are all equal has standard deviation 0: the advantages, the loss and then"
        " every weight become nan."
    ),
    wrong="advantages = (rewards - rewards.mean()) / rewards.std()",
    right="advantages = (rewards - mean) / (std + 1e-4)",
    asks="Of what is called a reward, a return or an advantage it is asserted; of what has another name it is asked.",
)
def no_epsilon(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    cared_for = {name for _, call in code.calls("nan_to_num", "isnan", "nan_to_num_") for name in names(call)}
    if any("loss" in name for name in cared_for):
        return
    for cell, node in _divisions(code):
        if _is_unguarded(code, node, cared_for):
            yield (
                cell,
                f"line {node.lineno} divides by a standard deviation that can be 0",
                "Add a small number: `/ (std + 1e-4)`.",
            )
    for cell, node in _divisions_of_others(code):
        if _is_unguarded(code, node, cared_for):
            yield Question(
                cell,
                f"line {node.lineno}: can these all be equal, so that their standard deviation is 0?",
                "What comes of the division, and every weight that it reaches, is nan then; `/ (std + 1e-4)` is not.",
            )


def _is_unguarded(code: Code, node: ast.BinOp | ast.AugAssign, cared_for: set[str]) -> bool:
    """True if a division is by a standard deviation, and nothing is done about its being 0."""
    statement = code.within(node, ast.stmt) or node
    if names(statement) & cared_for - {"np", "torch", "self", "jnp"}:
        return False
    divisor = _plain(code, operands(node)[1])
    return called(divisor) in ("std", "stdev", "pstdev") and not _is_guarded(code, node)


def _is_guarded(code: Code, node: ast.BinOp | ast.AugAssign) -> bool:
    """True if the divisor is compared with something in the same function: somebody thought of the zero."""
    scope = code.scope(node)
    divisors = {plain_name(part) for part in ast.walk(operands(node)[1])} - {""}
    for _, comparison in code.walk(ast.Compare):
        if code.scope(comparison) is scope and any(plain_name(part) in divisors for part in ast.walk(comparison)):
            return True
    return any(
        isinstance(parent, (ast.If, ast.IfExp)) and mentions(parent.test, r"std|sigma|spread|var")
        for parent in code.parents(node)
    )


@rule(
    "M010",
    "question",
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
        over_a_group |= not call.args and not call.keywords and _divides(code, call) and _is_one_group(code, values)
        if over_a_group and mentions(values, r"reward|group|(^|_)(A|adv|advs|advantages?|returns)(_|$)"):
            if _is_said(code, call) or code.within(call, ast.JoinedStr) is not None:
                continue
            yield (
                cell,
                f"line {call.lineno}: is the group's standard deviation to be divided by G - 1?",
                "torch divides so, numpy by G: pass `correction=0`, or say in a comment that you want the sample's.",
            )


def _divides(code: Code, call: ast.Call) -> bool:
    """True if a standard deviation is a divisor, or gets a name. One that is logged or compared is not."""
    holders = code.parents(call)
    return any(
        isinstance(holder, ast.Assign)
        and holder.value is call
        or isinstance(holder, ast.BinOp)
        and isinstance(holder.op, ast.Div)
        and call in code.inside(holder.right)
        for holder in holders
    )


def _is_one_group(code: Code, values: ast.expr) -> bool:
    """True if a loop over `range(G)`, with no loop over prompts around it, fills the list that a tensor is made of."""
    made = code.resolve(values)
    listed = subject(made) if called(made) in TENSORS else None
    here, _ = code.place(values)
    bindings = code.visible(listed) if isinstance(listed, ast.Name) else []
    bindings = [binding for binding in bindings if code.place(binding.statement)[0] == here]
    fills = [binding for binding in bindings if called(binding.statement)]
    starts = [binding for binding in bindings if isinstance(binding.statement, ast.Assign)]
    if len(fills) != 1 or len(starts) != 1:
        return False
    loop = code.within(fills[0].statement, ast.For)
    around = code.parent(starts[0].statement)
    over_a_group = loop is not None and called(loop.iter) == "range" and mentions(loop.iter, GROUP_SIZE)
    return over_a_group and code.parent(loop) is around


TENSORS = ("tensor", "as_tensor", "array", "FloatTensor", "stack")


def _is_numpy(code: Code, call: ast.Call, values: ast.expr) -> bool:
    """numpy's std divides by G already; a part of an array is one too."""
    made = _whole(code, values)
    return keyword(call, "axis") is not None or any(
        isinstance(part, ast.Name) and part.id in ("np", "numpy")
        for tree in (call.func, made)
        for part in ast.walk(tree)
    )


def _whole(code: Code, node: ast.expr) -> ast.expr:
    """The array that a part was taken of: x of `x[i : i + G]`, of `x.reshape(...)`, and what x stands for."""
    for _ in range(6):
        bindings = code.visible(node) if isinstance(node, ast.Name) else []
        node = bindings[-1].value if len(bindings) > 1 and bindings[-1].plain else code.resolve(node)
        if isinstance(node, ast.Subscript):
            node = node.value
        elif called(node) in RESHAPES and subject(node) is not None:
            node = subject(node)
    return node


def _is_said(code: Code, node: ast.AST) -> bool:
    """True if the line, or the one above it, speaks of the choice."""
    tree, _ = code.place(node)
    near = code.trees[tree].lines[max(0, node.lineno - 2) : node.end_lineno]
    return any(re.search(r"#.*(unbiased|sample|bessel|correction|G\s*-\s*1)", line, re.IGNORECASE) for line in near)


@rule(
    "M011",
    "question",
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
    of_several = Flow(code, lambda node: _repeats_prompts(code, node), _takes_a_part)
    for cell, node in code.walk(ast.BinOp):
        pair = difference(node)
        if not pair or not mentions(pair[0], r"reward|score|return|^(R|rs)$"):
            continue
        mean = code.resolve(pair[1])
        if called(mean) != "mean" or _has_dimension(mean) or not same(subject(mean) or mean, pair[0]):
            continue
        if _is_grouped(code, pair[0]) or _holds_several_groups(code, pair[0]) or of_several(pair[0]):
            yield (
                cell,
                f"line {node.lineno}: is this the mean of each prompt's group, or of the whole batch?",
                "Over the batch all of an easy prompt's is pushed up; `rewards.view(-1, G).mean(dim=1)` is the groups'.",
            )


def _repeats_prompts(code: Code, node: ast.AST) -> bool:
    """`prompts * G`, `[p for p in prompts for _ in range(G)]`, `np.repeat(prompts, G)`: several groups in one list.

    So is what `xs += [p] * G` makes in a loop over prompts.
    """
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        if any(isinstance(one, ast.List) and mentions(other, GROUP_SIZE) for one, other in _both(node)):
            loop = code.within(node, ast.For)
            grows = isinstance(code.within(node, ast.stmt), ast.AugAssign) or called(code.parent(node)) == "extend"
            return grows and loop is not None and mentions(loop.iter, PROMPTS) and names(loop.target) <= names(node)
        return any(mentions(one, PROMPTS) and mentions(other, GROUP_SIZE) for one, other in _both(node))
    if isinstance(node, ast.ListComp) and len(node.generators) == 2:
        over = [generator.iter for generator in node.generators]
        counts = any(called(one) == "range" and mentions(one, GROUP_SIZE) for one in over)
        return counts and any(mentions(one, PROMPTS) for one in over)
    repeats = called(node) in ("repeat", "repeat_interleave", "tile")
    of_prompts = repeats and any(mentions(a, PROMPTS) for a in [node.func, *node.args])
    return of_prompts and (called(node) == "repeat_interleave" or mentions(node, GROUP_SIZE))


def _both(node: ast.BinOp) -> tuple[tuple[ast.expr, ast.expr], tuple[ast.expr, ast.expr]]:
    return (node.left, node.right), (node.right, node.left)


def _takes_a_part(node: ast.AST) -> bool:
    """A flat list made into groups, or one of them taken out; `ids[:, n:]` keeps all rows."""
    if isinstance(node, ast.Subscript):
        rows = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else node.slice
        return not (
            isinstance(node.slice, ast.Tuple) and isinstance(rows, ast.Slice) and rows.lower is rows.upper is None
        )
    return called(node) in ("view", "reshape", "unflatten", "chunk", "split", "len")


def _has_dimension(mean: ast.Call) -> bool:
    """True if the mean is taken over one dimension rather than over everything."""
    return bool(mean.keywords) or len(mean.args) > any(argument is subject(mean) for argument in mean.args)


def _is_grouped(code: Code, node: ast.expr) -> bool:
    """True if the expression is plainly a (prompts, G) view."""
    values = [code.resolve(node)]
    if isinstance(node, ast.Name) and values[0] is node:
        values = [b.value for b in code.visible(node) if code.place(b.statement) < code.place(node)]
    return bool(values) and all(
        called(value) in ("view", "reshape", "unflatten") and len(value.args) >= 2 for value in values
    )


def _holds_several_groups(code: Code, node: ast.expr) -> bool:
    """True if two loops fill a flat list of rewards: one over prompts and one over the group, whichever is inside."""
    if not isinstance(node, ast.Name):
        return False
    made = code.resolve(node)
    listed = subject(made) if called(made) in TENSORS else node
    if not isinstance(listed, ast.Name):
        return False
    if isinstance(code.resolve(listed), ast.ListComp):
        over = [generator.iter for generator in code.resolve(listed).generators]
        return len(over) == 2 and any(called(one) == "range" and mentions(one, GROUP_SIZE) for one in over)
    bindings = code.visible(listed)
    fills = [b.statement for b in bindings if isinstance(b.statement, ast.Call)]
    starts = [b.statement for b in bindings if isinstance(b.statement, ast.Assign)]
    for fill in fills:
        loops = [parent for parent in code.parents(fill) if isinstance(parent, ast.For)][:2]
        over_prompts = [loop for loop in loops if mentions(loop.iter, PROMPT)]
        over_group = [loop for loop in loops if called(loop.iter) == "range" and mentions(loop.iter, GROUP_SIZE)]
        outside = [loops[-1] not in code.parents(start) for start in [*starts, node]] if loops else []
        if len(over_prompts) == len(over_group) == 1 and over_prompts != over_group and all(outside):
            return True
    return False


RULES = [no_epsilon, sample_standard_deviation, normalised_over_the_batch]
