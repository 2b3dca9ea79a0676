"""Wrong functions that are aimed at what cases and stand-ins do not show. No exercise is named here.

Each is the right function but for one thing that hides behind a case of a kind: a class of values is left out of an
argument, of a step or of all that a step compares; a setting that is handed on is another one; a row is dropped; a size is
written down; something is done twice, or without the block around it. The first are made from the steps of the reference,
the others from the syntax tree of what the worked notebook has in its place.
"""

import ast
import copy
import random
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from math import prod

import numpy as np
import torch

from shared.exercises.arguments import Kind, Mask, Size, lengths
from shared.exercises.catalogue import PLACES
from shared.exercises.comparing import compare, reference_outcome
from shared.exercises.exercise import Case, Exercise
from shared.exercises.interrupting import interrupted_after
from shared.exercises.steps import Part, Slip, Steps
from tests.exercises.bank.holding import statements
from tests.exercises.test_notebooks import NOTEBOOKS, statements_of

WIDER = 4  # cases that are made wider
SECONDS = 3.0  # for one function in all cases: some never end
SIZES = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class Aimed:
    """A wrong function: what it leaves out, and the function."""

    change: str
    function: Callable
    is_hidden: bool = False  # behind a stand-in, where no wider case shows it


def aimed_at(exercise: Exercise, name: str) -> Iterator[Aimed]:
    """All of an exercise; name: that of its check."""
    yield from without_values(exercise)
    yield from of_the_solution(exercise, PLACES[name].partition(".")[0])


def accepted(exercise: Exercise, aimed: Iterator[Aimed]) -> list[Aimed]:
    """Those that no case tells from the right function, although a wider one does.

    What no wider case tells from it either is the right function, but for a setting that is handed on: a stand-in that does
    not look at it is what is asked for here.
    """
    cases = exercise.cases()
    wide = wider(exercise, cases)
    told = (one for one in aimed if one.is_hidden or not _passes(exercise, one.function, wide))
    return [one for one in told if _passes(exercise, one.function, cases)]


def _passes(exercise: Exercise, function: Callable, cases: list) -> bool:
    try:
        with interrupted_after(SECONDS):
            return not any(compare(exercise, function, case).difference for case in cases)
    except TimeoutError:
        return False


def wider(exercise: Exercise, cases: list[Case]) -> list[Case]:
    """Valid cases beyond those that are tried: more rows, numbers of another sign or size, texts in another form."""
    found = []
    for case in random.Random(0).sample(cases, min(len(cases), WIDER)):
        for axis in lengths(exercise.arguments, case):
            found.append(repeated(exercise.arguments, case, axis))
        for name, kind in exercise.arguments.items():
            for change in WIDER_CHANGES if not isinstance(kind, Size | Mask) else ():
                found.append(case | {name: _kept(change)(case[name])})
    return [case for case in found if _can_be(exercise, case)]


def repeated(kinds: dict[str, Kind], case: Case, axis: str) -> Case:
    """The case with every place of an axis five times."""
    known = lengths(kinds, case)
    found = {}
    for name, kind in kinds.items():
        value = case[name]
        for dimension, factors in enumerate(kind.dimensions):
            if axis in factors:
                places = np.arange(prod(known[one] for one in factors)).reshape([known[one] for one in factors])
                again = np.concatenate([places] * 5, axis=factors.index(axis))
                value = kind.select(value, dimension, again.reshape(-1).tolist())
        found[name] = value * 5 if isinstance(kind, Size) and kind.axis == axis else value
    return found


def _can_be(exercise: Exercise, case: Case) -> bool:
    try:
        with interrupted_after(SECONDS):
            return exercise.valid(case) and reference_outcome(exercise, case).value is not None
    except Exception:
        return False


# --- a class of values is left out


def holds(value) -> set[str]:
    """Name what is in a value: numbers, texts, lists."""
    if isinstance(value, str):
        return {"texts"}
    if isinstance(value, bool) or value is None:
        return set()
    if isinstance(value, int | float | torch.Tensor | np.ndarray):
        return {"numbers"}
    inside = value.values() if type(value) is dict else value if type(value) in (list, tuple) else ()
    return set().union({"lists"} if type(value) is list else set(), *map(holds, inside))


def in_numbers(change: Callable) -> Callable:
    """The change, made of every number in a value; what it makes nothing of stays."""

    def changed(value):
        if isinstance(value, bool | str) or value is None:
            return value
        if isinstance(value, torch.Tensor) and value.dtype != torch.bool:
            return change(value)
        if isinstance(value, np.ndarray):
            return change(torch.as_tensor(value)).numpy()
        if isinstance(value, list | tuple):
            return type(value)(map(changed, value)) if type(value) in (list, tuple) else value
        if type(value) is dict:
            return {key: changed(one) for key, one in value.items()}
        if type(value) in (int, float) and abs(value) < 1e9:
            return type(value)(change(torch.tensor(value, dtype=torch.float64)).item())
        return value

    return changed


