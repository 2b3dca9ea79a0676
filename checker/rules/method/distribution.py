"""Completions sampled from one distribution and scored under another."""

import ast
import re
from collections.abc import Iterator

from checker.reading.syntax.code import Code
from checker.reading.syntax.expressions import called, keyword, mentions, number, operands, parameters, plain_name
from checker.reading.syntax.flow import Flow
from checker.reading.syntax.settings import Frame, given, value
from checker.rules.base import Question, Remark, Submission, rule
from checker.rules.method.vocabulary import MODEL, SCORES, is_generation

SCORER = r"log_?p(rob)?s?(_|$)|log_?probs?|sequence_logp|token_logp|logprobs"
LOGPS = re.compile(r"^(\w+_)?log_?p(rob)?s$", re.IGNORECASE)  # what the result of a scoring function is called
NO_CHANGE = (None, -1, 0, 1)  # settings that leave the distribution as it is
SETTINGS = ("temperature", "top_k", "top_p", "min_p")
DRAWS = ("multinomial", "Categorical")
DEEP = 3  # calls from a training step to what samples, and to what scores
ASIDE = r"eval|test|demo|show|chat|baseline|compare|infer|accuracy|valid"


@rule(
    "M015",
    "warning",
    why=(
        "Tokens are drawn from one distribution (tempered, or cut to the top k) and scored under another: the"
        " ratio is not 1 before the first update, and the gradient is that of neither."
    ),
    wrong="out = model.generate(**inputs, do_sample=True, temperature=0.7)\nlogps = model(out).logits.log_softmax(-1)",
    right=(
        "out = model.generate(**inputs, do_sample=True, temperature=0.7)\n"
        "logps = (model(out).logits / 0.7).log_softmax(-1)"
    ),
    asks=(
        "It is asserted where the notebook shows the samples going into what scores them. Where that cannot be followed"
        " it is asked: they may be for another purpose."
    ),
)
def sampled_and_scored_differently(submission: Submission) -> Iterator[Remark]:
    """In every step that both samples and scores: a function, or a cell outside of functions."""
    code = submission.code
    samples = any(True for _ in code.calls("generate", "SamplingParams", *DRAWS))
    scores = any(True for _ in code.calls(*SCORES)) or any(LOGPS.search(name) for _, name in code.bindings)
    if not samples or not scores:
        return
    accounted = {"temperature"} if _scores_tempered(code) else set()
    aside = _cells_aside(submission)
    steps = [(cell, step) for cell, step in (*_steps(code), *_steps_over_cells(code)) if cell not in aside]
    changed = {step: _changed(code, step, accounted) for _, step in steps}
    told = {step for step, calls in changed.items() if calls}
    for cell, step in steps:
        for call, settings in changed[step].items():
            if not _is_told_inside(code, call, told, DEEP):
                yield _told(code, cell, call, settings)


def _told(code: Code, cell: int, call: ast.Call, settings: str) -> Remark:
    """Asserted where what is sampled can be followed into what scores it, else asked: it may be for another purpose."""
    scores = [part for _, part in code.walk(ast.Call) if part is not call and _scores(code, part, DEEP)]
    if _are_scored(code, [call], scores):
        return (
            cell,
            f"line {call.lineno} samples with {settings}, and the log-probabilities are of the plain distribution",
            "Divide the logits by the temperature before `log_softmax`, and leave top_k=0, top_p=1.0.",
        )
    return Question(
        cell,
        f"line {call.lineno}: are these samples, drawn with {settings}, scored as if drawn without?",
        "The ratio is then not 1 before the first update; divide the logits when scoring, leave top_k=0, top_p=1.0.",
    )


def _changed(code: Code, step: ast.AST, accounted: set[str]) -> dict[ast.Call, str]:
    """The calls of a step that sample from another distribution than the one scored, with what changes it, in words."""
    frame = Frame(step if isinstance(step, ast.FunctionDef) else None)
    found = {}
    for call in code.calls_in(step):
        drawn = _drawn_with(code, call, frame, DEEP)
        changed = {name: n for name, n in drawn.items() if n not in NO_CHANGE and name not in accounted}
        if changed and not _is_aside(code, call) and not _is_only_shown(code, call, DEEP):
            found[call] = " and ".join(f"{name}={n}" for name, n in changed.items())
    # Where settings are made by one call and handed to another, both sample with them: the mistake is told once.
    handed = [keyword(call, "generation_config", "sampling_params") for call in found]
    made = [code.resolve(config) for config in handed if config is not None]
    return {call: settings for call, settings in found.items() if call not in made}


