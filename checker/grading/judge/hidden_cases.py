"""The verdicts on a student's functions, by hidden cases: cases that the student has not seen.

Four things take part:

    sheet        a worked notebook, read as the list of its exercises and checks
    slice        one function of a notebook as a program of its own, without the cells that it does not need
    box          a group of processes without network and with limits, in which slices run (`boxed_functions.py`)
    answer key   the process that draws the cases and knows what is right (`reference_process.py`)

A function may fail only because it calls a wrong one. So it gets a second chance: the same slice with the worked
solutions of the wrong functions. An example, where `cube` is to call `square`:

    handed in                             first try   slice of the second try         verdict
    def square(x): return x + x           wrong       calls nothing: none             wrong
    def cube(x): return x * square(x)     wrong       with the sheet's `square`       right
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property

from checker.grading.box import modules
from checker.grading.box.limits import Limits
from checker.grading.box.walls import Isolation
from checker.grading.judge.boxed_functions import BoxedFunction, Grader, judge_in_boxes
from checker.grading.judge.reference_process import HiddenCases, HiddenVerdict, ReferenceProcess
from checker.grading.judge.sheets import Sheet
from checker.points.items import Check
from checker.reading.slicing.slices import Slice, slice_of
from checker.reading.syntax.statements import Definitions


def verdicts(
    student: Definitions, sheet: Sheet, references: ReferenceProcess, isolation: Isolation, limits: Limits
) -> dict[Check, HiddenVerdict]:
    """Return the verdict on each check of a sheet that has hidden cases. The instructor judges the others.

    Args:
        student: what the notebook defines that was handed in.
        sheet: the worked notebook.
        references: the process that knows what is right.
        isolation: the kind of box.
        limits: of each box.

    Raises:
        BoxFailed: a box failed, and no function is to blame.
    """
    grader = Grader(references, isolation, limits)
    functions = sliced_functions(student, sheet, references.cases(check.name for check in sheet.checks))
    first_try = [function.to_run(function.program) for function in functions.values()]
    found = judge_in_boxes(first_try, grader)
    wrong = frozenset(check.function for check, verdict in found.items() if not verdict.passed)
    for check, function in functions.items():
        if found[check].passed:
            continue
        mended = function.mended_program(wrong)
        if mended is not None:
            # In a box of its own: the program holds solutions that another function could read there.
            second_try = judge_in_boxes([function.to_run(mended)], grader)
            found[check] = _better_of(found[check], second_try[check])
    return found


def _better_of(first: HiddenVerdict, second: HiddenVerdict) -> HiddenVerdict:
    """The verdict of the first try, with the points of the second where that earned more.

    Worked solutions lie in the box of the second try. So of all that came out of it only its points are told.
    """
    if second.passed:
        return HiddenVerdict(True, "right, once the functions that it calls are right.")
    if second.earned > first.earned:
        told = f"Once the functions that it calls are right, it earns {100 * second.earned:.0f} % of its points."
        return replace(first, text=f"{first.text}\n{told}", share=second.share)
    return first


@dataclass(frozen=True)
class SlicedFunction:
    """The function of one check, and the slices of it.

    check: the check that judges the function.
    student: what the notebook defines that was handed in.
    worked: what the sheet's notebook defines.
    supplied_names: names that exist whenever the function is called, such as `tokenizer`.
    may_import_all: true for a task of the student's own, which has no reference to import.
    """

    check: Check
    student: Definitions
    worked: Definitions
    supplied_names: tuple[str, ...]
    may_import_all: bool

    @cached_property
    def solution(self) -> Slice:
        """The slice of the worked solution."""
        return slice_of(
            self.check.function,
            self.worked,
            self.worked,
            beside=self.check.beside,
            supplied_names=self.supplied_names,
        )

    @cached_property
    def program(self) -> Slice:
        """The slice of the student's function as it was handed in."""
        return self._student_slice(with_solutions_of=frozenset())

    @property
    def allowed_imports(self) -> frozenset[str]:
        """The names of the project that the function may import: those that the worked solution imports."""
        if self.may_import_all:
            return self.solution.imports | self.program.imports
        return self.solution.imports

    def mended_program(self, wrong: frozenset[str]) -> Slice | None:
        """Return the slice with worked solutions in the place of the wrong functions that the solution calls too.

        Returns None if that is no other program.
        """
        called_and_wrong = wrong & (self.solution.names - {self.check.function})
        if not called_and_wrong:
            return None
        mended = self._student_slice(with_solutions_of=called_and_wrong)
        if mended.problem or mended.statements == self.program.statements:
            return None
        return mended

    def to_run(self, program: Slice) -> BoxedFunction:
        """Return one of the function's slices, ready for a box."""
        return BoxedFunction(self.check, program, self.allowed_imports, has_reference=not self.may_import_all)

    def _student_slice(self, with_solutions_of: frozenset[str]) -> Slice:
        return slice_of(
            self.check.function,
            self.student,
            self.worked,
            with_solutions_of=with_solutions_of,
            beside=self.check.beside,
            supplied_names=self.supplied_names,
            find_forbidden=self._forbidden_imports,
        )

    def _forbidden_imports(self, imports: Collection[str]) -> list[str]:
        if self.may_import_all:
            return []
        return modules.refused(imports, allowed=self.solution.imports)


def sliced_functions(student: Definitions, sheet: Sheet, cases: HiddenCases) -> dict[Check, SlicedFunction]:
    """Return the functions of those checks of a sheet that have hidden cases."""
    return {
        check: SlicedFunction(
            check,
            student,
            sheet.definitions,
            supplied_names=tuple(cases.supplied_names.get(check.name, ())),
            may_import_all=check.name in cases.without_reference,
        )
        for check in sheet.checks
        if check.name in cases.checks
    }