def in_texts(change: Callable) -> Callable:
    def changed(value):
        if isinstance(value, str):
            return change(value)
        if type(value) in (list, tuple):
            return type(value)(map(changed, value))
        return {key: changed(one) for key, one in value.items()} if type(value) is dict else value

    return changed


def in_lists(change: Callable) -> Callable:
    return lambda value: change(value) if type(value) is list else value


def _digits_in_order(numbers: torch.Tensor) -> torch.Tensor:
    """22 and 73 become 22 and 37; what is not whole stays."""
    flat = [
        float("".join(sorted(str(int(one))))) if one >= 0 and float(one).is_integer() else one
        for one in numbers.flatten().tolist()
    ]
    return torch.tensor(flat, dtype=numbers.dtype).view(numbers.shape)


def _each_once(items: list) -> list:
    return [item for place, item in enumerate(items) if item not in items[:place]]


LEFT_OUT = {
    "no sign": ("numbers", in_numbers(torch.abs)),
    "whole numbers alone": (
        "numbers",
        in_numbers(lambda numbers: numbers.round() if numbers.is_floating_point() else numbers),
    ),
    "nothing below 0": ("numbers", in_numbers(lambda numbers: numbers.clamp(min=0))),
    "nothing above 1": ("numbers", in_numbers(lambda numbers: numbers.clamp(max=1))),
    "one digit": (
        "numbers",
        in_numbers(lambda numbers: torch.where(numbers == numbers.round(), numbers % 10, numbers)),
    ),
    "no 0": ("numbers", in_numbers(lambda numbers: torch.where(numbers == 0, torch.ones_like(numbers), numbers))),
    "digits in any order": ("numbers", in_numbers(_digits_in_order)),
    "no capitals": ("texts", in_texts(str.lower)),
    "no blanks around": ("texts", in_texts(str.strip)),
    "no blanks": ("texts", in_texts(lambda text: re.sub(r"[ \t]", "", text))),
    "no doubled characters": ("texts", in_texts(lambda text: re.sub(r"(.)\1+", r"\1", text))),
    "each once": ("lists", in_lists(lambda items: _each_once(items))),
    "in order": ("lists", in_lists(lambda items: sorted(items, key=str))),
    "the first eight": ("lists", in_lists(lambda items: items[:8])),
    "the first four": ("lists", in_lists(lambda items: items[:4])),
    "an odd place as the one before": (
        "lists",
        in_lists(lambda items: [items[place - place % 2] for place in range(len(items))]),
    ),
}

WIDER_CHANGES = (
    in_numbers(torch.neg),
    in_numbers(lambda numbers: 0.7 * numbers),
    in_numbers(lambda numbers: numbers / 2 + 0.3),
    in_numbers(lambda numbers: 11 * numbers),
    in_numbers(lambda numbers: 0 * numbers),
    in_texts(str.upper),
    in_texts(lambda text: f" {text} "),
    in_texts(lambda text: re.sub("(.)", r"\1\1", text)),
    in_lists(lambda items: items[::-1]),
    in_lists(lambda items: items * 5),
)


def without_values(exercise: Exercise) -> Iterator[Aimed]:
    """The reference with something left out: of an argument, of a step, or of all that a step reads."""
    inside = what_they_hold(exercise)
    for what, (kind, change) in LEFT_OUT.items():
        for name in [*exercise.arguments, *exercise.steps.steps]:
            if kind in inside[name]:
                slip = Slip(name, "", Part(_kept(change), (name,)))
                yield Aimed(f"{name}: {what}", exercise.reference((slip,)))
        for name, part in exercise.steps.steps.items():
            if sum(kind in inside[read] for read in part.reads) > 1:
                of_all = replace(part, function=_of_all(part.function, _kept(change)))
                steps = Steps(copy.copy(exercise.steps.steps) | {name: of_all})
                yield Aimed(f"all of {name}: {what}", replace(exercise, steps=steps).reference())


