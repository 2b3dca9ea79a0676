"""Mistakes with token ids: prompt lengths, decoding, labels."""

import ast
import re
from collections.abc import Callable, Iterator

from checker.reading.syntax.code import Code
from checker.reading.syntax.expressions import called, keyword, mentions, names, number, plain_name, subject
from checker.reading.syntax.flow import Flow
from checker.rules.base import Question, Remark, Submission, rule
from checker.rules.method.vocabulary import PAD, cuts_columns, is_generation

# In an encoder and decoder the completion is a sequence of its own: `generate` does not repeat the prompt.
APART = re.compile(r"seq2seq|conditionalgeneration|(^|/|-)(flan-?)?t5|bart|pegasus", re.IGNORECASE)
SCORES_TEXT = r"reward_?(model|net|tok|pipe|head)|(^|_)rm(_|$)|classifi|pipe|sentiment|toxicity"


@rule(
    "M002",
    "question",
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
    counted = Flow(code, _counts_real_tokens, lambda node: called(node) in ("max", "arange", "decode"))
    sampled = Flow(code, is_generation, lambda node: called(node) in ("decode", "batch_decode"))
    for cell, node in code.walk(ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        lowers = [part.lower for part in parts if isinstance(part, ast.Slice) and part.lower is not None]
        if any(map(counted, lowers)) and sampled(node.value):
            yield (
                cell,
                f"line {node.lineno}: is a left-padded row cut at its prompt's length without the padding?",
                "Its completion begins at the padded length, `prompt_ids.shape[1]`, as in every row.",
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
    asks=(
        "That text is cut at the length of the prompt's string is asserted. That a reward is given the prompt is asked:"
        " a reward model wants it, and a function may cut it off."
    ),
)
def reward_reads_the_prompt(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    if not any(True for _ in code.calls("decode", "batch_decode")) or _completions_come_apart(code):
        return
    whole_ids = Flow(code, is_generation, lambda node: cuts_columns(node) or _leaves_tensors(node))

    def decodes_all(node: ast.AST) -> bool:
        return called(node) in ("decode", "batch_decode") and bool(node.args) and whole_ids(node.args[0])

    whole_text = Flow(code, decodes_all, lambda node: cuts_columns(node) or _cuts_text(node))
    # A reward may be meant to read the prompt, so this is asked. Text that is cut by the length of a string is always
    # wrong, so that is asserted, below.
    for cell, call in code.walk(ast.Call):
        if not re.search(r"reward|^(get_|compute_)?scores?(_|$)", called(call)) or _is_learned(code, call):
            continue
        if any(whole_text(argument) for argument in [*call.args, *(k.value for k in call.keywords)]):
            yield Question(
                cell,
                f"line {call.lineno}: does this reward read the prompt as well?",
                "The decoded sequence holds it; `output[:, prompt_ids.shape[1]:]` is the completion alone.",
            )
    for cell, node in code.walk(ast.Subscript):
        lower = node.slice.lower if isinstance(node.slice, ast.Slice) else None
        if lower is None or not whole_text(node.value) or _is_known_to_begin_so(code, node):
            continue
        if called(lower) == "len" and lower.args and not mentions(lower.args[0], r"_ids$|^ids$|tokens?$|input_ids"):
            yield (
                cell,
                f"line {node.lineno} cuts decoded text at the length of the prompt's string",
                "Cut the token ids at `prompt_ids.shape[1]` and decode the rest.",
            )


def _completions_come_apart(code: Code) -> bool:
    """True if the model is an encoder and decoder, by the name of its class or its checkpoint."""
    named = (called(call.func.value) or plain_name(call.func.value) for _, call in _loads(code))
    written = (node.value for _, call in _loads(code) for node in [*call.args] if isinstance(node, ast.Constant))
    return any(APART.search(str(name)) for name in [*named, *written])


def _loads(code: Code) -> Iterator[tuple[int, ast.Call]]:
    return (pair for pair in code.calls("from_pretrained") if isinstance(pair[1].func, ast.Attribute))


def _is_learned(code: Code, call: ast.Call) -> bool:
    """True if the reward comes from a model that was trained on prompt and completion together, and needs both."""
    function = code.procedure(call)
    asked = [call.func, *call.args, *(k.value for k in call.keywords)]
    if any(mentions(node, SCORES_TEXT) for node in asked):
        return True
    inside = [] if function is None else code.calls_in(function)
    return any(
        called(part) in ("tokenizer", "tok", "encode_plus") or mentions(part.func, SCORES_TEXT) for part in inside
    )


def _is_known_to_begin_so(code: Code, node: ast.AST) -> bool:
    """True if the cut stands under `if text.startswith(prompt)`: then the length is the right one."""
    holders = [parent for parent in code.parents(node) if isinstance(parent, (ast.If, ast.IfExp))]
    return any(called(part) == "startswith" for holder in holders for part in code.inside(holder.test))


KEEPING = ("to", "cpu", "detach", "clone", "tolist", "view", "reshape", "unsqueeze", "zip", "enumerate")
HARMLESS = ("strip", "rstrip", "lower", "zip", "enumerate", "list")  # to a text, or to a list of texts


def _leaves_tensors(node: ast.AST) -> bool:
    """A call whose result is not the ids it was given: `f(output)` of the notebook's own may cut them."""
    return isinstance(node, ast.Call) and called(node) not in KEEPING


def _cuts_text(node: ast.AST) -> bool:
    """A call that may take a part of a text: anything but strings' harmless methods."""
    return isinstance(node, ast.Call) and called(node) not in HARMLESS


@rule(
    "M018",
    "question",
    why=(
        "-100 is the mark of positions that a loss ignores. As an index of `gather` it raises, or reads from the end."
    ),
    wrong="labels[mask == 0] = -100\nlogps = all_logps.gather(-1, labels[..., None])",
    right="labels[mask == 0] = -100\nlogps = all_logps.gather(-1, labels.clamp(min=0)[..., None]) * mask",
)
def ignore_index_gathered(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    if not _speaks_of_the_mark(code):
        return
    marked = set()
    repaired = set()
    for _, node in code.walk(ast.Assign):
        target = node.targets[0]
        if isinstance(target, ast.Subscript) and plain_name(target.value):
            value = number(node.value)
            if value == -100:
                marked.add(code.variable(target.value))
            elif value is not None:
                # `labels[labels == -100] = 0` takes the mark out again.
                repaired.add(plain_name(target.value))

    def holds_mark(node: ast.AST) -> bool:
        if isinstance(node, ast.Name) and code.variable(node) in marked and node.id not in repaired:
            return True
        return called(node) in ("masked_fill", "masked_fill_", "where", "full_like", "full") and any(
            number(argument) == -100 for argument in node.args
        )

    carries = Flow(code, holds_mark, _removes_mark)
    for cell, call in code.calls("gather", "take_along_dim"):
        index = keyword(call, "index") or (call.args[-1] if len(call.args) > 1 else None)
        if index is not None and carries(index) and not names(index) & repaired:
            yield (
                cell,
                f"line {call.lineno}: can -100 be among the labels that are gathered with?",
                "As an index it raises, or reads from the end: clamp the labels at 0 and mask the result.",
            )


def _speaks_of_the_mark(code: Code) -> bool:
    """True if -100 is written anywhere; where it is not, nothing can hold it."""
    minus = (node for _, node in code.walk(ast.UnaryOp) if isinstance(node.op, ast.USub))
    return any(number(node) == -100 for node in minus)


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
    cut_at_the_unpadded_length,
    reward_reads_the_prompt,
    ignore_index_gathered,
]
