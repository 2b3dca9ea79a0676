"""Mistakes in what is minimised: its sign, the tokens that it is a mean over, a part without a gradient."""

import ast
import re
from collections.abc import Iterator

from checker.reading.syntax.code import Code
from checker.reading.syntax.expressions import called, keyword, mentions, names, number, plain_name, product, subject
from checker.rules.base import Remark, Submission, rule
from checker.rules.method.formulas import averaged
from checker.rules.method.vocabulary import ADVANTAGE

LOSS = r"(^|_)loss(es)?(_|$)"
GAIN = r"ratio|surr|log_?p(rob)?s?(_|$)"  # what a policy's advantage is multiplied with
PER_TOKEN = r"loss|log_?p|kl|surr|ratio|adv|per_token"
MASK = r"(^|_)mask(s|ed)?(_|$)"
WITH_GRADIENT = r"(^|_)kl(s|_\w+)?$|^(per_token_|token_|new_|policy_)?log_?p(rob)?s?$|(^|_)loss(es)?$"
LOG_PROBABILITY = r"log_?p(rob)?s?(_|$)"
CONSTANT = r"(^|_)(old|ref|reference|sampler|behaviou?r)(_|$)"
DEEP = 4  # names that stand for names


@rule(
    "M024",
    "question",
    why=(
        "Advantage times ratio is to become large, and an optimiser makes what it is given small: without a minus the"
        " policy learns to say what was worse."
    ),
    wrong="loss = (ratio * advantages).mean()\nloss.backward()",
    right="loss = -(ratio * advantages).mean()\nloss.backward()",
)
def surrogate_without_its_minus(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    if any(k.arg == "maximize" for _, k in code.walk(ast.keyword)):
        return
    turned = _turned(code)
    for cell, node in code.walk(ast.Assign, ast.Return):
        if node.value is None or not _gives_a_loss(code, node) or _called_as(code, node) & turned:
            continue
        gains = [term for term in _added(node.value) if is_gain(code, term)]
        if gains and not any(has_minus(code, term) for term in gains):
            yield (
                cell,
                f"line {node.lineno}: does this loss want a minus before the advantages?",
                "It is made small: `-(ratio * advantages).mean()` makes what was better more likely.",
            )


def _gives_a_loss(code: Code, node: ast.Assign | ast.Return) -> bool:
    """True for a statement that binds a loss, by its name, or returns one, by the name of the function."""
    if isinstance(node, ast.Assign):
        return mentions(node.targets[0], LOSS)
    return re.search(LOSS, getattr(code.scope(node), "name", "")) is not None


def _called_as(code: Code, node: ast.Assign | ast.Return) -> set[str]:
    """The names of what a statement binds, or of the function that it ends."""
    return names(node.targets[0]) if isinstance(node, ast.Assign) else {code.scope(node).name}


def _turned(code: Code) -> set[str]:
    """The names that stand behind a minus somewhere, `(-loss).backward()` and `total = kl - loss` for instance."""
    after = [node.operand for _, node in code.walk(ast.UnaryOp) if isinstance(node.op, ast.USub)]
    after += [node.right for _, node in code.walk(ast.BinOp) if isinstance(node.op, ast.Sub)]
    after += [node for _, node in code.walk(ast.BinOp) if isinstance(node.op, ast.Mult) and _is_negative(node)]
    return {name for node in after for name in names(node)}


def _is_negative(node: ast.BinOp) -> bool:
    return any((number(factor) or 0) < 0 for factor in (node.left, node.right))


def _added(node: ast.expr) -> list[ast.expr]:
    """The terms that are added in an expression; what is subtracted is none of them."""
    node = averaged(node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [*_added(node.left), *_added(node.right)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        return _added(node.left)
    return [node]


def is_gain(code: Code, term: ast.expr) -> bool:
    """True for advantages times a ratio or log-probabilities, and for the smaller one of two such."""
    term = averaged(code.resolve(averaged(term)))
    term = code.resolve(term)
    if called(term) in ("min", "minimum"):
        return any(is_gain(code, part) for part in term.args)
    factors = product(term)
    is_weighted = any(mentions(factor, ADVANTAGE) for factor in factors)
    others = [part for part in factors if not mentions(part, ADVANTAGE)]
    return is_weighted and any(mentions(part, GAIN) or called(code.resolve(part)) == "exp" for part in others)


def has_minus(code: Code, node: ast.expr, deep: int = DEEP) -> bool:
    """True if a minus stands in an expression, in what its names are bound to, or may stand where that is not seen."""
    for part in ast.walk(node):
        if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub) and number(part) is None:
            return True
        if isinstance(part, ast.BinOp) and isinstance(part.op, (ast.Mult, ast.Div)) and _is_negative(part):
            return True
        if isinstance(part, ast.Call) and re.search("loss|nll|cross_entropy", called(part)):
            return True
        if isinstance(part, ast.Name) and deep and not mentions(part, ADVANTAGE):
            if any(has_minus(code, binding.value, deep - 1) for binding in code.visible(part)):
                return True
    return False


@rule(
    "M025",
    "question",
    why=(
        "A mean over all places counts padding, or the prompt, as tokens of the completion: the loss becomes smaller"
        " the more of them stand in a batch, and the log-probability of the prompt is no part of what was sampled."
    ),
    wrong="loss = (per_token_loss * mask).mean()",
    right="loss = (per_token_loss * mask).sum() / mask.sum()",
)
def mean_over_all_places(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    for cell, call in code.walk(ast.Call):
        if _is_mean_of_masked(code, call):
            yield (
                cell,
                f"line {call.lineno}: is this mean to count the places that the mask leaves out?",
                "`(x * mask).sum() / mask.sum()` is the mean over the tokens that count.",
            )
        elif _scores_the_prompt(code, call):
            yield (
                cell,
                f"line {call.lineno}: is the prompt to be scored with the completion?",
                "`labels=input_ids` counts every token; -100 in the prompt's places leaves it out.",
            )
    for cell, node in code.walk(ast.BinOp):
        if isinstance(node.op, ast.Div) and _counts_all_places(node.right) and called(node.left) == "sum":
            masked = subject(node.left)
            if masked is not None and _is_masked(code, masked):
                yield (
                    cell,
                    f"line {node.lineno}: is this loss to be divided by all places, padding among them?",
                    "`mask.sum()` is how many tokens count.",
                )


def _counts_all_places(node: ast.expr) -> bool:
    """`x.numel()`, and `x.shape[0] * x.shape[1]`."""
    sizes = product(node)
    return called(node) == "numel" or len(sizes) == 2 and all(mentions(size, r"^(shape|size)$") for size in sizes)


def _is_masked(code: Code, node: ast.expr) -> bool:
    """True for a product of a mask with something that each token has."""
    factors = product(code.resolve(node))
    kinds = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
    is_one = [mentions(factor, MASK) and isinstance(factor, kinds) for factor in factors]
    others = [part for f, mask in zip(factors, is_one) if not mask for part in (f, code.resolve(f))]
    return len(factors) > 1 and any(is_one) and any(mentions(part, f"{PER_TOKEN}|{ADVANTAGE}") for part in others)


def _is_mean_of_masked(code: Code, call: ast.Call) -> bool:
    """True for `(x * mask).mean()` over all dimensions, where that is, or is added to, a loss or a KL."""
    values = subject(call)
    if called(call) != "mean" or values is None or call.keywords or len(call.args) > (call.args[:1] == [values]):
        return False
    holder = code.within(call, ast.stmt)
    targets = holder.targets if isinstance(holder, ast.Assign) else []
    is_loss = any(mentions(target, rf"{LOSS}|(^|_)kl(_|$)") for target in targets)
    is_loss |= isinstance(holder, ast.Return) and re.search("loss", getattr(code.scope(holder), "name", "")) is not None
    return is_loss and _is_masked(code, values)


def _scores_the_prompt(code: Code, call: ast.Call) -> bool:
    """True for `-model(ids, labels=ids).loss` as a log-probability, or weighted by an advantage or a reward."""
    labels = keyword(call, "labels")
    ids = keyword(call, "input_ids") or (call.args[0] if call.args else None)
    if labels is None or ids is None or not plain_name(ids):
        return False
    made = [subject(one) if called(one) in ("clone", "copy") else one for one in (labels, code.resolve(labels))]
    if plain_name(ids) not in map(plain_name, made):
        return False
    marked = {plain_name(t.value) for _, n in code.walk(ast.Assign) for t in n.targets if isinstance(t, ast.Subscript)}
    if plain_name(labels) in marked - {plain_name(ids)}:
        return False
    statement = code.within(call, ast.Assign)
    held = plain_name(statement.targets[0]) if statement and statement.value is call else ""
    for _, part in code.walk(ast.Attribute):
        if part.attr == "loss" and (part.value is call or (held and plain_name(part.value) == held)):
            if _is_weighed(code, part):
                return True
    return False


def _is_weighed(code: Code, loss: ast.Attribute) -> bool:
    """True if a loss becomes a log-probability by its name, or stands in a product with an advantage or a reward."""
    for parent in code.parents(loss):
        if called(parent) == "item":
            return False
        if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mult) and _has_weight(parent):
            return True
        if isinstance(parent, ast.Return):
            return mentions(ast.Name(getattr(code.scope(parent), "name", "")), LOG_PROBABILITY)
        if isinstance(parent, ast.Assign):
            held = {plain_name(target) for target in parent.targets} - {""} if parent.value is loss else set()
            weighed = (n for _, n in code.walk(ast.BinOp) if isinstance(n.op, ast.Mult) and _has_weight(n))
            is_named = any(mentions(target, LOG_PROBABILITY) for target in parent.targets)
            return is_named or any(held & names(node) and code.scope(node) is code.scope(loss) for node in weighed)
        if isinstance(parent, ast.stmt):
            return False
    return False


def _has_weight(node: ast.BinOp) -> bool:
    return any(mentions(factor, rf"{ADVANTAGE}|reward") for factor in product(node))


@rule(
    "M027",
    "question",
    why="`torch.tensor` copies numbers: nothing flows back through it, so this part of the loss changes no weight.",
    wrong="loss = policy_loss + beta * torch.tensor(kls).mean()\nloss.backward()",
    right="loss = policy_loss + beta * torch.stack(kls).mean()\nloss.backward()",
)
def part_without_a_gradient(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    for cell, call in code.calls("tensor", "as_tensor", "FloatTensor", "item"):
        if called(call) == "item":
            is_cut_off = _is_number_in_a_loss(code, call)
        else:
            made_of = call.args[0] if call.args else None
            is_cut_off = made_of is not None and _needs_a_gradient(code, made_of) and _is_in_a_loss(code, call, DEEP)
        if not is_cut_off:
            continue
        yield (
            cell,
            f"line {call.lineno}: is a gradient to flow through `{called(call)}(...)`?",
            "It copies numbers, and none does: `torch.stack` keeps the graph of a list, the tensor itself its own.",
        )


def _is_number_in_a_loss(code: Code, call: ast.Call) -> bool:
    """True for `kl.item()` as a term of what `backward` is called on."""
    statement = code.within(call, ast.stmt)
    if not isinstance(statement, ast.Assign) or not mentions(subject(call), r"(^|_)kls?(_|$)"):
        return False
    if code.within(call, ast.Compare) is not None or not isinstance(code.parent(call), ast.BinOp):
        return False
    name = plain_name(statement.targets[0])
    return any(plain_name(subject(step)) == name for _, step in code.calls("backward"))


def _needs_a_gradient(code: Code, node: ast.expr) -> bool:
    """True if a list holds a KL, log-probabilities of the policy or losses, by the names of it or of its parts."""
    parts = {name for part in (node, code.resolve(node)) for name in names(part)}
    for binding in code.visible(node) if isinstance(node, ast.Name) else []:
        parts |= names(binding.value)
    wanted = [name for name in parts if re.search(WITH_GRADIENT, name, re.IGNORECASE)]
    return any(not re.search(CONSTANT, name, re.IGNORECASE) for name in wanted) and "item" not in parts | {called(node)}


def _is_in_a_loss(code: Code, node: ast.AST, deep: int) -> bool:
    """True if a value is part of what is called a loss, by its own statement or through a name."""
    statement = code.within(node, ast.Assign, ast.AugAssign)
    if statement is None:
        return False
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    if any(mentions(target, LOSS) for target in targets):
        return any(True for _ in code.calls("backward"))
    bound = {plain_name(target) for target in targets} - {""}
    uses = [n for _, n in code.walk(ast.Name) if n.id in bound and n not in targets] if deep else []
    uses = [use for use in uses if code.scope(use) is code.scope(statement) and code.place(use) > code.place(statement)]
    return any(_is_in_a_loss(code, use, deep - 1) for use in uses)


RULES = [surrogate_without_its_minus, mean_over_all_places, part_without_a_gradient]
