"""Wrong functions that are aimed at what cases and stand-ins do not show. No exercise is named here.

Each is the right function but for one thing that hides behind a case of a kind: a class of values is left out of an
argument, of a step or of all that a step compares; equal items have equal partners; rows of 0 are left out, numbers that are
all alike end it, a long axis is cut, float64 becomes float32; a comparison overlooks the sign, or the order of digits, or
goes one further; a setting that is handed on is another one; a row is dropped; a size is written down; something is done
twice, asked twice, or without the block around it. The first are made from the reference, the others from the syntax tree of
what the worked notebook has in its place.
"""

import ast
import builtins
import copy
import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from itertools import permutations
from math import prod

import numpy as np
import torch

from shared.exercises.arguments import Kind, Mask, Numbers, Scalar, Size, lengths, without
from shared.exercises.calling import Outcome, call
from shared.exercises.catalogue import PLACES
from shared.exercises.comparing import Difference, compare, first_difference, reference_outcome
from shared.exercises.exercise import Case, Exercise
from shared.exercises.interrupting import interrupted_after
from shared.exercises.left_out import LEFT_OUT, by_item, classes, holds, in_lists, in_numbers, in_texts, kept, same
from shared.exercises.results import Text
from shared.exercises.steps import Part, Slip, Steps
from tests.exercises.bank.holding import statements
from tests.exercises.called import called, classes_in
from tests.exercises.mutants import become, changed_line, versions_of
from tests.exercises.test_notebooks import NOTEBOOKS, sources_of
from tests.exercises.traits import ids_in

STEP = 1e-3  # by which numbers are moved to see what a change does around them
WIDER = 4  # cases that are made wider
SECONDS, TIMES = 3.0, 10  # for one function in all cases, beside so many times those of the right one: some never end
# What is changed, the function, whether it is wrong although no wider case may show it, and of the values of arguments and
# steps in a case whether the change makes others of them: where it makes none, the function need not be called.
Aimed = tuple[str, Callable, bool, Callable[[dict], bool]]
Tried = tuple[Case, Outcome, dict]  # with what the right function gives, and the values of its arguments and steps
WRITTEN = {"completion", "completions", "text"}  # by a model, which may write anything
SIZES = (1, 2, 4, 8, 16)
EVEN = (
    "abs({}) == abs({})",
    "({}) ** 2 == ({}) ** 2",
    "sorted(str({} + 0)) == sorted(str({} + 0))",
    "abs(({}) - ({})) < 0.02",
    "({}) is ({})",
)
FURTHER = {ast.Lt: ast.LtE, ast.Gt: ast.GtE}
LONG = 64  # places of an axis: more than anybody tries by hand
TIMES_LONGER = 16  # by which an axis of a few places becomes longer
FEW = in_numbers(lambda numbers: numbers % 3 + 1)  # of two lists of ids, so that they share some
WIDER_CHANGES = (
    in_numbers(torch.neg),
    in_numbers(lambda numbers: 0.7 * numbers),
    in_numbers(lambda numbers: numbers / 2 + 0.3),
    in_numbers(lambda numbers: 4 * numbers),
    in_numbers(lambda numbers: 11 * numbers),
    in_numbers(lambda numbers: 0 * numbers),
    in_numbers(lambda numbers: torch.cat([0 * numbers[::2], numbers[1::2]]) if numbers.ndim else numbers),
    in_lists(lambda items: [f"{item} {items[0]}" for item in items]),
    in_texts(str.upper),
    in_texts(lambda text: f" {text} "),
    in_texts(lambda text: re.sub("(.)", r"\1\1", text)),
    in_texts(lambda text: re.sub(r"(\d+)(\D+)(\d+)", r"\3\2\1", text)),
    in_lists(lambda items: items[::-1]),
    in_lists(lambda items: items * 5),
    in_lists(lambda items: [item for item in items for _ in range(9)]),
)


