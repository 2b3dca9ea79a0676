"""Evaluation on what was trained on."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from checker.reading.syntax.bindings import Binding
from checker.reading.syntax.code import Code, Place
from checker.reading.syntax.expressions import called, is_empty, keyword, names, number, plain_name, same, subject
from checker.rules.base import Remark, Submission, rule

TRAIN = re.compile(r"(^|_)train(ing)?(_|$)", re.IGNORECASE)
EVAL = re.compile(r"(^|_)(eval(uation)?|test(ing)?|val(id(ation)?)?|held_?out|dev)(_|$)", re.IGNORECASE)
DATA = re.compile(
    r"row|data|(^|_)(ds|set)(_|$)|set$|prompt|example|problem|question|pair|sample|item|task|hand"
    r"|(^|_)(x|xs)(_|$)",
    re.IGNORECASE,
)
MEASURES = re.compile(r"eval|compare|accuracy|test", re.IGNORECASE)
REASON = "A model that has learned the answers by heart looks best there; items split by a hash cannot overlap."
OF_EVERY_ROW = re.compile(r"system|template", re.IGNORECASE)  # `SYSTEM_PROMPT_EVAL` is a text that every row gets
TAKING = ("list", "copy", "deepcopy", "shuffled", "sample", "choices", "choice", "select", "shuffle")
SIZE = re.compile(r"^n_|^num_|_size$|_count$|^N_|_n$|^n$", re.IGNORECASE)
BARE = {"train", "training", "test", "eval", "valid", "val", "heldout", "held_out", "dev"}


@lru_cache(maxsize=20_000)  # a class shares its names
def _names_of(pattern: re.Pattern, name: str) -> bool:
    """True if a name is one of data that the pattern fits: `train_rows`, `eval_set`, or "test" alone."""
    if not pattern.search(name) or OF_EVERY_ROW.search(name):
        return False
    return bool(DATA.search(name)) or name.lower() in BARE


def _is_training(name: str) -> bool:
    return _names_of(TRAIN, name) and not EVAL.search(name)


def _is_held_out(name: str) -> bool:
    return _names_of(EVAL, name) and not TRAIN.search(name)


@rule(
    "M014",
    "question",
    why="Evaluated on what it was trained on, a model that has learned the answers by heart looks best.",
    wrong="train_rows = make(100, seed=0)\neval_rows = make(100, seed=0)",
    right='train_rows = task.dataset("train", 100)\neval_rows = task.dataset("eval", 100)',
)
def evaluated_on_the_training_set(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    bound = [b for group in code.bindings.values() for b in group if b.plain and not is_empty(b.value)]
    yield from _made_of_the_same_items(code, bound)
    yield from _handed_over_together(code)
    yield from _begun_alike(code)
    yield from _measured_on_training_rows(submission, {b.name for b in bound})


def _made_of_the_same_items(code: Code, bound: list[Binding]) -> Iterator[Remark]:
    """`eval_rows = train_rows[:50]`, or two calls `make(100, seed=0)`: one remark for each held-out set."""
    trained = [b for b in bound if _is_training(b.name)]
    for held_out in (b for b in bound if _is_held_out(b.name)):
        scope = code.scope(held_out.statement)
        for train in trained:
            if code.scope(train.statement) is not scope:
                continue
            if _is_taken_from(code, held_out.value, train.name) or _made_alike(code, held_out, train):
                place = code.place(held_out.statement)
                question = f"line {place.line}: is {held_out.name} made of the same items as {train.name}?"
                yield code.trees[place.tree].cell, question, REASON
                break


def _is_taken_from(code: Code, value: ast.expr, train: str) -> bool:
    """`train`, `train[:50]`, `random.sample(train, 50)`, `list(train)`, with train never cut down itself."""
    if called(value) in TAKING:
        # In `random.sample(train, 50)` and `copy.copy(train)` the subject is the module, and train an argument.
        is_of_a_module = value.args and re.search(r"random|rng|copy", "".join(names(value.func)))
        value = value.args[0] if is_of_a_module else subject(value)
    if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice):
        value = value.value
    made = [value for value in code.values(train) if not _is_made_of_itself(value, train)]
    return plain_name(value) == train and len(made) == 1


def _is_made_of_itself(value: ast.expr, name: str) -> bool:
    """`train = train.map(f)`: the same items."""
    while called(value) in UNCUT and subject(value) is not None:
        value = subject(value)
    return plain_name(value) == name


def _made_alike(code: Code, one: Binding, other: Binding) -> bool:
    """True if two values are one name, cut from the start of one list, or calls that give the same items."""
    first = one.value
    second = other.value
    if isinstance(first, ast.Name) and isinstance(second, ast.Name):
        return first.id == second.id
    if isinstance(first, ast.Subscript) and isinstance(second, ast.Subscript):
        return _cuts_from_the_start(first) and _cuts_from_the_start(second) and same(first.value, second.value)
    if isinstance(first, ast.Call) and isinstance(second, ast.Call) and same(first.func, second.func):
        return _words(code, first) == _words(code, second) and _draw_alike(code, one, other)
    return False


def _cuts_from_the_start(node: ast.Subscript) -> bool:
    """True for `rows[:100]`; not for `rows[100:]`, `rows[:-100]` and `rows[::2]`."""
    cut = node.slice
    if not isinstance(cut, ast.Slice) or cut.lower is not None or cut.step is not None:
        return False
    return cut.upper is None or (number(cut.upper) or 0) > 0


def _draw_alike(code: Code, one: Binding, other: Binding) -> bool:
    """True if two calls of one function draw the same: by the seed they pass, by none at all, or by one set before."""
    first = one.value
    second = other.value
    seeds = (_seed(code, first), _seed(code, second))
    if seeds != (None, None):
        return seeds[0] == seeds[1]
    if _repeats_the_same(code, first) and _repeats_the_same(code, second):
        return True
    if _seeds_itself(code, first):
        return True
    seed_before = _seeded_before(code, one)
    return seed_before is not None and seed_before == _seeded_before(code, other)


def _words(code: Code, call: ast.Call) -> list[str]:
    """The arguments that decide which items a call makes, but for its seed and their number: a split, a range."""
    given = [*call.args, *(k.value for k in call.keywords if k.arg not in ("seed", "random_state"))]
    return [ast.dump(value) for value in given if not _makes_generator(value) and not _is_size(code, value)]


def _is_size(code: Code, value: ast.expr) -> bool:
    """True for a number, and for a name that says one: `n_train`, `config.eval_size`."""
    name = plain_name(value) or getattr(value, "attr", "")
    return number(code.resolve(value)) is not None or bool(SIZE.search(name))


def _makes_generator(node: ast.AST) -> bool:
    return called(node) in ("Random", "default_rng", "RandomState", "manual_seed", "PRNGKey")


def _seed(code: Code, call: ast.Call) -> float | None:
    """The number that seeds a call: `seed=0`, `random.Random(0)`."""
    seed = keyword(call, "seed", "random_state")
    for argument in [*call.args, *(k.value for k in call.keywords)]:
        if _makes_generator(argument) and argument.args:
            seed = argument.args[0]
    return None if seed is None else number(code.resolve(seed))


def _seeds_itself(code: Code, call: ast.Call) -> bool:
    """True if a function of the notebook begins the same stream each time it is called."""
    function = code.functions.get(plain_name(call.func))
    if function is None:
        return False
    seeding = [node for node in code.inside(function) if _makes_generator(node) or called(node) == "seed"]
    return any(node.args and number(node.args[0]) is not None for node in seeding)


FIXED = {"append", "extend", "range", "len", "list", "dict", "zip", "enumerate", "items", "join", "format", "shuffle"}


def _repeats_the_same(code: Code, call: ast.Call) -> bool:
    """`build(repeats=40)`, where the function of the notebook draws nothing: one list, so many times over."""
    function = code.functions.get(plain_name(call.func))
    if function is None or call.args or len(call.keywords) != 1:
        return False
    if not re.search("repeat|copies|times", call.keywords[0].arg or ""):
        return False
    return all(called(inner) in FIXED for inner in code.calls_in(function))


def _seeded_before(code: Code, binding: Binding) -> float | None:
    """The number of the `seed(...)` in the statement right before, None without one."""
    holder = code.parent(binding.statement)
    body = getattr(holder, "body", [])
    if binding.statement not in body or not (position := body.index(binding.statement)):
        return None
    before = body[position - 1]
    call = before.value if isinstance(before, ast.Expr) else None
    return number(call.args[0]) if called(call) in ("seed", "manual_seed", "set_seed") and call.args else None


def _handed_over_together(code: Code) -> Iterator[Remark]:
    """`Trainer(train_dataset=rows, eval_dataset=rows)`, whatever was mapped or selected in between."""
    for cell, call in code.walk(ast.Call):
        told = {k.arg: k.value for k in call.keywords if k.arg}
        training = next((value for name, value in told.items() if _is_training(name)), None)
        held_out = next((value for name, value in told.items() if _is_held_out(name)), None)
        if not _is_data(training) or not _is_data(held_out):
            continue
        if _sources(code, training, through=UNCUT) & _sources(code, held_out, through=(*UNCUT, *CUTS)):
            yield cell, f"line {call.lineno}: does this train and evaluate on the same rows?", REASON


def _is_data(value: ast.expr | None) -> bool:
    """True for an argument that is given, and is neither a constant nor empty."""
    return value is not None and not is_empty(value) and not isinstance(value, ast.Constant)


def _begun_alike(code: Code) -> Iterator[Remark]:
    """Environments of an evaluation that begin from the seeds 0, 1, 2 from which the training's began."""
    over_seeds = [(cell, loop) for cell, loop in code.walk(ast.For) if _goes_over_seeds(code, loop)]
    evaluations = [(cell, loop) for cell, loop in over_seeds if _is_of_an_evaluation(loop)]
    others = [loop for _, loop in over_seeds if not _is_of_an_evaluation(loop)]
    if evaluations and any(_fills(code, loop, r"train|prompt|dataset") for loop in others):
        cell, loop = evaluations[0]
        yield (
            cell,
            f"line {loop.lineno}: did the training begin from the same seeds?",
            "What is met again may be known by heart; `for seed in range(10_000, 10_010)` is new.",
        )


