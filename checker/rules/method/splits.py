"""Evaluation on what was trained on."""

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from checker.rules.base import Remark, Submission, rule
from checker.rules.syntax.bindings import Binding
from checker.rules.syntax.code import Code
from checker.rules.syntax.expressions import called, is_empty, keyword, names, number, plain_name, same, subject

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
BARE = {"train", "training", "test", "eval", "valid", "val", "heldout", "held_out", "dev"}


@lru_cache(maxsize=20_000)  # a class shares its names
def _names_of(pattern: re.Pattern, name: str) -> bool:
    if not pattern.search(name) or OF_EVERY_ROW.search(name):
        return False
    return bool(DATA.search(name)) or name.lower() in BARE


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
    train = [b for b in bound if _names_of(TRAIN, b.name) and not EVAL.search(b.name)]
    for one in bound:
        if not _names_of(EVAL, one.name) or TRAIN.search(one.name):
            continue
        for other in train:
            if code.scope(one.statement) is not code.scope(other.statement):
                continue
            if _is_taken_from(code, one.value, other.name) or _made_alike(code, one, other):
                tree, line = code.place(one.statement)
                yield (
                    code.trees[tree].cell,
                    f"line {line}: is {one.name} made of the same items as {other.name}?",
                    REASON,
                )
                break
    yield from _handed_over_together(code)
    yield from _begun_alike(code)
    yield from _measured_on_training_rows(submission, {b.name for b in bound})


def _is_taken_from(code: Code, value: ast.expr, train: str) -> bool:
    """`train`, `train[:50]`, `random.sample(train, 50)`, `list(train)`, with train never cut down itself."""
    if called(value) in (
        "list",
        "copy",
        "deepcopy",
        "shuffled",
        "sample",
        "choices",
        "choice",
        "select",
        "shuffle",
    ):
        value = subject(value) if not re.search(r"random|rng|copy", "".join(names(value.func))) else value.args[0]
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
    """Whether two values are calls of one function with one seed, or cut from the start of one list."""
    first = one.value
    second = other.value
    if isinstance(first, ast.Name) and isinstance(second, ast.Name):
        return first.id == second.id
    if isinstance(first, ast.Subscript) and isinstance(second, ast.Subscript):
        cuts = (first.slice, second.slice)
        from_the_start = all(isinstance(c, ast.Slice) and c.lower is None and c.step is None for c in cuts)
        positive = from_the_start and all(c.upper is None or (number(c.upper) or 0) > 0 for c in cuts)
        return positive and same(first.value, second.value)
    if not (isinstance(first, ast.Call) and isinstance(second, ast.Call) and same(first.func, second.func)):
        return False
    if _words(code, first) != _words(code, second):
        return False
    seeds = (_seed(code, first), _seed(code, second))
    if seeds != (None, None):
        return seeds[0] == seeds[1]
    if _repeats_the_same(code, first) and _repeats_the_same(code, second):
        return True
    reseeded = (_seeded_before(code, one), _seeded_before(code, other))
    return _seeds_itself(code, first) or (None not in reseeded and reseeded[0] == reseeded[1])


def _words(code: Code, call: ast.Call) -> list[str]:
    """What decides the items that a call makes, besides its seed and their number: a split, a range."""
    given = [*call.args, *(k.value for k in call.keywords if k.arg not in ("seed", "random_state"))]
    return [ast.dump(value) for value in given if not _makes_generator(value) and not _is_size(code, value)]


def _is_size(code: Code, value: ast.expr) -> bool:
    return number(code.resolve(value)) is not None or bool(
        re.search(r"^n_|^num_|_size$|_count$|^N_|_n$|^n$", plain_name(value) or getattr(value, "attr", ""), re.I)
    )


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
    """Whether a function of the notebook begins the same stream each time it is called."""
    function = code.functions.get(plain_name(call.func))
    return function is not None and any(
        (_makes_generator(node) or called(node) == "seed") and node.args and number(node.args[0]) is not None
        for node in code.inside(function)
    )


FIXED = {"append", "extend", "range", "len", "list", "dict", "zip", "enumerate", "items", "join", "format", "shuffle"}


