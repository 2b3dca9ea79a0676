"""The verdicts on a student's functions, by hidden cases: cases that the student has not seen.

Four things take part:

    worked       the course's own notebook, solved: the list of its exercises and checks
    slice        one function of a notebook as a program of its own, without the cells that it does not need
    box          a group of processes without network and with limits, in which slices run (`boxed_functions.py`)
    answer key   the process that draws the cases and knows what is right (`reference_process.py`)

A function may fail only because it calls a wrong one, or because its slice lacks a statement that changes what it reads,
as `heappush(heap, 2)` changes `heap`. So it gets a second chance: a generous slice, with all statements that name what it
reads, and with the worked solutions of the wrong functions. An example, where `cube` is to call `square`:

    handed in                             first try   slice of the second try         verdict
    def square(x): return x + x           wrong       calls nothing: none             wrong
    def cube(x): return x * square(x)     wrong       with the worked `square`        right
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial

from checker.grading.box import modules
from checker.grading.judge.boxed_functions import BoxedFunction, Grader, judge_in_boxes
from checker.grading.judge.reference_process import HiddenCases, HiddenVerdict
from checker.grading.judge.worked_notebooks import WorkedNotebook
from checker.points.items import Check
from checker.reading.slicing.slices import NONE_KNOWN, Slice, nothing_forbidden, slice_of
from checker.reading.syntax.statements import Definitions

AT_SECOND_TRY = "once the functions that it calls are right and all has run that it may need"
NOTHING_WRONG: frozenset[str] = frozenset()
# `programs` of one notebook: from what is wrong in it, and the numbers that only a run of it makes.
Programs = Callable[[frozenset[str], Mapping[str, float]], dict[Check, BoxedFunction]]


def verdicts(programs_for: Programs, grader: Grader) -> dict[Check, HiddenVerdict]:
    """Return the verdict on each check of a notebook that has hidden cases. The instructor judges the others.

    Args:
        programs_for: reads the notebook: `programs`, but for what is wrong and for numbers.
        grader: what judges the programs.

    Raises:
        BoxFailed: a box failed, and no function is to blame.
    """
    handed_in = programs_for(NOTHING_WRONG, {})
    numbers = _numbers(handed_in.values(), grader)
    if numbers:
        handed_in = programs_for(NOTHING_WRONG, numbers)
    found = judge_in_boxes([*handed_in.values()], grader)
    wrong = frozenset(check.function for check, verdict in found.items() if not verdict.passed)
    mended = programs_for(wrong, numbers) if wrong else {}
    for check, program in mended.items():
        if not found[check].passed:
            # In a box of its own: the program holds solutions that another function could read there.
            second_try = judge_in_boxes([program], grader)
            found[check] = _better_of(found[check], second_try[check])
    return found


def _numbers(functions: Iterable[BoxedFunction], grader: Grader) -> dict[str, float]:
    """The numbers that programs want of what only a run makes, as the worked notebook has them."""
    wanted = dict(one for function in functions for one in function.program.wanted)
    found = {expression: grader.references.number(expression, program) for expression, program in wanted.items()}
    return {expression: number for expression, number in found.items() if number is not None}


def _better_of(first: HiddenVerdict, second: HiddenVerdict) -> HiddenVerdict:
    """The verdict of the first try, with the points of the second where that earned more.

    Worked solutions lie in the box of the second try. So of all that came out of it only its points are told.
    """
    if second.passed:
        return HiddenVerdict(True, f"right, {AT_SECOND_TRY}.")
    if second.earned > first.earned:
        told = f"{AT_SECOND_TRY.capitalize()}, it earns {100 * second.earned:.0f} % of its points."
        return replace(first, text=f"{first.text}\n{told}", share=second.share)
    return first


def programs(
    student: Definitions,
    worked: WorkedNotebook,
    cases: HiddenCases,
    wrong: frozenset[str] = NOTHING_WRONG,
    numbers: Mapping[str, float] = NONE_KNOWN,
) -> dict[Check, BoxedFunction]:
    """Return the student's functions that have hidden cases, each a program of its own.

    Args:
        student: what the notebook defines that was handed in.
        worked: the course's notebook with its solutions.
        cases: what there is to be known of the checks' cases.
        wrong: functions that are wrong. With these, only those of them are returned that are another program once worked
            solutions stand in the place of the wrong functions that the solution calls, and once all is taken along that
            may change what they read.
        numbers: of what only a run makes, by expression.
    """
    program_of = partial(_program, student=student, worked=worked, cases=cases, numbers=numbers)
    checks = [check for check in worked.checks if check.name in cases.checks]
    if not wrong:
        return {check: program_of(check)[0] for check in checks}
    found = {}
    for check in checks:
        if check.function not in wrong:
            continue
        handed_in, solution = program_of(check)
        called_and_wrong = wrong & (solution.names - {check.function})
        mended, _ = program_of(check, with_solutions_of=called_and_wrong)
        if not mended.program.problem and mended.program.statements != handed_in.program.statements:
            found[check] = mended
    return found


def _program(
    check: Check,
    student: Definitions,
    worked: WorkedNotebook,
    cases: HiddenCases,
    numbers: Mapping[str, float],
    with_solutions_of: frozenset[str] | None = None,
) -> tuple[BoxedFunction, Slice]:
    """The student's function of a check, ready for a box, and the slice of the worked solution.

    It may import of the project what the worked solution imports. A task of the student's own may import anything.

    with_solutions_of: for a second try, the functions that are taken from the worked notebook; None for the first.
    """
    of_both = {"beside": check.beside, "supplied_names": tuple(cases.supplied_names.get(check.name, ()))}
    solution = slice_of(check.function, worked.definitions, worked.definitions, **of_both)
    is_own_task = check.name in cases.without_reference
    find_forbidden = nothing_forbidden if is_own_task else partial(modules.refused, allowed=solution.imports)
    program = slice_of(
        check.function,
        student,
        worked.definitions,
        with_solutions_of=with_solutions_of or NOTHING_WRONG,
        generous=with_solutions_of is not None,
        find_forbidden=find_forbidden,
        numbers=numbers,
        **of_both,
    )
    allowed = solution.imports | program.imports if is_own_task else solution.imports
    return BoxedFunction(check, program, allowed, has_reference=not is_own_task), solution