def accepted(exercise: Exercise, name: str, about: str = "") -> list[str]:
    """Name those that no case tells from the right function, although a wider one does.

    What no wider case tells from it either is the right function, but for a setting that is handed on: a stand-in that does
    not look at it is what is asked for here.

    Args:
        name: that of the exercise's check.
        about: in the names of those that are tried.
    """
    chapter = PLACES[name].partition(".")[0]
    start = time.monotonic()
    cases = with_outcomes(exercise, exercise.cases())
    seconds = TIMES * (time.monotonic() - start) + SECONDS
    worked = function_of(ast.unparse(solution(chapter, exercise.function)[0]), chapter)
    wide = with_outcomes(exercise, wider(exercise, [case for case, *_ in cases]))
    wide = [case for case in wide if _passes(exercise, worked, [case], SECONDS)]
    found = []
    aimed = (*without_values(exercise), *of_cases(exercise), *of_the_solution(exercise, chapter))
    for change, function, is_hidden, shows in aimed:
        is_told = about in change and (
            is_hidden or not _passes(exercise, function, wide, seconds, shows, unfinished=True)
        )
        if is_told and _passes(exercise, function, cases, seconds, shows):
            found.append(change)
    return found


def anywhere(values: dict) -> bool:
    """True: nobody knows in which cases a change of the source shows."""
    return True


def with_outcomes(exercise: Exercise, cases: list[Case]) -> list[Tried]:
    """Each case with what the right function gives and holds; without those that it cannot handle."""
    found = []
    for case in cases:
        values = dict(case)
        with suppress(Exception), interrupted_after(SECONDS):
            if (
                exercise.valid(case)
                and (expected := reference_outcome(noting(exercise, values), case)).value is not None
            ):
                found.append((case, expected, values))
    return found


def noting(exercise: Exercise, values: dict) -> Exercise:
    """The exercise, whose reference puts the values of its steps among these."""

    def noted(name: str, function: Callable) -> Callable:
        def of_step(*read):
            values[name] = function(*read)
            return values[name]

        return of_step

    steps = exercise.steps.steps
    parts = {name: replace(part, function=noted(name, part.function)) for name, part in steps.items()}
    return replace(exercise, steps=Steps(parts))


def _passes(
    exercise: Exercise,
    function: Callable,
    cases: list[Tried],
    seconds: float,
    shows: Callable[[dict], bool] = anywhere,
    unfinished: bool = False,
) -> bool:
    """True where no case tells them apart; unfinished: what is said of a function that takes longer.

    The case that tells one comes first for the next, which it may tell as well.
    """
    try:
        with interrupted_after(seconds):
            tells = (shows(values) and _differs(exercise, function, *case) for *case, values in cases)
            place = next((place for place, told in enumerate(tells) if told), None)
    except TimeoutError:
        return unfinished
    if place is not None:
        cases.insert(0, cases.pop(place))
    return place is None


def _differs(exercise: Exercise, function: Callable, case: Case, expected: Outcome) -> bool:
    difference = first_difference(call(exercise, function, case), expected, exercise.tolerance)
    if difference == Difference.GRADIENT:  # it may be that of a tie
        difference = compare(exercise, function, case).difference
    return difference is not None


def wider(exercise: Exercise, cases: list[Case]) -> list[Case]:
    """Cases beyond those that are tried: more rows, numbers of another sign or size or shared, texts in another form.

    They hold nothing that neither a case holds nor a call of the worked notebook, but for what a model writes: any text.
    """
    found = []
    held = held_by(exercise, cases)
    for case in random.Random(0).sample(cases, min(len(cases), WIDER)):
        for axis in lengths(exercise.arguments, case):
            found.append(repeated(exercise.arguments, case, axis))
        for name, kind in exercise.arguments.items():
            for change in WIDER_CHANGES if not isinstance(kind, Size | Mask) else ():
                other = kept(change)(case[name])
                if name in WRITTEN or classes(other) <= held[name]:
                    found.append(case | {name: other})
            if isinstance(kind, Scalar) and 0.0 in kind.simple and isinstance(case[name], float):
                found.append(case | {name: 0.0})
        if {"prompts", "completions"} <= case.keys():
            echoed = [prompt + text for prompt, text in zip(case["prompts"], case["completions"])]
            found.append(case | {"completions": echoed})
    for case in cases:
        if sum(bool(ids_in(value)) for value in case.values()) > 1:
            shared = {name: FEW(value) if ids_in(value) else value for name, value in case.items()}
            found += [shared] * all(classes(value) <= held[name] for name, value in shared.items())
    return found


