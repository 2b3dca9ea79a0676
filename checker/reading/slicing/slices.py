"""A student's function as a program of its own: its slice of the notebook, found in the syntax trees. No cell is run.

The slice of a function holds two kinds of statements. They stand at top level, above the last check of the function:

    those that make or change a name that the function reads
    those that make or change a name that a statement of the slice reads

(A name that is made nowhere above the check is taken from below it, a function from its whole cell.) Checks are left out. So is what needs a module of
the project that grading does not show, such as a model and what was trained, and so are lines of a function that only
show something with it. An example:

    the notebook                     the slice of `cube`
    from shared.models import load
    model = load()                   left out: `cube` does not read it
    POWER = 2                        POWER = 2
    def square(x):                   def square(x):
        return x ** POWER                return x ** POWER
    def cube(x):                     def cube(x):
        return x * square(x)             return x * square(x)
    check.cube(cube)                 left out: a check
"""

import ast
import builtins
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from checker.reading.slicing.numbers import measured, root_of, with_numbers
from checker.reading.slicing.own_modules import read_modules
from checker.reading.slicing.showing import made_global, without_showing
from checker.reading.syntax.statements import FUTURE, STAR, Definitions, Place, Statement

OF_NOTEBOOKS = {"display", "get_ipython"}  # what a notebook defines by itself, and no `from module import *`
SET_UP = ("Cell 2", "Cell 3")  # the sections that make the model and the rows, and that take a moment
MOST_MISSING_NAMES = 3  # of which warnings are given: more would bury the verdict

NONE_KNOWN: Mapping[str, float] = {}
FindForbidden = Callable[[Collection[str]], list[str]]  # from imported names to those that are not allowed


def nothing_forbidden(imports: Collection[str]) -> list[str]:
    """Return no name: everything may be imported."""
    return []


@dataclass(frozen=True)
class Slice:
    """A function as a program of its own.

    statements: Python, in the notebook's order; () where `problem` says why there is none.
    imports: names of the project that are imported, "shared.tasks.dots" for `from shared.tasks import dots`.
    forbidden_imports: those that the function imports and that are not allowed.
    names: the names that the statements define.
    missing: sentences on names that the function reads and the program lacks.
    left_out: sentences on lines of a function that are left out, since they only show something.
    which_definition: a sentence on the definition that was taken, where there are several; else "".
    modules: the student's own modules that the statements import, each with its name and statements.
    wanted: expressions whose numbers the edition knows, each with the program that makes what they are about.
    which_numbers: a sentence on the numbers that stand in the place of such expressions; "" where none does.
    problem: a sentence on why there is no program; "" where there is one.
    """

    statements: tuple[str, ...] = ()
    imports: frozenset[str] = frozenset()
    forbidden_imports: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()
    missing: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    which_definition: str = ""
    modules: tuple[tuple[str, tuple[str, ...]], ...] = ()
    wanted: tuple[tuple[str, str], ...] = ()
    which_numbers: str = ""
    problem: str = ""

    @property
    def warnings(self) -> tuple[str, ...]:
        """All sentences on what may have made the function fail."""
        return self.missing + self.left_out

    @property
    def source(self) -> str:
        """The whole program; "" where there is none."""
        return "\n".join([FUTURE, *self.statements, ""]) if self.statements else ""


