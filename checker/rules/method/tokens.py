"""Mistakes with token ids: masks, prompt lengths, decoding, labels."""

import ast
import re
from collections.abc import Callable, Iterator

from checker.rules.base import Remark, Submission, rule
from checker.rules.method.vocabulary import cuts_columns, is_generation
from checker.rules.syntax.code import Code
from checker.rules.syntax.expressions import called, keyword, mentions, names, number, plain_name, subject

EOS = r"^eos(_token)?(_id)?$"
PAD = r"^pad(_token|_tok)?(_id|_idx)?$"
COMPLETION = (
    r"completion|response|generat"
    r"|(^|_)(gens?|outs?|outputs?|sequences?|seqs?|answers?|samples?|actions?|full)(_|$)"
)


def _pad_is_eos(code: Code) -> bool:
    for _, node in code.walk(ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Attribute) and re.match(PAD, target.attr) and mentions(node.value, EOS):
                return True
    for _, call in code.calls("generate", "add_special_tokens", "from_pretrained", "GenerationConfig"):
        pad = keyword(call, "pad_token_id", "pad_token")
        entries = [d for a in call.args if isinstance(a, ast.Dict) for d in zip(a.keys, a.values)]
        pad = pad or next((v for k, v in entries if getattr(k, "value", "") == "pad_token"), None)
        if pad is not None and mentions(pad, EOS):
            return True
    return False