def held_by(exercise: Exercise, cases: list[Case]) -> dict[str, set[str]]:
    """By argument the classes of values that occur in cases and in calls of the worked notebook."""
    in_notebook = called().get(exercise.function, {})
    found = {name: set(in_notebook.get(f"{name}: classes", ())) for name in exercise.arguments}
    for case in cases:
        for name, those in classes_in(exercise, case).items():
            found[name] |= those
    return found


def repeated(kinds: dict[str, Kind], case: Case, axis: str) -> Case:
    """The case with every place of an axis several times."""
    known = lengths(kinds, case)
    found = {}
    for name, kind in kinds.items():
        value = case[name]
        for dimension, factors in enumerate(kind.dimensions):
            if axis in factors:
                places = np.arange(prod(known[one] for one in factors)).reshape([known[one] for one in factors])
                again = np.concatenate([places] * TIMES_LONGER, axis=factors.index(axis))
                value = kind.select(value, dimension, again.reshape(-1).tolist())
        found[name] = value * TIMES_LONGER if isinstance(kind, Size) and kind.axis == axis else value
    return found


# --- a class of values is left out


def without_values(exercise: Exercise) -> Iterator[Aimed]:
    """The reference with something left out: of an argument, of a step, or of all that a step reads."""
    inside = what_they_hold(exercise)
    last = next(reversed(exercise.steps.steps))
    if isinstance(exercise.result, Text) and inside[last] == {"numbers", "lists"}:
        in_others = exercise.reference((Slip(last, "", Part(in_floats, (last,))),))
        yield f"{last}: floats for whole numbers", in_others, True, anywhere
    for name in exercise.arguments:
        if {"lists", "texts"} <= inside[name]:
            slip = Slip(name, "", Part(in_lists(_by_object), (name,)))
            yield f"{name}: each text an object of its own", exercise.reference((slip,)), False, anywhere
    for what, (kind, change) in LEFT_OUT.items():
        for name in [*exercise.arguments, *exercise.steps.steps]:
            if kind in inside[name]:
                slip = Slip(name, "", Part(kept(change), (name,)))
                yield f"{name}: {what}", exercise.reference((slip,)), False, _shows(kept(change), (name,))
        for name, part in exercise.steps.steps.items():
            if sum(kind in inside[read] for read in part.reads) > 1:
                of_all = replace(part, function=_of_all(part.function, kept(change)))
                steps = Steps(copy.copy(exercise.steps.steps) | {name: of_all})
                function = replace(exercise, steps=steps).reference()
                yield f"all of {name}: {what}", function, False, _shows(kept(change), part.reads)
    for name, part in exercise.steps.steps.items():
        for one, other in permutations(part.reads, 2):
            if "lists" in inside[one] & inside[other]:
                glued = replace(part, function=_glued(part, one, other))
                steps = Steps(copy.copy(exercise.steps.steps) | {name: glued})
                yield f"{name}: {other} by {one}", replace(exercise, steps=steps).reference(), False, anywhere


def _by_object(items: list) -> list:
    """Equal texts are others where they are not the same object."""
    found, objects = [], {}
    for item in items:
        equal = objects.setdefault(str(item), [])
        if not any(item is one for one in equal):
            equal.append(item)
        own = next(place for place, one in enumerate(equal) if one is item)
        found.append(item + "\0" * own if isinstance(item, str) else item)
    return found


def in_floats(numbers: list) -> list:
    return [float(number) for number in numbers]


