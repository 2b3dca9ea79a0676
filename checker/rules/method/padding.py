"""A mask that takes the EOS for padding."""

import ast
import re
from collections.abc import Iterator

from checker.reading.syntax.code import Code
from checker.reading.syntax.expressions import called, keyword, mentions, names, plain_name, subject
from checker.reading.syntax.flow import Flow
from checker.rules.base import Remark, Submission, rule
from checker.rules.method.vocabulary import EOS, PAD, is_generation

COMPLETION = (
    r"completion|response|generat"
    r"|(^|_)(gens?|outs?|outputs?|sequences?|seqs?|answers?|samples?|actions?|full)(_|$)"
)
ATTENTION = r"att(n|ention)"
# Families whose tokenizers come without a pad token, so that `if tokenizer.pad_token is None` holds.
WITHOUT_PAD = re.compile(r"gpt-?2|gpt-?neo|gpt-?j|dialogpt|pythia|llama|mistral|phi-?[12]|falcon", re.IGNORECASE)


@rule(
    "M001",
    "question",
    why=(
        "When pad and EOS are one id, a mask made from ids also masks the EOS that the model sampled: the"
        " decision to stop gets no gradient, and completions grow. (In an attention mask that does no harm.)"
    ),
    wrong="tokenizer.pad_token = tokenizer.eos_token\nmask = completion_ids != tokenizer.pad_token_id",
    right="mask = torch.arange(C) < lengths[:, None]  # lengths count up to and including the first EOS",
)
def eos_masked_as_padding(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    pad_is_eos = _pad_is_eos(code)
    if not pad_is_eos and not _generates_with_eos(code):
        return
    sampled = Flow(code, is_generation, lambda node: isinstance(node, ast.Call) and not _keeps_ids(node))
    for cell, compared, ids, other in _unequal(code):
        stands_for = [other, code.resolve(other)]
        if not any(mentions(n, EOS) or (pad_is_eos and mentions(n, PAD)) for n in stands_for):
            continue
        if mentions(ids, r"prompt|question|query"):
            continue
        if (mentions(ids, COMPLETION) or sampled(ids)) and not _is_for_attention(code, compared):
            yield (
                cell,
                f"line {ids.lineno}: does this mask leave out the EOS that the model sampled?",
                "Pad and EOS look like one id here; a mask from lengths, 1 up to the first EOS and at it, keeps it.",
            )


def _pad_is_eos(code: Code) -> bool:
    for _, node in code.walk(ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Attribute) and re.match(PAD, target.attr) and mentions(node.value, EOS):
                if not _only_where_there_is_none(code, node) or _names_a_model_without_pad(code):
                    return True
    return _is_told(code, "add_special_tokens", "from_pretrained") or (
        _generates_with_eos(code) and _names_a_model_without_pad(code)
    )


def _generates_with_eos(code: Code) -> bool:
    """True if sampling alone pads with the EOS, so that the tokenizer's pad token may be another."""
    return _is_told(code, "generate", "GenerationConfig")


def _is_told(code: Code, *functions: str) -> bool:
    """True if a call of one of these functions gets the EOS to pad with."""
    for _, call in code.calls(*functions):
        pad = keyword(call, "pad_token_id", "pad_token")
        entries = [d for a in call.args if isinstance(a, ast.Dict) for d in zip(a.keys, a.values)]
        pad = pad or next((v for k, v in entries if getattr(k, "value", "") == "pad_token"), None)
        if pad is not None and mentions(pad, EOS):
            if not isinstance(pad, (ast.BoolOp, ast.IfExp)) or _names_a_model_without_pad(code):
                return True
    return False


def _only_where_there_is_none(code: Code, node: ast.AST) -> bool:
    """True if it stands under `if tokenizer.pad_token is None`: most newer tokenizers have one of their own."""
    holders = [parent for parent in code.parents(node) if isinstance(parent, ast.If)]
    return any(mentions(holder.test, PAD) for holder in holders)


def _names_a_model_without_pad(code: Code) -> bool:
    return any(isinstance(n.value, str) and WITHOUT_PAD.search(n.value) for _, n in code.walk(ast.Constant))


def _keeps_ids(call: ast.Call) -> bool:
    kept = ("cat", "stack", "clone", "to", "detach", "pad", "pad_sequence", "view")
    return is_generation(call) or called(call) in kept


def _unequal(code: Code) -> Iterator[tuple[int, ast.expr, ast.expr, ast.expr]]:
    """(cell, comparison, ids, what they are compared with) of `a != b`, `a.ne(b)` and `torch.ne(a, b)`."""
    for cell, node in code.walk(ast.Compare):
        one = len(node.ops) == 1 and isinstance(node.ops[0], ast.NotEq)
        if one and not code.within(node, ast.If, ast.comprehension):
            yield cell, node, node.left, node.comparators[0]
    for cell, node in code.calls("ne", "not_equal"):
        if subject(node) is not None and node.args:
            yield cell, node, subject(node), node.args[-1]


def _is_for_attention(code: Code, node: ast.AST) -> bool:
    """True if a mask, or the name that it gets, is used as an attention mask and for nothing else."""
    place = _place_of_use(code, node)
    if place != "name":
        return place == "attention"
    statement = code.within(node, ast.Assign)
    name = plain_name(statement.targets[0])
    scope = code.scope(node)
    uses = [
        use
        for _, use in code.walk(ast.Name)
        if use.id == name and code.scope(use) in (scope, None) and not _is_target(code, use)
    ]
    return bool(uses) and all(_place_of_use(code, use) == "attention" for use in uses)


def _is_target(code: Code, node: ast.Name) -> bool:
    statement = code.within(node, ast.Assign)
    return statement is not None and any(node is target for target in statement.targets)


def _place_of_use(code: Code, node: ast.AST) -> str:
    """ "attention" for the value of what is named an attention mask, "name" for the value of another name, else ""."""
    below = node
    for parent in code.parents(node):
        if isinstance(parent, ast.keyword):
            return "attention" if re.search(ATTENTION, parent.arg or "") else ""
        if isinstance(parent, ast.Dict):
            keys = [key for key, value in zip(parent.keys, parent.values) if value is below]
            return "attention" if any(re.search(ATTENTION, str(getattr(key, "value", ""))) for key in keys) else ""
        if isinstance(parent, ast.Assign):
            target = parent.targets[0]
            if not isinstance(target, ast.Name):
                return "attention" if any(re.search(ATTENTION, name) for name in names(target)) else ""
            return "name" if isinstance(node, (ast.Compare, ast.Call)) else _carried_on(target)
        if isinstance(parent, ast.Call) and called(parent) not in CONVERTS:
            return ""
        if isinstance(parent, (ast.stmt, ast.BinOp, ast.Compare)):
            return ""
        below = parent
    return ""


CONVERTS = ("long", "int", "float", "to", "bool", "cat", "concat", "type", "unsqueeze", "expand", "repeat")


def _carried_on(target: ast.Name) -> str:
    return "attention" if re.search(ATTENTION, target.id) else ""


RULES = [eos_masked_as_padding]