def _cells_aside(submission: Submission) -> set[int]:
    """The cells of a course's notebook in which nothing is trained; none for one that is not laid out so."""
    if not {4, 5, 6} <= set(submission.sections):
        return set()
    return {cell.number for section in (2, 3, 7, 8) for cell in submission.sections.get(section, [])}


def _steps(code: Code) -> Iterator[tuple[int, ast.AST]]:
    """(cell, function or module) of what samples in one call and scores in another."""
    holders = [(tree.cell, tree.module) for tree in code.trees]
    holders += [pair for pair in code.walk(ast.FunctionDef) if not re.search(ASIDE, pair[1].name)]
    for cell, holder in holders:
        calls = code.calls_in(holder)
        samples = [call for call in calls if _samples(code, call, DEEP)]
        scores = [call for call in calls if _scores(code, call, DEEP)]
        if samples and any(call not in samples for call in scores):
            yield cell, holder


def _steps_over_cells(code: Code) -> Iterator[tuple[int, ast.AST]]:
    """(cell, module) of what samples outside of functions, and is scored outside of functions in a later cell."""
    modules = [(tree.cell, tree.module) for tree in code.trees]
    for place, (cell, module) in enumerate(modules):
        calls = code.calls_in(module)
        samples = [call for call in calls if _samples(code, call, DEEP)]
        if not samples or any(_scores(code, call, DEEP) for call in calls):
            continue
        later = [call for _, below in modules[place + 1 :] for call in code.calls_in(below)]
        if _are_scored(code, samples, [call for call in later if _scores(code, call, DEEP)]):
            yield cell, module


def _are_scored(code: Code, samples: list[ast.Call], scores: list[ast.Call]) -> bool:
    """True if the samples go into what scores."""
    carries = Flow(code, lambda node: node in samples, lambda node: called(node) in ("decode", "batch_decode"))
    return any(carries(value) for call in scores for value in call.args)


def _is_told_inside(code: Code, call: ast.Call, steps: set[ast.AST], deep: int) -> bool:
    """True if the function that is called samples and scores itself: the mistake is there, and told there once."""
    function = code.procedure(call)
    if not deep or function is None:
        return False
    return function in steps or any(_is_told_inside(code, part, steps, deep - 1) for part in code.calls_in(function))


def _samples(code: Code, call: ast.Call, deep: int) -> bool:
    """True if a call draws completions, itself or in a function of the notebook's own."""
    if is_generation(call) or called(call) in (*DRAWS, "SamplingParams"):
        return True
    function = code.procedure(call)
    return bool(deep and function) and any(_samples(code, inner, deep - 1) for inner in code.calls_in(function))


def _scores(code: Code, call: ast.Call, deep: int) -> bool:
    if called(call) in SCORES:
        return True
    function = code.procedure(call)
    if function is None:
        return _is_scored_elsewhere(code, call)
    return bool(deep and function) and any(_scores(code, inner, deep - 1) for inner in code.calls_in(function))


def _is_scored_elsewhere(code: Code, call: ast.Call) -> bool:
    """`logps = other_file.score(model, ids)`: log-probabilities by a function that is not in the notebook."""
    holder = code.parent(call)
    is_named = isinstance(holder, ast.Assign) and LOGPS.search(plain_name(holder.targets[0]))
    return bool(is_named) and len(call.args) > 1 and mentions(call.args[0], MODEL)