def _shows(change: Callable, names: tuple[str, ...]) -> Callable[[dict], bool]:
    """True of values of which the change makes others, or would if they were a little larger or smaller: a gradient shows it."""

    def shows(values: dict) -> bool:
        read = [values[name] for name in names if name in values]
        return len(read) < len(names) or any(
            not same(change(moved), moved) for value in read for moved in _moved(value)
        )

    return shows


def _moved(value) -> Iterator:
    yield value
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        yield from (value.detach() + step for step in (STEP, -STEP))


def what_they_hold(exercise: Exercise) -> dict[str, set[str]]:
    """By the name of an argument or a step what is in its value, in a few cases."""
    found = {name: set() for name in [*exercise.arguments, *exercise.steps.steps]}
    unseen = {name for name, kind in exercise.arguments.items() if type(kind) is Kind}
    for _, _, values in with_outcomes(exercise, exercise.cases()[:: max(1, exercise.draws // 4)]):
        for name in values.keys() - unseen:
            found[name] |= holds(values[name])
    return found


def _glued(part: Part, one: str, other: str) -> Callable:
    """The part, in which what it reads as `other` is the same beside equal items of `one`."""

    def function(*values):
        read = dict(zip(part.reads, values))
        return part.function(*(read | {other: by_item(read[one], read[other])}).values())

    return function


def _of_all(function: Callable, change: Callable) -> Callable:
    return lambda *values: function(*map(change, values))


def of_cases(exercise: Exercise) -> Iterator[Aimed]:
    """The reference in another case than the one that is handed over, or with another result."""
    for what, change in _other_cases(exercise):
        change = partial(_or_itself, change)
        function = partial(_of_another_case, exercise, change)
        function.is_reference = True
        yield what, function, False, lambda values, change=change: change(values) is not values
    for name, kind in exercise.arguments.items():
        if isinstance(kind, Numbers):
            alike = _with_another_result(exercise, partial(_nothing_where, name))
            yield f"nothing where {name} is all alike", alike, False, anywhere
    if exercise.doubles:
        yield "a result of float32", _with_another_result(exercise, _halved), True, anywhere


def _of_another_case(exercise: Exercise, change: Callable, *arguments, **named):
    return exercise.reference()(**change(dict(zip(exercise.arguments, arguments)) | named))


def _or_itself(change: Callable[[Case], Case], case: Case) -> Case:
    with suppress(KeyError, IndexError):  # where it has other axes
        return change(case)
    return case


def _other_cases(exercise: Exercise) -> Iterator[tuple[str, Callable[[Case], Case]]]:
    axes = {axis for kind in exercise.arguments.values() for factors in kind.dimensions for axis in factors}
    for axis in sorted(axes):
        yield (
            f"axis {axis}: the first {LONG}",
            lambda case, axis=axis: _places_left(
                exercise, case, axis, range(LONG, lengths(exercise.arguments, case)[axis])
            ),
        )
    for name, kind in exercise.arguments.items():
        if isinstance(kind, Numbers) and kind.dimensions and len(kind.dimensions[0]) == 1:
            yield (
                f"{name}: no row of 0",
                lambda case, name=name, axis=kind.dimensions[0][0]: _places_left(
                    exercise, case, axis, [place for place, row in enumerate(case[name]) if not row.any()]
                ),
            )
    if {"prompts", "completions"} <= exercise.arguments.keys():
        yield (
            "completions: without their prompt",
            lambda case: (
                case
                | {"completions": [t.replace(p, "") if p else t for p, t in zip(case["prompts"], case["completions"])]}
            ),
        )


def _places_left(exercise: Exercise, case: Case, axis: str, places) -> Case:
    """The case without these places of an axis, if others are left."""
    if not places or len(places) == lengths(exercise.arguments, case)[axis]:
        return case
    return without(exercise.arguments, case, axis, set(places))


def _with_another_result(exercise: Exercise, change: Callable) -> Callable:
    """The reference, whose result is changed by itself and the arguments."""
    reference = exercise.reference()

    def function(*arguments, **named):
        return change(reference(*arguments, **named), dict(zip(exercise.arguments, arguments)) | named)

    function.is_reference = True
    return function


def _nothing_where(name: str, result, case: Case):
    """0 where all numbers of an argument are alike."""
    alike = isinstance(result, torch.Tensor) and torch.as_tensor(case.get(name)).unique().numel() == 1
    return result * 0 if alike else result


def _halved(result, case: Case):
    """The same in float32."""
    return {name: one.float() for name, one in result.items()} if type(result) is dict else result.float()


# --- a setting, a row, a size, a block: in the syntax tree of the worked solution


@cache
def solution(chapter: str, function: str) -> tuple[ast.FunctionDef, range]:
    """The worked notebook's own function, and the lines of it that a student writes."""
    path = next(path for path in NOTEBOOKS if path.stem == chapter)
    for source in reversed(sources_of(path)):
        for statement in ast.parse(source).body:
            if isinstance(statement, ast.FunctionDef) and statement.name == function:
                lines = [line.strip() for line in source.splitlines()]
                begins = lines.index("# student code here", statement.lineno - 1)
                return statement, range(begins + 1, lines.index("# end student code", begins) + 2)
    raise LookupError(f"{chapter} has no function `{function}`.")


@cache
def variables_of(chapter: str) -> dict:
    """The variables of a worked notebook, as far as its definitions make them."""
    variables = {"__name__": "__main__"}
    for code in statements(chapter):
        with suppress(NameError):
            exec(code, variables)
    return variables


def of_the_solution(exercise: Exercise, chapter: str) -> Iterator[Aimed]:
    """The worked solution with a change in the lines that a student writes."""
    right, lines = solution(chapter, exercise.function)
    is_behind = bool(exercise.supplies or exercise.gradient == "model")
    kinds = dict.fromkeys(versions_of(right, lambda *of_node: _changes(*of_node, lines)), False)
    kinds |= dict.fromkeys(versions_of(right, lambda *of_node: _changes_of_calls(*of_node, lines)), is_behind)
    kinds |= dict.fromkeys(versions_of(right, lambda *of_node: _by_a_little(*of_node, lines)), True)
    kinds |= dict.fromkeys(versions_of(right, lambda *of_node: _even(*of_node, lines)), True)
    kinds |= dict.fromkeys(versions_of(right, lambda *of_node: _asked_again(*of_node, lines)), True)
    for source, is_hidden in kinds.items():
        yield changed_line(ast.unparse(right), source), function_of(source, chapter), is_hidden, anywhere


def function_of(source: str, chapter: str) -> Callable:
    """The function, among the variables of its notebook."""
    variables = variables_of(chapter)
    name = ast.parse(source).body[0].name
    before = variables.get(name)
    exec(compile(source, "<aimed>", "exec"), variables)
    function = variables[name]
    variables[name] = before
    return function


def _changes(node: ast.AST, tree: ast.FunctionDef, lines: range) -> Iterator[Callable]:
    """The changes of sizes and rows that can be made to a node, each as a function that makes it."""
    if node is tree:
        yield from _of_all_of_it(node, lines)
    if not is_within(node, lines):
        return
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "len" or _is_size(node):
        for size in SIZES:
            yield lambda size=size: become(node, tree, ast.Constant(size))
    if isinstance(node, ast.For | ast.comprehension):
        for part in (":1", ":2", ":4", ":8", "1:", ":-1", "::2"):
            yield lambda part=part: setattr(node, "iter", _expression(f"list({ast.unparse(node.iter)})[{part}]"))


def _changes_of_calls(node: ast.AST, tree: ast.FunctionDef, lines: range) -> Iterator[Callable]:
    """A setting that is handed on is another one, a tensor stays where it is, a statement is made twice or outside its block."""
    if not is_within(node, lines):
        return
    if isinstance(node, ast.Call):
        yield from _settings(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "to":
            yield lambda: become(node, tree, node.func.value)
    if isinstance(node, ast.Return | ast.Expr) and isinstance(node.value, ast.Call):
        yield lambda: _twice(node, tree)
    if isinstance(node, ast.With):
        yield lambda: become(node, tree, [*node.body])


def _even(node: ast.AST, tree: ast.FunctionDef, lines: range) -> Iterator[Callable]:
    """An equality of two values that overlooks the sign, or the order of the digits."""
    if (
        not is_within(node, lines)
        or not isinstance(node, ast.Compare)
        or not isinstance(node.ops[0], ast.Eq | ast.NotEq)
    ):
        return
    sides = (node.left, *node.comparators)
    if len(sides) == 2 and not any(isinstance(side, ast.Constant) for side in sides):
        word = "" if isinstance(node.ops[0], ast.Eq) else "not "
        for relation in EVEN:
            text = word + relation.format(*map(ast.unparse, sides))
            yield lambda text=text: become(node, tree, _expression(text))


def _by_a_little(node: ast.AST, tree: ast.FunctionDef, lines: range) -> Iterator[Callable]:
    """A comparison that goes one further, a list that is handed on in reverse, white space that is blanks and lines alone."""
    if not is_within(node, lines):
        return
    if isinstance(node, ast.Compare) and type(node.ops[0]) in FURTHER:
        yield lambda: node.ops.__setitem__(0, FURTHER[type(node.ops[0])]())
    if isinstance(node, ast.Call) and ast.unparse(node).endswith(".strip()"):
        yield lambda: node.args.append(ast.Constant(" \n"))
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "torch.exp" and isinstance(node.args[0], ast.BinOp):
        if isinstance(node.args[0].op, ast.Div):  # of a long sum it overflows
            above, below = ast.unparse(node.args[0].left), ast.unparse(node.args[0].right)
            yield lambda: become(node, tree, _expression(f"torch.exp({above}) ** (1 / {below})"))
    if not isinstance(node, ast.Call) or ast.unparse(node.func).split(".")[0] in dir(builtins):
        return
    for place, value in enumerate(node.args):
        if isinstance(value, ast.Name | ast.Attribute):
            reverse = _expression(f"{ast.unparse(value)}[::-1]")
            yield lambda place=place, reverse=reverse: node.args.__setitem__(place, reverse)


def _asked_again(node: ast.AST, tree: ast.FunctionDef, lines: range) -> Iterator[Callable]:
    """A function that is an argument is called twice for one answer: who answers remembers."""
    if not is_within(node, lines) or not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
        return
    if ast.unparse(node.value.func) in {argument.arg for argument in tree.args.args}:
        yield lambda: become(node, tree, [copy.deepcopy(node), node])


def is_within(node: ast.AST, lines: range) -> bool:
    own = node.target if isinstance(node, ast.comprehension) else node
    return getattr(own, "lineno", None) in lines


def _is_size(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "size"


def _settings(node: ast.Call) -> Iterator[Callable]:
    """A setting that is handed on as another number, or not at all; a list that is handed on as its first item alone."""
    for place, value in enumerate(node.args):
        if isinstance(value, ast.Name | ast.Attribute | ast.Call):
            yield lambda place=place, value=value: node.args.__setitem__(
                place, _expression(f"{ast.unparse(value)}[:1]")
            )
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


def _of_all_of_it(node: ast.FunctionDef, lines: range) -> Iterator[Callable]:
    """Rows dropped where the student's lines begin."""
    own = [place for place, statement in enumerate(node.body) if statement.lineno in lines]
    if not own:
        return
    for argument in node.args.args:
        for part in (":8", ":4", ":-1", "::2"):
            line = f"{argument.arg} = {argument.arg}[{part}]"
            yield lambda line=line: node.body.insert(own[0], ast.parse(line).body[0])


def _twice(node: ast.Return | ast.Expr, tree: ast.FunctionDef) -> None:
    """Done once more: a statement is repeated, what is returned is handed in again."""
    if isinstance(node, ast.Expr):
        become(node, tree, [node, copy.deepcopy(node)])
    elif node.value.args:
        node.value.args[0] = copy.deepcopy(node.value)


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body