def _goes_over_seeds(code: Code, loop: ast.For) -> bool:
    """`for seed in range(n): env.reset(seed=seed)`, from 0 on."""
    seed = plain_name(loop.target)
    from_zero = called(loop.iter) == "range" and len(loop.iter.args) == 1
    if not seed or not from_zero:
        return False
    told = (keyword(part, "seed") for part in code.inside(loop) if isinstance(part, ast.Call))
    return any(plain_name(value) == seed for value in told)


def _fills(code: Code, loop: ast.For, pattern: str) -> bool:
    """True if a loop appends to a list whose name the pattern fits."""
    filled = [subject(part) for part in code.inside(loop) if called(part) in ("append", "extend")]
    return any(re.search(pattern, plain_name(listed), re.IGNORECASE) for listed in filled)


def _is_of_an_evaluation(loop: ast.For) -> bool:
    return any(re.search(r"eval|baseline|trained|(^|_)test", name, re.IGNORECASE) for name in names(loop))


UNCUT = ("map", "shuffle", "rename_column", "rename_columns", "remove_columns", "with_format", "cast_column", "list")
CUTS = ("select", "filter", "take", "sample")
MOST_STEPS = 8  # from an argument back to the data that it was made from


@dataclass(frozen=True)
class _Source:
    """Data that an expression was made from: its name, and the place where it was bound to it."""

    name: str
    bound_at: Place