def slice_of(
    name: str,
    student: Definitions,
    edition: Definitions,
    with_solutions_of: frozenset[str] = frozenset(),
    beside: tuple[str, ...] = (),
    supplied_names: Collection[str] = (),
    find_forbidden: FindForbidden = nothing_forbidden,
    generous: bool = False,
    numbers: Mapping[str, float] = NONE_KNOWN,
) -> Slice:
    """Return the program that defines one of the student's functions.

    Args:
        name: the function that is to be called: an exercise, or a function of the edition that uses exercises.
        student: what the notebook defines that was handed in.
        edition: what the worked notebook defines. Its functions that are no exercises are taken as they were handed out.
        with_solutions_of: exercises that are taken from the edition.
        beside: further functions that the program is to define.
        supplied_names: names that exist when the function is called. Nothing that makes them is taken.
        find_forbidden: returns those of some imported names that are not allowed.
        generous: take along all that may change what the function reads, as `heappush(heap, 2)` changes `heap`.
        numbers: of expressions that the program could not work out (`checker.reading.slicing.numbers`).
    """
    notebooks = _Notebooks(
        name=name,
        student=student,
        edition=edition,
        with_solutions_of=with_solutions_of,
        beside=beside,
        supplied_names=frozenset(supplied_names) - {name, *beside},
        generous=generous,
    )
    if not notebooks.makers(name, notebooks.of_edition(name)):
        return Slice(problem=f"There is no function `{name}` in the notebook.")
    reached = notebooks.reached()
    left_out = _left_out(reached, find_forbidden)
    set_up = _set_up(edition)
    wanted = _wanted(reached, left_out, set_up)
    asked = sorted(set().union(*wanted.values()))
    measures = {statement: _measured(statement, numbers) for statement in wanted} if numbers else {}
    if measures:
        notebooks = replace(notebooks, shortened=measures)
        reached = notebooks.reached()
        left_out = _left_out(reached, find_forbidden)
    shortened = _shortened(reached, left_out, find_forbidden)
    short = {statement: one for statement, (one, _) in shortened.items()}
    of_numbers = {statement: short.get(one, one) for statement, one in measures.items()}
    notebooks = replace(notebooks, shortened=short | of_numbers)
    kept = notebooks.reached(left_out.keys())
    functions = replace(notebooks, generous=False).reached(through_functions=True)
    imported_by_functions = frozenset(imported for statement in functions.statements for imported in statement.imports)
    ordered = sorted(kept.statements, key=lambda statement: (kept.statements[statement], statement.place))
    allowed = [statement for statement in ordered if not find_forbidden(statement.imports)]
    own = read_modules((statement.node for statement in allowed), dict(student.modules), find_forbidden)
    return Slice(
        statements=tuple(statement.source for statement in allowed),
        imports=imported_by_functions.union(own.imports, *(statement.imports for statement in allowed)),
        forbidden_imports=tuple(find_forbidden(imported_by_functions)),
        names=frozenset(kept.makers) & frozenset().union(*(statement.binds for statement in ordered)),
        missing=(*_missing_names(kept, left_out), *own.left_out[:MOST_MISSING_NAMES]),
        left_out=tuple(_lines_left_out(shortened)),
        which_definition=_which_definition(name, student),
        modules=tuple(sorted(own.statements.items())),
        wanted=tuple((text, _program_of(text, set_up)) for text in asked),
        which_numbers=_which_numbers({text: numbers[text] for text in asked if text in numbers}),
    )


@dataclass(frozen=True)
class _Reached:
    """Everything that a function leads to.

    makers: the names that it reads, and that the statements read, each with the statements that make or change it.
    statements: those of all names; the value is True for one of the edition's.
    """

    makers: dict[str, tuple[Statement, ...]]
    statements: dict[Statement, bool]


