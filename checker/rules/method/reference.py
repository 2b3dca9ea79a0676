"""A reference that is no reference: the policy itself, or scored as if it were to be trained."""

import ast
import re
from collections.abc import Iterator

from checker.reading.syntax.code import Code
from checker.reading.syntax.expressions import argument, called, keyword, mentions, names, parameters, plain_name
from checker.rules.base import Remark, Submission, rule
from checker.rules.method.gradients import is_quiet
from checker.rules.method.vocabulary import MODEL, is_reference

FROZEN_NAME = r"(^|_)ref(erence)?(_|$)|^ref(model|policy)$"


def _is_reference_model(node: ast.AST) -> bool:
    """`ref_model`, `self.ref`, `reference_policy`: a model called the reference."""
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return False
    own = node.id if isinstance(node, ast.Name) else node.attr
    return bool(re.search(FROZEN_NAME, own, re.IGNORECASE)) and not re.search(
        r"log|prob|reward|score|ids|kl|text|output|name|path|token|answer|loss", own, re.IGNORECASE
    )


@rule(
    "M021",
    "question",
    why=(
        "Nothing is learned through the reference. Scored with gradients on it takes the memory of a second training"
        " step, and where it shares weights with the policy it is trained along."
    ),
    wrong="ref_logits = ref_model(ids).logits\nlogits = model(ids).logits\nloss.backward()",
    right="with torch.no_grad():\n    ref_logits = ref_model(ids).logits\nlogits = model(ids).logits\nloss.backward()",
)
def reference_with_gradients(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    if not any(True for _ in code.calls("backward")) or _is_frozen(code):
        return
    layers = _layers(code)
    for cell, call in code.walk(ast.Call):
        if not _scores_with_the_reference(code, call) or is_quiet(code, call) or _is_let_go(code, call):
            continue
        if isinstance(call.func, ast.Attribute) and call.func.attr in layers:
            continue
        if re.search("eval|test|generat|sampl", getattr(code.scope(call), "name", "")) or _is_tried_out(code, call):
            continue
        yield (
            cell,
            f"line {call.lineno}: does scoring with the reference need gradients?",
            "Nothing is learned through it; under `with torch.no_grad():` it takes no memory of a training step.",
        )


def _layers(code: Code) -> set[str]:
    """The attributes that are layers of a network, `self.W_ref = nn.Linear(...)`, whatever they are called."""
    made = (
        node
        for _, node in code.walk(ast.Assign)
        if isinstance(node.value, ast.Call) and mentions(node.value.func, "^nn$")
    )
    return {target.attr for node in made for target in node.targets if isinstance(target, ast.Attribute)}


def _is_tried_out(code: Code, call: ast.Call) -> bool:
    """True if a call stands outside of functions, in a cell that trains nothing."""
    tree, _ = code.place(call)
    trained = (code.place(backward)[0] for _, backward in code.calls("backward"))
    return code.scope(call) is None and tree not in trained


def _scores_with_the_reference(code: Code, call: ast.Call) -> bool:
    """`ref_model(ids)`, `ref_model.forward(ids)`, or `logps(ref_model, ids)` with a function that keeps gradients."""
    if _is_reference_model(call.func):
        return bool(call.args or call.keywords)
    if called(call) == "forward" and isinstance(call.func, ast.Attribute):
        return _is_reference_model(call.func.value)
    function = code.procedure(call)
    if function is None or not any(_is_reference_model(value) for value in call.args):
        return False
    own = parameters(function)
    passes = [inner for inner in code.calls_in(function) if plain_name(inner.func) in own]
    return bool(passes) and not any(is_quiet(code, inner) for inner in passes) and not _returns_numbers(code, function)


def _returns_numbers(code: Code, function: ast.AST) -> bool:
    """True if a function lets go of the graph before it returns: `.item()`, `.detach()`, `.tolist()`."""
    return any(called(inner) in ("item", "detach", "tolist", "numpy") for inner in code.calls_in(function))


def _is_frozen(code: Code) -> bool:
    """True if gradients of the reference are switched off, in a loop over its parameters or by a function for it."""
    for _, loop in code.walk(ast.For):
        if called(loop.iter) in ("parameters", "named_parameters") and is_reference(loop.iter):
            return any("requires_grad" in name for part in loop.body for name in names(part))
    for _, call in code.walk(ast.Call):
        asked = [call.func, *call.args]
        if re.search("freeze|requires_grad_", called(call)) and any(is_reference(node) for node in asked):
            return True
    forwards = [node for _, node in code.walk(ast.FunctionDef) if node.name == "forward"]
    return any(is_quiet(code, inner) for forward in forwards for inner in code.calls_in(forward))


def _is_let_go(code: Code, call: ast.Call) -> bool:
    """True if the result is detached, there or where its name is used."""
    statement = code.within(call, ast.Assign)
    made = {name for target in statement.targets for name in names(target)} if statement else set()
    for _, detach in code.calls("detach", "item", "detach_"):
        if code.scope(detach) is code.scope(call) and (names(detach) & made or call in code.inside(detach)):
            return True
    return False


@rule(
    "M022",
    "question",
    why=(
        "`ref_model = model` gives the same model a second name: it is trained with the policy, the KL stays 0, and"
        " nothing holds the policy back."
    ),
    wrong="ref_model = model\nloss.backward()",
    right="ref_model = copy.deepcopy(model).eval()\nloss.backward()",
)
def reference_is_the_policy(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    trains = any(True for _ in code.calls("backward", "train"))
    if not trains or any(True for _ in code.calls("disable_adapter")):
        return
    trained = _optimised(code)
    for cell, node in code.walk(ast.Assign):
        if not any(_is_reference_model(target) for target in node.targets) or not _is_the_policy(node.value):
            continue
        if not trained or names(node.value) & trained:
            yield cell, *_one_model(node.lineno, node.value)
    for cell, call in code.walk(ast.Call):
        reference = _passed(code, call, ("ref_model", "reference_model", "ref_policy"))
        if reference is None or not _is_the_policy(reference):
            continue
        policy = _passed(code, call, ("model", "policy", "policy_model"))
        if plain_name(reference) and plain_name(reference) == plain_name(policy):
            yield cell, *_one_model(reference.lineno, reference)


def _passed(code: Code, call: ast.Call, wanted: tuple[str, ...]) -> ast.expr | None:
    """The value that a call passes for the first of these parameters, by name or, in the notebook's own functions,
    by place.
    """
    function = code.procedure(call)
    own = set() if function is None else parameters(function)
    values = (argument(call, function, name) if name in own else keyword(call, name) for name in wanted)
    return next((value for value in values if value is not None), None)


def _optimised(code: Code) -> set[str]:
    """The names of the models whose parameters an optimiser is given; empty where none is seen."""
    found: set[str] = set()
    for _, call in code.calls("parameters"):
        makers = [called(parent) for parent in code.parents(call) if isinstance(parent, ast.Call)]
        if any(re.search("Adam|SGD|RMSprop|Optim|Adafactor|Lion", maker) for maker in makers):
            found |= names(call.func) - {"parameters", "self"}
    return found


def _is_the_policy(node: ast.expr) -> bool:
    """A bare name of a model that is not itself called a reference, a base or a copy."""
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return False
    own = node.id if isinstance(node, ast.Name) else node.attr
    return mentions(ast.Name(own), MODEL) and not is_reference(ast.Name(own)) and not re.search("copy|old|name", own)


def _one_model(line: int, policy: ast.expr) -> tuple[str, str]:
    return (
        f"line {line}: is the reference the policy itself ({ast.unparse(policy)[:40]})?",
        "Under a second name it is trained along and the KL stays 0; `copy.deepcopy(model).eval()` is a copy.",
    )


RULES = [reference_with_gradients, reference_is_the_policy]
