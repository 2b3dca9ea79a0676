"""The prompt in what a reward is given."""

import ast
import re
from collections.abc import Iterator

from checker.reading.syntax.code import Code
from checker.reading.syntax.expressions import called, mentions, plain_name
from checker.reading.syntax.flow import Flow
from checker.rules.base import Question, Remark, Submission, rule
from checker.rules.method.vocabulary import cuts_columns, is_generation

# In an encoder and decoder the completion is a sequence of its own: `generate` does not repeat the prompt.
APART = re.compile(r"seq2seq|conditionalgeneration|(^|/|-)(flan-?)?t5|bart|pegasus", re.IGNORECASE)
SCORES_TEXT = r"reward_?(model|net|tok|pipe|head)|(^|_)rm(_|$)|classifi|pipe|sentiment|toxicity"


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


RULES = [reward_reads_the_prompt]