def _drawn_with(code: Code, call: ast.Call, frame: Frame, deep: int) -> dict[str, float | None]:
    """The settings under which a call samples, by name; {} for one that does not, or that takes the likeliest token."""
    if is_generation(call) or called(call) in ("SamplingParams", "GenerationConfig"):
        greedy = getattr(given(code, call, "do_sample"), "value", True) is False
        return {} if greedy else {name: value(code, given(code, call, name), frame) for name in SETTINGS}
    function = code.procedure(call)
    if not deep or function is None or not _samples(code, call, deep):
        return {}
    inner = Frame(function, call, frame)
    found: dict[str, float | None] = {}
    for part in code.calls_in(function):
        found |= {name: n for name, n in _drawn_with(code, part, inner, deep - 1).items() if n is not None}
    if any(called(part) in DRAWS for part in code.calls_in(function)):
        cuts = {"top_k", "top_p", "min_p"} & parameters(function)
        used = {plain_name(part): part for part in code.inside(function) if plain_name(part) in cuts}
        found |= {name: value(code, part, inner) for name, part in used.items()}
        for node, temperature in _tempered(code):
            if code.scope(node) is function:
                found["temperature"] = value(code, temperature, inner)
    return found


def _is_aside(code: Code, call: ast.Call) -> bool:
    """True if a call has to do with an evaluation or a demonstration: by its own name, by that of its result, or by
    that of a call among whose arguments it stands.
    """
    statement = code.within(call, ast.Assign)
    held_by = [called(call), getattr(code.scope(call), "name", "")]
    held_by += [called(parent) for parent in code.parents(call) if isinstance(parent, ast.Call)]
    held_by += [plain_name(target) for target in statement.targets] if statement else []
    return any(re.search(ASIDE, name) for name in held_by)


# Functions that are handed something to be looked at; methods, `out.tolist()` for instance, are no calls with it.
LOOKED_AT = ("print", "display", "decode", "batch_decode", "to_string", "len", "str", "join", "format")


def _is_only_shown(code: Code, node: ast.AST, deep: int) -> bool:
    """True if the result of a call is decoded and printed, and nothing else: a look at what the model says."""
    below = node
    for parent in code.parents(node):
        if isinstance(parent, ast.Call) and below is not parent.func and called(parent) not in LOOKED_AT:
            return False
        if called(parent) in ("print", "display"):
            return True
        if isinstance(parent, ast.Assign):
            uses = _uses(code, parent) if deep else []
            return bool(uses) and all(_is_only_shown(code, use, deep - 1) for use in uses)
        if isinstance(parent, (ast.stmt, ast.comprehension)):
            return False
        below = parent
    return False


def _uses(code: Code, statement: ast.Assign) -> list[ast.AST]:
    """The places in its function that read the names an assignment binds; none for a part of something, `x[0] = y`."""
    bound = [part for target in statement.targets for part in code.inside(target)]
    if not all(isinstance(part, (ast.Name, ast.Tuple)) for part in bound):
        return []
    known = {plain_name(part) for part in bound}
    here = code.scope(statement)
    return [n for _, n in code.walk(ast.Name) if n.id in known and n not in bound and code.scope(n) is here]


def _tempered(code: Code) -> Iterator[tuple[ast.AST, ast.expr]]:
    """(node, temperature) of every division of logits."""
    for _, node in code.walk(ast.BinOp, ast.AugAssign):
        left, right = operands(node)
        holder = code.parent(node)
        named = holder.targets if isinstance(holder, ast.Assign) else []
        if isinstance(node.op, ast.Div) and any(mentions(part, r"logits?|scores|outputs?$") for part in (left, *named)):
            if mentions(right, r"temp|tau|^T$") or number(code.resolve(right)) is not None:
                yield node, right
    for _, call in code.calls("div", "div_"):
        if mentions(call.func, "logit") and call.args:
            yield call, call.args[0]


def _is_temperature(node: ast.expr) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute)) and mentions(node, "temp")


def _only_samples(code: Code, node: ast.AST) -> bool:
    """True if the function around a node draws tokens and scores none."""
    scope = code.scope(node)
    inside = {called(part) for part in code.inside(scope)} if scope is not None else set()
    return bool(inside & set(DRAWS)) and not inside & set(SCORES)


def _scores_tempered(code: Code) -> bool:
    """True if logits are divided by a temperature where they are scored, or a scoring call gets a temperature."""
    return any(not _only_samples(code, node) for node, _ in _tempered(code)) or any(
        re.search(SCORER, called(call), re.I)
        and (keyword(call, "temperature") or any(_is_temperature(a) for a in call.args))
        for _, call in code.walk(ast.Call)
    )


RULES = [sampled_and_scored_differently]