@rule(
    "M001",
    "warning",
    why=(
        "When pad and EOS are one id, a mask made from ids also masks the EOS that the model sampled: the"
        " decision to stop gets no gradient, and completions grow."
    ),
    wrong="tokenizer.pad_token = tokenizer.eos_token\nmask = completion_ids != tokenizer.pad_token_id",
    right="mask = torch.arange(C) < lengths[:, None]  # lengths count up to and including the first EOS",
)
def eos_masked_as_padding(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    if not _pad_is_eos(code):
        return
    sampled = code.flow(is_generation, lambda node: isinstance(node, ast.Call) and not _keeps_ids(node))
    for cell, ids, other in _unequal(code):
        stands_for = [other, code.resolve(other)]
        if not any(mentions(n, PAD) or mentions(n, EOS) for n in stands_for) or mentions(ids, r"prompt|question|query"):
            continue
        if mentions(ids, COMPLETION) or sampled(ids):
            yield (
                cell,
                f"line {ids.lineno} makes a mask by comparing ids with the pad id, and pad is EOS here",
                "Build the mask from lengths: 1 up to and including the first EOS.",
            )


def _keeps_ids(call: ast.Call) -> bool:
    return is_generation(call) or called(call) in (
        "cat",
        "stack",
        "clone",
        "to",
        "detach",
        "pad",
        "pad_sequence",
        "view",
    )


def _unequal(code: Code) -> Iterator[tuple[int, ast.expr, ast.expr]]:
    """(cell, ids, what they are compared with) of `a != b`, `a.ne(b)` and `torch.ne(a, b)`."""
    for cell, node in code.walk(ast.Compare):
        if (
            len(node.ops) == 1
            and isinstance(node.ops[0], ast.NotEq)
            and not code.within(node, ast.If, ast.comprehension)
        ):
            yield cell, node.left, node.comparators[0]
    for cell, node in code.calls("ne", "not_equal"):
        if subject(node) is not None and node.args:
            yield cell, subject(node), node.args[-1]


@rule(
    "M002",
    "warning",
    why=(
        "Prompts are padded on the left, so in every row the completion starts at the padded length. Cutting"
        " a row at its own unpadded length leaves prompt tokens in the completion."
    ),
    wrong=(
        'tokenizer.padding_side = "left"\noutput = model.generate(**inputs)\n'
        "lengths = inputs.attention_mask.sum(dim=1)\ncompletion = output[i, lengths[i]:]"
    ),
    right=(
        'tokenizer.padding_side = "left"\noutput = model.generate(**inputs)\n'
        "completion_ids = output[:, inputs.input_ids.shape[1]:]"
    ),
)
def cut_at_the_unpadded_length(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    if not any(node.value == "left" for _, node in code.walk(ast.Constant)):
        return
    counted = code.flow(_counts_real_tokens, lambda node: called(node) in ("max", "arange", "decode"))
    sampled = code.flow(is_generation, lambda node: called(node) in ("decode", "batch_decode"))
    for cell, node in code.walk(ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        lowers = [
            part.lower
            for part in parts
            if isinstance(part, ast.Slice) and part.lower is not None and part.upper is None
        ]
        if any(map(counted, lowers)) and sampled(node.value):
            yield (
                cell,
                f"line {node.lineno} cuts a left-padded row at its prompt's length without padding",
                "Cut all rows at the padded length, `prompt_ids.shape[1]`.",
            )


def _counts_real_tokens(node: ast.AST) -> bool:
    """The sum of an attention mask, or of ids compared with the pad id."""
    if called(node) not in ("sum", "count_nonzero"):
        return False
    summed = subject(node)
    if summed is None or mentions(summed, r"completion|response"):
        return False
    compared = any(isinstance(c, ast.Compare) and mentions(c, PAD) for c in ast.walk(summed))
    compared |= any(called(c) == "ne" and mentions(c, PAD) for c in ast.walk(summed))
    return mentions(summed, r"attention_mask|prompt_mask|attn_mask") or compared


@rule(
    "M003",
    "warning",
    why=(
        "The decoded sequence holds the prompt. A reward that reads it pays for what the user wrote, and"
        " cutting the text at `len(prompt)` goes wrong where decoding changes a single character."
    ),
    wrong="output = model.generate(**inputs)\ntext = tokenizer.decode(output[0])\nreward = reward_fn(text)",
    right=(
        "output = model.generate(**inputs)\n"
        "completion = tokenizer.decode(output[0, prompt_ids.shape[1]:], skip_special_tokens=True)\n"
        "reward = reward_fn(completion)"
    ),
)
def reward_reads_the_prompt(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    whole_ids = code.flow(is_generation, lambda node: cuts_columns(node) or _leaves_tensors(node))

    def decodes_all(node: ast.AST) -> bool:
        return called(node) in ("decode", "batch_decode") and bool(node.args) and whole_ids(node.args[0])

    whole_text = code.flow(decodes_all, lambda node: cuts_columns(node) or _cuts_text(node))
    for cell, call in code.walk(ast.Call):
        if not re.search(r"reward|^(get_|compute_)?scores?(_|$)", called(call)) or called(call) in (
            "append",
            "extend",
        ):
            continue
        if any(whole_text(argument) for argument in [*call.args, *(k.value for k in call.keywords)]):
            yield (
                cell,
                f"line {call.lineno} gives the decoded sequence, prompt included, to the reward",
                "Decode the completion's tokens only: `output[:, prompt_ids.shape[1]:]`.",
            )
    for cell, node in code.walk(ast.Subscript):
        lower = node.slice.lower if isinstance(node.slice, ast.Slice) else None
        if lower is None or not whole_text(node.value):
            continue
        if called(lower) == "len" and lower.args and not mentions(lower.args[0], r"_ids$|^ids$|tokens?$|input_ids"):
            yield (
                cell,
                f"line {node.lineno} cuts decoded text at the length of the prompt's string",
                "Cut the token ids at `prompt_ids.shape[1]` and decode the rest.",
            )


KEEPING = {
    *("to", "cpu", "detach", "clone", "tolist", "view", "reshape", "unsqueeze", "zip", "enumerate"),
    *("decode", "batch_decode"),
}


def _leaves_tensors(node: ast.AST) -> bool:
    """A call whose result is not the ids it was given: `f(output)` of the notebook's own may cut them."""
    return isinstance(node, ast.Call) and not is_generation(node) and called(node) not in KEEPING


def _cuts_text(node: ast.AST) -> bool:
    """A call that may take a part of a text: anything but decoding it and strings' harmless methods."""
    if not isinstance(node, ast.Call) or is_generation(node):
        return False
    return called(node) not in (
        "decode",
        "batch_decode",
        "strip",
        "lower",
        "zip",
        "enumerate",
        "append",
        "list",
        "rstrip",
    )


@rule(
    "M018",
    "warning",
    why=(
        "-100 is the mark of positions that a loss ignores. As an index of `gather` it raises, or reads from the end."
    ),
    wrong="labels[mask == 0] = -100\nlogps = all_logps.gather(-1, labels[..., None])",
    right="labels[mask == 0] = -100\nlogps = all_logps.gather(-1, labels.clamp(min=0)[..., None]) * mask",
)
def ignore_index_gathered(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    marked = set()
    repaired = set()
    for _, node in code.walk(ast.Assign):
        target = node.targets[0]
        if isinstance(target, ast.Subscript) and (name := plain_name(target.value)):
            value = number(node.value)
            if value == -100:
                marked.add(name)
            elif value is not None:
                repaired.add(name)

    def holds_mark(node: ast.AST) -> bool:
        if plain_name(node) in marked - repaired:
            return True
        return called(node) in ("masked_fill", "masked_fill_", "where", "full_like", "full") and any(
            number(argument) == -100 for argument in node.args
        )

    carries = code.flow(holds_mark, _removes_mark)
    for cell, call in code.calls("gather", "take_along_dim"):
        index = keyword(call, "index") or (call.args[-1] if len(call.args) > 1 else None)
        if index is not None and carries(index) and not names(index) & repaired:
            yield (
                cell,
                f"line {call.lineno} gathers with labels that hold -100",
                "Clamp the labels at 0 and mask the result.",
            )


def _removes_mark(node: ast.AST) -> bool:
    if called(node) in (
        "clamp",
        "clamp_min",
        "clamp_",
        "clip",
        "relu",
        "abs",
        "cross_entropy",
        "sum",
        "mean",
        "eq",
        "ne",
    ):
        return True
    if called(node) in ("where", "masked_fill", "masked_fill_"):
        return not any(number(argument) == -100 for argument in node.args)
    return isinstance(node, ast.Compare)


RULES: list[Callable] = [
    eos_masked_as_padding,
    cut_at_the_unpadded_length,
    reward_reads_the_prompt,
    ignore_index_gathered,
]
