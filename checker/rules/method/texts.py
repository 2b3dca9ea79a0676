"""Mistakes between text and tokens: a completion that is tokenised again, a prompt that is padded on the wrong side."""

import ast
import re
from collections.abc import Iterator

from checker.reading.syntax.code import Code
from checker.reading.syntax.expressions import called, keyword, mentions, plain_name
from checker.reading.syntax.flow import Flow
from checker.rules.base import Remark, Submission, rule
from checker.rules.method.vocabulary import MODEL, is_generation

TOKENIZES = ("tokenizer", "tok", "encode", "encode_plus", "apply_chat_template")
LOGITS = ("log_softmax", "cross_entropy", "logsumexp", "selective_log_softmax", "gather")
SCORES = re.compile(r"log_?p(rob)?s?(_|$)")  # a function of the notebook's own that gives log-probabilities
OTHER_MODELS = r"reward|(^|_)(ref|rm|value|judge)(_|$)"
PADS_RIGHT = re.compile(r"gpt-?(2|neo|j)|pythia|(^|/)opt-|tinystories", re.IGNORECASE)


@rule(
    "M026",
    "question",
    why=(
        "Other tokens can spell the same text. What the policy is credited with is then not what it drew, and its ratio"
        " is not 1 before the first update."
    ),
    wrong=(
        "text = tokenizer.decode(model.generate(**x)[0])\nids = tokenizer(text, return_tensors='pt').input_ids\n"
        "logps = model(ids).logits.log_softmax(-1)\nloss = -(advantages * logps).mean()"
    ),
    right=("ids = model.generate(**x)\nlogps = model(ids).logits.log_softmax(-1)\nloss = -(advantages * logps).mean()"),
)
def tokenised_again(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    trains = any(re.search(r"adv|reward|return", node.id, re.IGNORECASE) for _, node in code.walk(ast.Name))
    if not trains:
        return
    ids = Flow(code, is_generation, lambda node: False)
    said = Flow(code, lambda node: called(node) in ("decode", "batch_decode") and any(map(ids, node.args)), _judges)
    again = Flow(code, lambda node: _tokenizes(node) and any(map(said, node.args)), _judges)
    told = set()
    takes_logits = any(True for _ in code.calls(*LOGITS))
    for cell, call in code.walk(ast.Call):
        is_scored = _passes_forward(call) and takes_logits or SCORES.search(called(call))
        if not is_scored or cell in told or _asks_another_model(code, call):
            continue
        if any(again(value) for value in [*call.args, *(k.value for k in call.keywords)]):
            told.add(cell)
            yield (
                cell,
                f"line {call.lineno}: is this text, tokenised again, the tokens that were drawn?",
                "Keep the ids that `generate` returned: other tokens can spell the same text.",
            )


def _tokenizes(node: ast.AST) -> bool:
    return called(node) in TOKENIZES


def _judges(node: ast.AST) -> bool:
    """A reward or another model, which may read the text as it likes."""
    return isinstance(node, ast.Call) and bool(re.search(r"reward|score|judge|classif|(^|_)rm(_|$)", called(node)))


def _passes_forward(call: ast.Call) -> bool:
    """A call of the policy itself: `model(ids)`, `self.policy(input_ids=ids)`."""
    return (
        mentions(call.func, MODEL)
        and called(call) not in (*TOKENIZES, "generate")
        and not mentions(call.func, rf"{OTHER_MODELS}|(^|_)from(_|$)|generate|train|eval|parameters")
    )


def _asks_another_model(code: Code, call: ast.Call) -> bool:
    """True for `get_logps(ref_model, ids)`, and for `model(ids)` in a function that is given such a model alone."""
    passed = code.given.get(code.variable(call.func), []) if isinstance(call.func, ast.Name) else []
    return any(mentions(value, OTHER_MODELS) for value in call.args[:1]) or (
        bool(passed) and all(mentions(value, OTHER_MODELS) for value in passed)
    )


@rule(
    "M028",
    "question",
    why=(
        "A model that is padded on the right goes on behind the padding: what it says to a shorter prompt is not what"
        " it would say to that prompt alone."
    ),
    wrong=(
        'tokenizer = AutoTokenizer.from_pretrained("gpt2")\nbatch = tokenizer(prompts, padding=True)\n'
        "out = model.generate(**batch)"
    ),
    right=(
        'tokenizer = AutoTokenizer.from_pretrained("gpt2", padding_side="left")\n'
        "batch = tokenizer(prompts, padding=True)\nout = model.generate(**batch)"
    ),
)
def padded_on_the_right(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    written = {node.value for _, node in code.walk(ast.Constant) if isinstance(node.value, str)}
    if "left" in written or not ("right" in written or _is_one_that_pads_right(code)):
        return
    padded = Flow(code, lambda node: _pads(code, node), lambda node: False)
    for cell, call in code.calls("generate"):
        if is_generation(call) and any(padded(value) for value in [*call.args, *(k.value for k in call.keywords)]):
            yield (
                cell,
                f"line {call.lineno}: are these prompts padded on the right?",
                'The completion then begins behind the padding: `tokenizer.padding_side = "left"` before they are made.',
            )
            return


def _is_one_that_pads_right(code: Code) -> bool:
    """True if a tokenizer is loaded whose own setting is the right, GPT-2's for instance."""
    named = [code.resolve(call.args[0]) for _, call in code.calls("from_pretrained") if call.args]
    return any(isinstance(name, ast.Constant) and PADS_RIGHT.search(str(name.value)) for name in named)


def _pads(code: Code, node: ast.AST) -> bool:
    """A call that makes a batch of one length: `tokenizer(prompts, padding=True)`, or a loader whose function does."""
    if not isinstance(node, ast.Call):
        return False
    padding = keyword(node, "padding")
    collates = code.functions.get(plain_name(keyword(node, "collate_fn")))
    if collates is not None:
        return any(_pads(code, call) for call in code.calls_in(collates))
    return isinstance(padding, ast.Constant) and padding.value in (True, "longest", "max_length")


RULES = [tokenised_again, padded_on_the_right]
