"""The checks of the exercises: what they said, whether they could say it, and whether grading could."""

import ast
from collections.abc import Iterator
from functools import partial
from itertools import islice

from checker.reading.slicing.numbers import root_of
from checker.reading.slicing.slices import slice_of
from checker.reading.syntax.checks import MODULE, Names, brought, names_of
from checker.reading.syntax.code import Code
from checker.reading.syntax.expressions import FUNCTIONS, called, parameters, plain_name
from checker.reading.syntax.statements import definitions
from checker.rules.base import Remark, Submission, rule

MOST_FUNCTIONS = 40  # of a notebook; one of the course has a dozen
# Names of the notebooks that grading has whenever a function is called: the stand-ins of exercises, and the tokenizer.
SUPPLIED = frozenset("G MAX_NEW_TOKENS MOST PER_ROUND REWARDS SAMPLING correctness learn sample tokenizer".split())
# What notebooks are handed out with: of these grading knows a length, or a number that is an attribute.
MADE = frozenset(("train_rows", "eval_rows", "held_out", "model", "policy"))
OF_ANY_TASK = ("cases", "reward_function", "rows")  # checks whose functions may use anything of the course


@rule(
    "C001",
    "error",
    why="The check compared the function with the reference, and the two differ.",
    wrong="✗ per-token KL: it returned the shape (2,); expected (2, 3).",
    right="✓ per-token KL: right on 2 probes.",
)
def check_failed(submission: Submission) -> Iterator[Remark]:
    for result in submission.check_results:
        if not result.passed and not result.blank:  # of what is blank F001 tells
            yield (
                result.cell,
                f"✗ {result.exercise}: {result.said}".rstrip("."),
                "Mend the function, and run the notebook from the top.",
            )


@rule(
    "C002",
    "error",
    why="A check that was written over says what its author wants to hear.",
    wrong="check.grpo_loss = lambda function: print('✓ GRPO loss: right on 3 probes.')",
    right="from shared import check",
)
def check_redefined(submission: Submission) -> Iterator[Remark]:
    names = names_of(submission.code.trees)
    for cell, node, name in _takes_its_place(submission.code, names):
        yield cell, f"line {node.lineno} redefines `{name}`", "Take it out, and use the course's own checks."


def _takes_its_place(code: Code, names: Names) -> Iterator[tuple[int, ast.AST, str]]:
    """Every statement outside of functions by which the checks' name stands for something else, or a part of it does."""
    if not any(names.check(call) for _, call in code.walk(ast.Call)):
        return
    for cell, node in code.walk(ast.Assign, ast.AnnAssign, ast.For, ast.With, ast.Delete):
        targets = _targets(node)
        name = next(filter(None, (_of_checks(part, names) for part in targets)), "")
        own = isinstance(node, ast.Assign) and names.is_module(node.value)  # a further name for the same
        if name and not own and (code.scope(node) is None or _reaches_in(targets)):
            yield cell, node, name
    for cell, node in code.walk(ast.FunctionDef, ast.ClassDef):
        if node.name in names.modules and code.scope(node) is None:
            yield cell, node, node.name
    for cell, node in code.walk(ast.Import, ast.ImportFrom):
        for name, what in brought(node):
            if name in names.modules and what != MODULE:
                yield cell, node, name
    for cell, call in code.calls("setattr", "patch"):
        if call.args and names.is_module(call.args[0]):
            yield cell, call, ast.unparse(call.args[0])


def _targets(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.With):
        return [item.optional_vars for item in node.items if item.optional_vars is not None]
    return getattr(node, "targets", None) or [node.target]


def _of_checks(target: ast.expr, names: Names) -> str:
    """The checks' name where it is set by `check`, `check.grpo_loss`, or a tuple that holds one of them; else ""."""
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
    looked_at = [expression for part in parts for expression in (part, getattr(part, "value", None))]
    return next((ast.unparse(expression) for expression in looked_at if names.is_module(expression)), "")


def _reaches_in(targets: list[ast.expr]) -> bool:
    """True if an attribute of `check` is set, which works from inside a function too."""
    return any(isinstance(target, ast.Attribute) for target in targets)


@rule(
    "C003",
    "error",
    why="What does not depend on what it is given returns the same for every input: it is not the function asked for.",
    wrong="def per_token_kl(logps, ref_logps):\n    return torch.tensor([[0.1, 0.2], [0.3, 0.4]])",
    right="def per_token_kl(logps, ref_logps):\n    log_r = ref_logps - logps\n    return torch.exp(log_r) - log_r - 1",
)
def arguments_ignored(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    names = names_of(code.trees)
    told = set()
    for _, call in code.walk(ast.Call):
        if not names.check(call) or len(call.args) != 1:
            continue
        function = (
            call.args[0] if isinstance(call.args[0], ast.Lambda) else code.functions.get(plain_name(call.args[0]))
        )
        if not isinstance(function, FUNCTIONS) or function in told or not _ignores_its_arguments(code, function):
            continue
        told.add(function)
        tree, _ = code.place(function)
        yield (
            code.trees[tree].cell,
            f"line {function.lineno}: {getattr(function, 'name', 'the function')} uses none of its arguments",
            "Work out the result from the arguments.",
        )


def _ignores_its_arguments(code: Code, function: ast.AST) -> bool:
    """True if a function with arguments reads none of them. One that is still to be filled in is told elsewhere."""
    given = parameters(function) - {"self"}
    body = code.inside(function)[1:]
    reads = {node.id for node in body if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    everything = any(called(node) in ("locals", "vars") for node in body)
    unfilled = "NotImplementedError" in reads
    return bool(given) and not unfilled and not everything and not given & reads


@rule(
    "C004",
    "warning",
    why=(
        "Grading calls each function of an exercise by itself. What a run of the notebook makes with the course's help,"
        " such as a model, its device or the rows of a data set, is not there. It knows the number of rows alone."
    ),
    wrong="first = train_rows[0]\ndef step_of(rows):\n    return [first, *rows]",
    right="XX = len(train_rows)\ndef step_of(rows):\n    return rows[:XX]",
)
def made_by_a_run(submission: Submission) -> Iterator[Remark]:
    trees = submission.code.trees
    if any(check in OF_ANY_TASK for tree in trees for _, check in names_of(trees).calls(tree)):
        return
    known = definitions(submission.notebook)
    for function in islice(sorted(known.filled & known.last_checks.keys()), MOST_FUNCTIONS):
        sliced = partial(slice_of, function, known, known, supplied_names=SUPPLIED, find_forbidden=sorted)
        program = sliced()
        if given := [text for text, _ in program.wanted if root_of(ast.parse(text, mode="eval").body) in MADE]:
            program = sliced(numbers=dict.fromkeys(given, 0))
        for sentence in program.missing:
            yield (
                known.bound(function)[-1].place[0],
                f"`{function}` needs what grading does not have: {sentence}",
                "Write the value itself, or work it out from the function's arguments.",
            )


RULES = [check_failed, check_redefined, arguments_ignored, made_by_a_run]