def what_they_hold(exercise: Exercise) -> dict[str, set[str]]:
    """By the name of an argument or a step what is in its value, in a few cases."""
    found = {name: set() for name in [*exercise.arguments, *exercise.steps.steps]}
    for case in exercise.cases()[:: max(1, exercise.draws // 4)]:
        for name, kind in exercise.arguments.items():
            found[name] |= holds(case[name]) if type(kind) is not Kind else set()

        def noted(name: str, function: Callable) -> Callable:
            def noting(*values):
                value = function(*values)
                found[name].update(holds(value))
                return value

            return noting

        parts = {
            name: replace(part, function=noted(name, part.function)) for name, part in exercise.steps.steps.items()
        }
        reference_outcome(replace(exercise, steps=Steps(parts)), case)
    return found


def _kept(change: Callable) -> Callable:
    """The change, where it can be made."""

    def changed(value):
        try:
            return change(value)
        except (TypeError, ValueError, RuntimeError):
            return value

    return changed


def _of_all(function: Callable, change: Callable) -> Callable:
    return lambda *values: function(*map(change, values))


# --- a setting, a row, a size, a block: in the syntax tree of the worked solution


@cache
def solution(chapter: str, function: str) -> ast.FunctionDef:
    """The worked notebook's own function."""
    path = next(path for path in NOTEBOOKS if path.stem == chapter)
    found = [one for one in statements_of(path) if isinstance(one, ast.FunctionDef) and one.name == function]
    return found[-1]


@cache
def variables_of(chapter: str) -> dict:
    """The variables of a worked notebook, as far as its definitions make them."""
    variables = {"__name__": "__main__"}
    for code in statements(chapter):
        with suppress(NameError):
            exec(code, variables)
    return variables


def of_the_solution(exercise: Exercise, chapter: str) -> Iterator[Aimed]:
    right = solution(chapter, exercise.function)
    seen = {ast.unparse(right)}
    for place in range(len(list(ast.walk(right)))):
        number = 0
        while True:
            tree = copy.deepcopy(right)
            changes = list(_changes(list(ast.walk(tree))[place], tree))
            if number >= len(changes):
                break
            changes[number]()
            number += 1
            source = ast.unparse(ast.fix_missing_locations(tree))
            if source not in seen:
                seen.add(source)
                is_changed = isinstance(list(ast.walk(right))[place], ast.Call | ast.Return | ast.Expr | ast.With)
                is_hidden = is_changed and bool(exercise.supplies or exercise.gradient == "model")
                yield Aimed(_changed_line(ast.unparse(right), source), function_of(source, chapter), is_hidden)


def function_of(source: str, chapter: str) -> Callable:
    """The function, among the variables of its notebook."""
    variables = variables_of(chapter)
    name = ast.parse(source).body[0].name
    before = variables.get(name)
    exec(compile(source, "<aimed>", "exec"), variables)
    function = variables[name]
    variables[name] = before
    return function


def _changed_line(before: str, after: str) -> str:
    """The first line that is new, or that is gone."""
    old, new = before.splitlines(), after.splitlines()
    fresh = [line.strip() for line in new if line not in old]
    gone = [line.strip() for line in old if line not in new]
    return (fresh or [f"without {line}" for line in gone] or ["a line twice"])[0]


def _changes(node: ast.AST, tree: ast.FunctionDef) -> Iterator[Callable]:
    """The changes that can be made to a node, each as a function that makes it."""
    if isinstance(node, ast.FunctionDef) and node is tree:
        yield from _of_all_of_it(node)
    if isinstance(node, ast.Call):
        yield from _settings(node)
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "len" or _is_size(node):
        for size in SIZES:
            yield lambda size=size: _put(tree, node, ast.Constant(size))
    if isinstance(node, ast.For | ast.comprehension):
        for part in (":1", ":2", ":4", ":8", "1:", ":-1", "::2"):
            yield lambda part=part: setattr(node, "iter", _expression(f"list({ast.unparse(node.iter)})[{part}]"))
    if isinstance(node, ast.Return | ast.Expr) and isinstance(node.value, ast.Call):
        yield lambda: _twice(node, tree)
    if isinstance(node, ast.With):
        yield lambda: _put(tree, node, [*node.body])


def _is_size(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "size"


def _settings(node: ast.Call) -> Iterator[Callable]:
    """A setting that is handed on as another number, or not at all."""
    for place, value in enumerate(node.args):
        if _is_setting(value):
            for size in SIZES:
                yield lambda place=place, size=size: node.args.__setitem__(place, ast.Constant(size))
    for place, keyword in enumerate(node.keywords):
        if keyword.arg:
            yield lambda place=place: node.keywords.pop(place)
        if keyword.arg and _is_setting(keyword.value):
            for size in SIZES:
                yield lambda keyword=keyword, size=size: setattr(keyword, "value", ast.Constant(size))


def _is_setting(value: ast.AST) -> bool:
    is_number = isinstance(value, ast.Constant) and isinstance(value.value, int | float)
    return is_number or isinstance(value, ast.Name) and value.id.isupper()


def _of_all_of_it(node: ast.FunctionDef) -> Iterator[Callable]:
    """Rows dropped where they come in."""
    for argument in node.args.args:
        for part in (":8", ":4", ":-1", "::2"):
            line = f"{argument.arg} = {argument.arg}[{part}]"
            yield lambda line=line: node.body.insert(0, ast.parse(line).body[0])


def _twice(node: ast.Return | ast.Expr, tree: ast.FunctionDef) -> None:
    """Done once more: a statement is repeated, what is returned is handed in again."""
    if isinstance(node, ast.Expr):
        _put(tree, node, [node, copy.deepcopy(node)])
    elif node.value.args:
        node.value.args[0] = copy.deepcopy(node.value)


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _put(tree: ast.AST, node: ast.AST, other: ast.AST | list) -> None:
    """Put others in the place of a node."""

    class Put(ast.NodeTransformer):
        done = False

        def visit(self, visited):
            if visited is node and not self.done:
                self.done = True
                return other
            return self.generic_visit(visited)

    Put().visit(tree)