def _sources(code: Code, node: ast.expr, through: tuple[str, ...]) -> set[_Source]:
    """All data that an expression was made from, step by step, through these methods and, among cuts, `[a:b]`."""
    found = set()
    for _ in range(MOST_STEPS):
        if isinstance(node, ast.Name):
            here = code.place(node)
            before = [b for b in code.visible(node) if b.plain and code.place(b.statement) < here]
            last = max(before, key=lambda b: code.place(b.statement), default=None)
            if last is None:
                break
            found.add(_Source(node.id, code.place(last.statement)))
            node = last.value
        elif called(node) in through and subject(node) is not None:
            node = subject(node)
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and "select" in through:
            node = node.value
        else:
            break
    return found


def _measured_on_training_rows(submission: Submission, bound: set[str]) -> Iterator[Remark]:
    """In Cell 7, where the comparison stands, only training rows are given to an evaluation."""
    code = submission.code
    cells = {cell.number for cell in submission.sections.get(7, [])}
    calls = [(cell, call) for cell, call in code.walk(ast.Call) if cell in cells]
    used = {name for _, call in calls for name in names(call)}
    if any(EVAL.search(name) and DATA.search(name) for name in used):
        return
    for cell, call in calls:
        rows = _training_rows(call, bound)
        if rows and MEASURES.search(called(call)):
            yield cell, f"line {call.lineno}: is this evaluation, of {rows}, to be on what was trained on?", REASON
            return


def _training_rows(call: ast.Call, bound: set[str]) -> str:
    """The first name of training rows that a call is given; "" where it is given none."""
    given = {plain_name(value) for value in [*call.args, *(k.value for k in call.keywords)]}
    return min((name for name in given & bound if _names_of(TRAIN, name)), default="")


RULES = [evaluated_on_the_training_set]