@dataclass(frozen=True)
class _Notebooks:
    """The two notebooks of which a slice is made; the first fields are the arguments of `slice_of`.

    shortened: functions that are taken without some of their lines, as they are then.
    generous: whether what only may change a name is taken as well.
    """

    name: str
    student: Definitions
    edition: Definitions
    with_solutions_of: frozenset[str]
    beside: tuple[str, ...]
    supplied_names: frozenset[str]
    generous: bool = False
    shortened: dict[Statement, Statement] = field(default_factory=dict)

    @cached_property
    def end(self) -> Place | None:
        """The place in the student's notebook below which nothing counts."""
        return _end(self.name, self.student)

    def of_edition(self, name: str) -> bool:
        """True for what the edition defines and is no exercise: it is called as it was handed out."""
        return name not in self.edition.filled and name in self.edition.makers

    def reached(self, without: Collection[Statement] = (), through_functions: bool = False) -> _Reached:
        """Return everything that the function leads to. Each name and each statement is looked at once.

        Args:
            without: statements that are passed over.
            through_functions: take functions, classes and imports alone, as they are when the function is called, and go
                on from these.
        """
        made_by = {}
        statements = {}
        waiting = [(first, self.of_edition(first)) for first in (self.name, *self.beside)]
        carriers: set[str] = set()
        while waiting:
            wanted, from_edition = waiting.pop()
            if wanted in made_by or wanted in self.supplied_names:
                continue
            is_edition, makers = self._chosen(wanted, from_edition)
            made_by[wanted] = makers
            # What an import or a function makes is not changed by what reads it.
            if self.generous and not is_edition and not all(one.is_import or _is_function(one) for one in makers):
                makers = (*makers, *self._may_change(wanted, carriers))
            taken = list(_lasting(wanted, makers) if through_functions else makers)
            for maker in taken:
                maker = self.shortened.get(maker, maker)
                if maker in statements or maker in without:
                    continue
                if through_functions and not (maker.is_function or maker.is_import):
                    continue
                statements[maker] = is_edition
                if self.generous and not is_edition:
                    taken += self._of_the_same_files(maker)
                waiting.extend((used, is_edition) for used in sorted(maker.reads))
        return _Reached(made_by, statements)

    def _may_change(self, wanted: str, carriers: set[str]) -> Iterator[Statement]:
        """The student's statements that may change what a name holds: they read it, or a function that reads it.

        carriers: the names whose readers are known already; takes further ones.
        """
        waiting = [wanted]
        while waiting:
            name = waiting.pop()
            if name in carriers:
                continue
            carriers.add(name)
            for reader in self.student.readers.get(name, ()):
                if self.end is not None and reader.place > self.end:
                    continue
                if _is_function(reader):
                    waiting += reader.binds
                yield reader

    def _of_the_same_files(self, statement: Statement) -> list[Statement]:
        """The student's statements that name a file of this one: what one of them reads another one may write."""
        others = [one for one in self.student.statements if one.files & statement.files]
        return [one for one in others if self.end is None or one.place <= self.end]

    def makers(self, wanted: str, from_edition: bool) -> tuple[Statement, ...]:
        """Return the statements that make or change a name; () where none makes it."""
        return self._chosen(wanted, from_edition)[1]

    def _chosen(self, wanted: str, from_edition: bool) -> tuple[bool, tuple[Statement, ...]]:
        """Return True if a name is taken from the edition, and the statements that make or change it there.

        from_edition: the name is read by a function of the edition's, which keeps to the edition's own names.
        """
        exercise = wanted in self.edition.filled
        if wanted not in self.with_solutions_of and (exercise or not from_edition):
            makers = _above(wanted, self.student, self.end)
            if makers or exercise:
                return False, makers
        makers = _above(wanted, self.edition, None)
        if makers:
            return True, makers
        return False, self.student.makers.get(STAR, ())


def _end(name: str, source: Definitions) -> Place | None:
    """The place of the last check of a function, or of its definition where that was mended below, in the same cell."""
    check = source.last_checks.get(name)
    if check is None:
        return None
    return max([check, *(maker.place for maker in source.bound(name) if maker.place[0] == check[0])])


def _above(wanted: str, source: Definitions, end: Place | None) -> tuple[Statement, ...]:
    """The statements above a place that make a name, all where there is none above; () where it is made nowhere.

    All functions of the place's cell count: a helper is mended below the check as well.
    """
    makers = source.makers.get(wanted, ())
    if not any(wanted in maker.binds for maker in makers):
        return ()
    above = tuple(
        maker
        for maker in makers
        if end is None or maker.place < end or (maker.is_function and maker.place[0] == end[0])
    )
    return above if any(wanted in maker.binds for maker in above) else makers


def _is_function(statement: Statement) -> bool:
    return statement.is_function and not isinstance(statement.node, ast.ClassDef)