def _repeats_the_same(code: Code, call: ast.Call) -> bool:
    """`build(repeats=40)`, where the function of the notebook draws nothing: one list, so many times over."""
    function = code.functions.get(plain_name(call.func))
    if (
        function is None
        or call.args
        or [bool(re.search("repeat|copies|times", k.arg or "")) for k in call.keywords] != [True]
    ):
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
        training = next((v for k, v in told.items() if _names_of(TRAIN, k) and not EVAL.search(k)), None)
        held_out = next((v for k, v in told.items() if _names_of(EVAL, k) and not TRAIN.search(k)), None)
        if training is None or held_out is None or is_empty(training) or is_empty(held_out):
            continue
        if isinstance(training, ast.Constant) or isinstance(held_out, ast.Constant):
            continue
        if set(_sources(code, training, through=UNCUT)) & set(_sources(code, held_out, through=(*UNCUT, *CUTS))):
            yield (
                cell,
                f"line {call.lineno}: does this train and evaluate on the same rows?",
                REASON,
            )


def _begun_alike(code: Code) -> Iterator[Remark]:
    """Environments of an evaluation that begin from the seeds 0, 1, 2 from which the training's began."""
    loops = [(cell, loop) for cell, loop in code.walk(ast.For) if _goes_over_seeds(code, loop)]
    training = [
        loop for _, loop in loops if _fills(code, loop, r"train|prompt|dataset") and not _is_of_an_evaluation(loop)
    ]
    evaluations = [(cell, loop) for cell, loop in loops if loop not in training and _is_of_an_evaluation(loop)]
    for cell, loop in evaluations[:1] if training else []:
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
    """Whether a loop appends to a list of such a name."""
    filled = [subject(part) for part in code.inside(loop) if called(part) in ("append", "extend")]
    return any(re.search(pattern, plain_name(listed), re.IGNORECASE) for listed in filled)


def _is_of_an_evaluation(loop: ast.For) -> bool:
    return any(re.search(r"eval|baseline|trained|(^|_)test", name, re.IGNORECASE) for name in names(loop))


UNCUT = ("map", "shuffle", "rename_column", "rename_columns", "remove_columns", "with_format", "cast_column", "list")
CUTS = ("select", "filter", "take", "sample")


def _sources(code: Code, node: ast.expr, through: tuple[str, ...]) -> list[tuple[str, tuple[int, int]]]:
    """The names of data that an expression was made from, each with the place where that data was bound."""
    found = []
    for _ in range(8):
        if isinstance(node, ast.Name):
            here = code.place(node)
            before = [b for b in code.visible(node) if b.plain and code.place(b.statement) < here]
            last = max(before, key=lambda b: code.place(b.statement), default=None)
            if last is None:
                return found
            found.append((node.id, code.place(last.statement)))
            node = last.value
        elif called(node) in through and subject(node) is not None:
            node = subject(node)
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and "select" in through:
            node = node.value
        else:
            return found
    return found


def _measured_on_training_rows(submission: Submission, bound: set[str]) -> Iterator[Remark]:
    """In Cell 7, where the comparison stands, only training rows are given to an evaluation."""
    code = submission.code
    cells = {cell.number for cell in submission.sections.get(7, [])}
    calls = [(cell, call) for cell, call in code.walk(ast.Call) if cell in cells]
    given = ((cell, call, _training_rows(call, bound)) for cell, call in calls if MEASURES.search(called(call)))
    cell, call, rows = next((found for found in given if found[2]), (None, None, ""))
    if call is None:
        return
    outermost = [call for _, call in calls if code.within(call, ast.Call) is None]
    used = {name for call in outermost for name in names(call)}
    if not any(EVAL.search(name) and DATA.search(name) for name in used):
        yield cell, f"line {call.lineno}: is this evaluation, of {rows}, to be on what was trained on?", REASON


def _training_rows(call: ast.Call, bound: set[str]) -> str:
    """The first name of training rows that a call is given; "" where it is given none."""
    given = {plain_name(value) for value in [*call.args, *(k.value for k in call.keywords)]}
    return min((name for name in given & bound if _names_of(TRAIN, name)), default="")


RULES = [evaluated_on_the_training_set]
