"""A student's function as a program of its own: its slice of the notebook, found in the syntax trees. No cell is run.

The slice of a function holds two kinds of statements. They stand at top level, above the last check of the function:

    those that make or change a name that the function reads
    those that make or change a name that a statement of the slice reads

(A name that is made nowhere above the check is taken from below it.) Checks are left out. So is what needs a module of
the project that grading does not show, such as a model and what was trained. An example:

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

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from checker.reading.syntax.statements import FUTURE, STAR, Definitions, Place, Statement

MOST_MISSING_NAMES = 3  # of which warnings are given: more would bury the verdict

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
    warnings: sentences on names that the function reads and the program lacks.
    which_definition: a sentence on the definition that was taken, where there are several; else "".
    problem: a sentence on why there is no program; "" where there is one.
    """

    statements: tuple[str, ...] = ()
    imports: frozenset[str] = frozenset()
    forbidden_imports: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()
    warnings: tuple[str, ...] = ()
    which_definition: str = ""
    problem: str = ""

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
    """
    notebooks = _Notebooks(
        name=name,
        student=student,
        edition=edition,
        with_solutions_of=with_solutions_of,
        beside=beside,
        supplied_names=frozenset(supplied_names) - {name, *beside},
    )
    if not notebooks.makers(name, notebooks.of_edition(name)):
        return Slice(problem=f"There is no function `{name}` in the notebook.")
    left_out = _left_out(notebooks.reached(), find_forbidden)
    kept = notebooks.reached(left_out.keys())
    functions = notebooks.reached(through_functions=True)
    imported_by_functions = frozenset(imported for statement in functions.statements for imported in statement.imports)
    ordered = sorted(kept.statements, key=lambda statement: (kept.statements[statement], statement.place))
    allowed = [statement for statement in ordered if not find_forbidden(statement.imports)]
    return Slice(
        statements=tuple(statement.source for statement in allowed),
        imports=imported_by_functions.union(*(statement.imports for statement in allowed)),
        forbidden_imports=tuple(find_forbidden(imported_by_functions)),
        names=kept.names & frozenset().union(*(statement.binds for statement in ordered)),
        warnings=tuple(_missing_names(kept, left_out)),
        which_definition=_which_definition(name, student),
    )


@dataclass(frozen=True)
class _Reached:
    """Everything that a function leads to.

    names: the names that it reads, and that the statements read.
    statements: those that make or change these names; the value is True for one of the edition's.
    """

    names: frozenset[str]
    statements: dict[Statement, bool]


@dataclass(frozen=True)
class _Notebooks:
    """The two notebooks of which a slice is made; the fields are the arguments of `slice_of`."""

    name: str
    student: Definitions
    edition: Definitions
    with_solutions_of: frozenset[str]
    beside: tuple[str, ...]
    supplied_names: frozenset[str]

    def of_edition(self, name: str) -> bool:
        """True for what the edition defines and is no exercise: it is called as it was handed out."""
        return name not in self.edition.filled and name in self.edition.makers

    def reached(self, without: Collection[Statement] = (), through_functions: bool = False) -> _Reached:
        """Return everything that the function leads to. Each name and each statement is looked at once.

        Args:
            without: statements that are passed over.
            through_functions: take functions, classes and imports alone, and go on from these.
        """
        names = set()
        statements = {}
        waiting = [(first, self.of_edition(first)) for first in (self.name, *self.beside)]
        while waiting:
            wanted, from_edition = waiting.pop()
            if wanted in names or wanted in self.supplied_names:
                continue
            names.add(wanted)
            is_edition, makers = self._chosen(wanted, from_edition)
            for maker in makers:
                if maker in statements or maker in without:
                    continue
                if through_functions and not (maker.is_function or maker.is_import):
                    continue
                statements[maker] = is_edition
                waiting.extend((used, is_edition) for used in sorted(maker.reads))
        return _Reached(frozenset(names), statements)

    def makers(self, wanted: str, from_edition: bool) -> tuple[Statement, ...]:
        """Return the statements that make or change a name; () where none makes it."""
        return self._chosen(wanted, from_edition)[1]

    def _chosen(self, wanted: str, from_edition: bool) -> tuple[bool, tuple[Statement, ...]]:
        """Return True if a name is taken from the edition, and the statements that make or change it there.

        from_edition: the name is read by a function of the edition's, which keeps to the edition's own names.
        """
        exercise = wanted in self.edition.filled
        if wanted not in self.with_solutions_of and (exercise or not from_edition):
            makers = _above(wanted, self.student, self.student.last_checks.get(self.name))
            if makers or exercise:
                return False, makers
        makers = _above(wanted, self.edition, None)
        if makers:
            return True, makers
        return False, self.student.makers.get(STAR, ())


def _above(wanted: str, source: Definitions, check: Place | None) -> tuple[Statement, ...]:
    """The statements above a check that make a name, all where there is none above; () where it is made nowhere."""
    makers = source.makers.get(wanted, ())
    if not any(wanted in maker.binds for maker in makers):
        return ()
    above = tuple(maker for maker in makers if check is None or maker.place < check)
    return above if any(wanted in maker.binds for maker in above) else makers


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


def _which_definition(name: str, student: Definitions) -> str:
    """A sentence on which definition counts, where there are several."""
    bound = student.bound(name)
    if len(bound) < 2:
        return ""
    taken = [maker for maker in _above(name, student, student.last_checks.get(name)) if name in maker.binds][-1]
    last = "which its last check judged" if name in student.last_checks else "the last one"
    return f"`{name}` is defined {len(bound)} times; graded is the definition in {taken.section}, {last}."


def _missing_names(kept: _Reached, left_out: dict[Statement, str]) -> Iterable[str]:
    """Sentences on names that the function is without."""
    missing = [
        (name, statement.section, cause)
        for statement, cause in left_out.items()
        for name in sorted((statement.binds | statement.changes) & kept.names)
    ]
    for name, section, cause in missing[:MOST_MISSING_NAMES]:
        yield f"`{name}` is made in {section} with `{cause}`, which grading does not run."