def _lasting(wanted: str, makers: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """The statements that still count for a name once all have run: none above the last that replaces it."""
    replacing = (number for number, maker in enumerate(makers) if wanted in maker.replaces)
    return makers[max(replacing, default=0) :]


def _left_out(reached: _Reached, find_forbidden: FindForbidden) -> dict[Statement, str]:
    """The statements that need what is not shown, and a name that each of them needs.

    Functions stay: only a call shows which of the names that a function reads it needs.
    """
    remaining: dict[str, int] = {}  # by name, how many statements may still make it
    readers: dict[str, list[Statement]] = {}
    found: dict[Statement, str] = {}
    missing: set[str] = set()
    unshown: list[tuple[Statement, str]] = []
    for statement in reached.statements:
        for name in statement.binds:
            remaining[name] = remaining.get(name, 0) + 1
        if statement.is_import or not statement.is_function:
            forbidden = find_forbidden(statement.imports)
            if forbidden:
                unshown.append((statement, forbidden[0]))
            for name in statement.reads:
                readers.setdefault(name, []).append(statement)
    while unshown:
        statement, cause = unshown.pop()
        if statement in found:
            continue
        if not statement.is_import:  # an import stays, for the function that reads it to be told
            found[statement] = cause
        for name in statement.binds:
            remaining[name] -= 1
        for name in statement.binds | statement.changes:
            if name not in missing and (name in statement.changes or not remaining[name]):
                missing.add(name)
                unshown += [(reader, name) for reader in readers.get(name, ())]
    return found


def _set_up(edition: Definitions) -> Definitions:
    """The edition without all that stands outside of its sections of model and data."""
    makers = {name: tuple(one for one in made if one.section in SET_UP) for name, made in edition.makers.items()}
    return replace(edition, makers={name: made for name, made in makers.items() if made})


def _wanted(reached: _Reached, left_out: Collection[Statement], set_up: Definitions) -> dict[Statement, set[str]]:
    """The student's statements that take numbers of what is left out and what the edition makes, with the expressions."""
    lost = {name for statement in left_out for name in statement.binds if _is_value(name, set_up)}
    found = {}
    for statement, is_edition in reached.statements.items():
        if not is_edition and (names := lost & statement.reads):
            found[statement] = set(map(ast.unparse, measured(statement.node, names)))
    return {statement: texts for statement, texts in found.items() if texts}


def _is_value(name: str, set_up: Definitions) -> bool:
    """True for what is made by a line that is no function and no import."""
    makers = set_up.bound(name)
    return bool(makers) and not any(maker.is_import or maker.is_function for maker in makers)


def _which_numbers(taken: Mapping[str, float]) -> str:
    """A sentence on numbers of the edition that were taken, since those of the student's own rows may be others."""
    listed = ", ".join(f"`{text}` is {number}" for text, number in taken.items())
    return listed and f"Grading takes numbers from the notebook as it was handed out: {listed}."


def _measured(statement: Statement, numbers: Mapping[str, float]) -> Statement:
    """A statement with the numbers that are known in it; as it is where it cannot be read."""
    try:
        return replace(statement, node=with_numbers(statement.source, numbers))
    except (SyntaxError, ValueError, RecursionError):
        return statement


def _program_of(expression: str, set_up: Definitions) -> str:
    """The program that makes what an expression is about."""
    return slice_of(root_of(ast.parse(expression, mode="eval").body), set_up, set_up).source


def _shortened(
    reached: _Reached, left_out: Collection[Statement], find_forbidden: FindForbidden
) -> dict[Statement, tuple[Statement, list[str]]]:
    """The functions of which lines only show something with what is lacking: without these lines, and the lines."""

    def is_there(name: str, maker: Statement) -> bool:
        if maker in left_out or name in OF_NOTEBOOKS and STAR in maker.binds:
            return False
        return not (maker.is_import and find_forbidden(maker.imports))

    made = {
        name
        for name, makers in reached.makers.items()
        if any(is_there(name, maker) for maker in _lasting(name, makers))
    }
    made.update(*(made_global(statement.node) for statement in reached.statements if statement.is_function))
    lacking = {name for name in reached.makers.keys() - made if not hasattr(builtins, name)}
    found = {}
    for statement in reached.statements:
        if not statement.is_function or not (statement.reads & lacking or find_forbidden(statement.imports)):
            continue
        try:
            node, lines = without_showing(statement.source, statement.reads & lacking, find_forbidden)
        except (SyntaxError, ValueError, RecursionError):  # then it is taken as it is
            continue
        if lines:
            found[statement] = (replace(statement, node=node), lines)
    return found


def _lines_left_out(shortened: dict[Statement, tuple[Statement, list[str]]]) -> Iterable[str]:
    """Sentences on lines that were left out."""
    for statement, (_, lines) in shortened.items():
        for line in lines[:MOST_MISSING_NAMES]:
            yield f"`{line}` in {statement.section} is left out: it only shows something, with what grading does not have."


def _which_definition(name: str, student: Definitions) -> str:
    """A sentence on which definition counts, where there are several."""
    bound = student.bound(name)
    if len(bound) < 2:
        return ""
    check = student.last_checks.get(name)
    taken = [maker for maker in _above(name, student, _end(name, student)) if name in maker.binds][-1]
    last = "which its last check judged" if check else "the last one"
    if check and taken.place > check:
        last = "the last one in the cell of its last check, below that check"
    return f"`{name}` is defined {len(bound)} times; graded is the definition in {taken.section}, {last}."


def _missing_names(kept: _Reached, left_out: dict[Statement, str]) -> Iterable[str]:
    """Sentences on names that the function is without."""
    missing = [
        (name, statement.section, cause)
        for statement, cause in left_out.items()
        for name in sorted((statement.binds | statement.changes) & kept.makers.keys())
    ]
    for name, section, cause in missing[:MOST_MISSING_NAMES]:
        yield f"`{name}` is made in {section} with `{cause}`, which grading does not run."
