"""The things that a student could reach inside the boxes in which functions are judged.

`boxes_of` records the boxes that grading builds for a notebook. A program that searches runs in each of them in the
place of a student's function, and has everything a student has.

    python -m tests.checker.grading.judge.inside travelling
    python -m tests.checker.grading.judge.inside looking NOTEBOOK ISOLATION [MODULE ...]

The boxes show the further modules as well: with a reference among them the search must find it.

It runs in a process of its own, as the grader's key does: where tests check shapes at every call, functions are wrapped
in what does not travel.
"""

import base64
import io
import json
import pickle
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import cloudpickle

from checker.grading.box import modules
from checker.grading.box.isolation import Outcome, run_submission
from checker.grading.box.limits import Limits
from checker.grading.box.walls import ROOT, Box, Isolation, box
from checker.grading.judge import boxed_functions, hidden_cases
from checker.grading.judge.boxed_functions import Grader
from checker.grading.judge.oracle import key
from checker.grading.judge.reference_process import HiddenCases, HiddenVerdict
from checker.grading.judge.worked_notebooks import read_worked_notebook
from shared.check import EXERCISES
from shared.exercises import catalogue
from shared.exercises.exercise import plain_call
from shared.exercises.results import Text
from tests.checker.grading.judge.reading import programs_of

SEED = 20_261_123
LIMITS = Limits(wall=1500, cpu=500)
SECONDS = 1400.0  # for all that is tried in one box, on a busy machine
COMPARING = "shared/exercises/comparing.py"  # compares outcomes, and holds no reference
TOLD = "told"  # the check in whose place a program tells what it found
CASES = 4  # of a check, in which each callable is tried: what passes in all of them is looked at by a person


@dataclass(frozen=True)
class Seen:
    """A box: the checks that are judged in it, and what it shows of the project, as pairs (outside, inside)."""

    checks: tuple[str, ...]
    shown: tuple[tuple[Path, str], ...]

    @property
    def files(self) -> set[str]:
        return {inside for _, inside in self.shown}


def hidden_cases_without_the_cases(checks: Iterable[str]) -> HiddenCases:
    """Everything that the key says of these checks except their cases."""
    known = tuple(check for check in checks if key.exercise(check) is not None)
    shows = tuple(module for check in known for module in key.exercise(check).shows)
    free = tuple(check for check in known if not key.has_reference(check))
    return HiddenCases(known, "", shows, free, {check: sorted(key.supplied_in(check)) for check in known})


class _SaysRight:
    """In the place of `ReferenceProcess`: draws no cases, and finds every function right, so that none is tried again."""

    def cases(self, checks):
        return hidden_cases_without_the_cases(checks)

    def judge(self, check, outcomes):
        return HiddenVerdict(True, "right")


def boxes_of(name: str) -> list[Seen]:
    """The boxes in which the functions of a worked notebook are judged, those of tasks without a reference left out."""
    found = []

    def record(submission, job):
        checks = tuple(function["cases"] for function in job["functions"])
        if all(map(key.has_reference, checks)):
            found.append(Seen(checks, submission.shown))
        return Outcome((), "", 0.0, begun=True, finished=True)

    worked = read_worked_notebook(ROOT / "notebooks" / name)
    with patch.object(boxed_functions, "run_submission", record):
        programs_for = programs_of(worked.definitions, worked, _SaysRight())
        hidden_cases.verdicts(programs_for, Grader(_SaysRight(), Isolation("none"), Limits()))
    return found


class _Naming(pickle.Unpickler):
    """Reads a pickle and keeps what it names."""

    def __init__(self, pickled: bytes):
        super().__init__(io.BytesIO(pickled))
        self.named = set()

    def find_class(self, module, name):
        self.named.add((module, name))
        return super().find_class(module, name)


def travelling() -> dict[str, list[tuple[str, str]]]:
    """Names of the project in what travels into a box, by check: pairs (module, name)."""
    cloudpickle.register_pickle_by_value(catalogue)
    found = {}
    for check, exercise in EXERCISES.items():
        reader = _Naming(
            cloudpickle.dumps({"cases": exercise.boundary(), "call": exercise.call, "result": exercise.result})
        )
        reader.load()
        found[check] = sorted(pair for pair in reader.named if pair[0].split(".")[0] in ("shared", "checker"))
    return found


# The programs run in a box. Together they define `tell`, which stands in the place of a student's function.

# Every object that was made of the project's own code, wherever it is kept: modules, classes, frames, cases.
EVERYTHING = """
import functools, gc, importlib, inspect, json, os, pathlib, pkgutil, select, signal, sys, types

def of_project(thing):
    try:
        names = getattr(thing, "__module__", None), type(thing).__module__
        return any(str(name).split(".")[0] in ("shared", "checker") for name in names)
    except BaseException:
        return False

@functools.cache
def everything():
    root = pathlib.Path("/course")
    for path in sorted(root.rglob("*.py")):
        name = ".".join(path.relative_to(root).with_suffix("").parts)
        try:
            importlib.import_module(name.removesuffix(".__init__"))
        except BaseException:
            pass
    return [thing for thing in gc.get_objects() if of_project(thing)]
"""

# Every callable is tried as the answer to every check, each in a child: some end the process that they are called in, or
# change it for all that come after.
TRYING = """
from shared.exercises.calling import call
from shared.exercises.comparing import first_difference

SECONDS = 5.0  # for one callable and one check; a right function takes a hundredth of it

def name_of(thing):
    return f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', type(thing).__name__)}"

def callables():
    found = {}
    for thing in everything():
        if callable(thing):
            # An object that is no function stands for all of its class, which run the same code.
            found[id(thing) if isinstance(thing, (type, types.FunctionType)) else type(thing)] = thing
        elif hasattr(thing, "reference"):  # an exercise of the catalogue
            found[id(thing)] = thing.reference()
    return sorted(found.values(), key=name_of)

def first_arguments(asked):
    given = []
    call(types.SimpleNamespace(**asked), lambda *arguments, **named: given.append((arguments, named)), asked["cases"][0])
    return given[0]

def takes(thing, arguments, named):
    try:
        inspect.signature(thing).bind(*arguments, **named)
    except TypeError:
        return False
    except ValueError:  # of what is written in C nothing is known
        return True
    return True

def is_right(thing, asked):
    for case, expected in zip(asked["cases"], asked["expected"]):
        if first_difference(call(types.SimpleNamespace(**asked), thing, case), expected, asked["tolerance"]):
            return False
    return True

def withheld(*arguments):
    raise PermissionError

def in_child(thing, checks, writing):
    os.setpgid(0, 0)
    os.kill = withheld  # a box's own functions kill all of its processes, the one that tries among them
    try:
        for asked in checks:
            os.write(writing, b"right" if is_right(thing, asked) else b"wrong")
    finally:
        os._exit(0)

def said_in_child(thing, checks):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        in_child(thing, checks, writing)
    os.close(writing)
    said = b""
    while select.select([reading], [], [], SECONDS)[0]:
        piece = os.read(reading, 1 << 16)
        if not piece:
            break
        said += piece
    os.close(reading)
    for target in (child, -child):
        try:
            os.kill(target, signal.SIGKILL)
        except ProcessLookupError:
            pass
    os.waitpid(child, 0)
    return [said[start:start + 5] == b"right" for start in range(0, len(said), 5)]

def tried(thing, checks):
    found = []
    while len(found) < len(checks):
        said = said_in_child(thing, checks[len(found):])
        # It does not pass the check in which it ended its child, or took too long.
        found += said if len(found) + len(said) == len(checks) else [*said, False]
    return found

def passing():
    given = {check: first_arguments(exercise) for check, exercise in ASKED.items()}
    found = {check: [] for check in ASKED}
    for thing in callables():
        fitting = [check for check in ASKED if takes(thing, *given[check])]
        for check, right in zip(fitting, tried(thing, [ASKED[check] for check in fitting])):
            if right:
                found[check].append(name_of(thing))
    return found
"""

# Each of ROUTES may be tried by a student: what it gives is a reference, or leads to one.
ROUTES = """
MARKS = ("EXERCISE = " + "Exercise(", "# end " + "student code")

def _imported(name):
    try:
        return importlib.import_module(name)
    except BaseException:
        return None

def by_a_split_name():
    return [name for name in OTHERS if _imported(name[:7] + name[7:])]

def by_pkgutil():
    import shared
    found = [module.name for module in pkgutil.walk_packages(shared.__path__, "shared.")]
    return [name for name in found if name in OTHERS]

def by_sys_modules():
    everything()
    return [name for name in sys.modules if name in OTHERS]

def is_reference(thing):
    kind = type(thing)
    return kind.__module__.startswith("shared.exercises") and kind.__name__ in ("Exercise", "Steps", "Slip", "Part") or (
        callable(thing) and getattr(thing, "is_reference", False) is True
    )

def by_gc():
    return [repr(type(thing)) for thing in everything() if is_reference(thing)]

def by_frames():
    found = []
    frame = sys._getframe()
    while frame:
        for name, thing in [*frame.f_locals.items(), *frame.f_globals.items()]:
            if is_reference(thing):
                found.append(name)
        frame = frame.f_back
    return found

def by_files():
    found = []
    for folder, folders, files in os.walk("/"):
        folders[:] = [name for name in folders if folder != "/" or name not in ("proc", "sys")]
        packages = "/site-packages/" in folder or "/dist-packages/" in folder or folder.startswith("/usr")
        for file in files:
            path = os.path.join(folder, file)
            if file.endswith(".ipynb") or "shared/exercises/catalogue" in path:
                found.append(path)
            elif not packages and file.endswith((".py", ".json", ".md", ".txt", ".yml")):
                try:
                    text = open(path, encoding="utf-8", errors="replace").read()
                except OSError:
                    continue
                if any(mark in text for mark in MARKS):
                    found.append(path)
    return found

ROUTES = (by_a_split_name, by_pkgutil, by_sys_modules, by_gc, by_frames, by_files)

def tell(asked, others):
    globals().update(ASKED=asked, OTHERS=others)
    found = {route.__name__: route() for route in ROUTES}
    routes = {name: things[:5] for name, things in found.items() if things}
    return json.dumps({"callables": len(callables()), "passing": passing(), "routes": routes})
"""


def looked(seen: Seen, isolation: Isolation, planted: Iterable[str]) -> dict:
    """Look around in a box; all that it shows to who looks for it.

    callables: how many were tried.    passing: those that pass, by check.    routes: what leads to references.
    planted: modules that this box shows besides.
    """
    asked = {check: _with_answers(check) for check in seen.checks}
    usual = seen.files | {COMPARING}
    files = [path.relative_to(ROOT) for path in (ROOT / "shared").rglob("*.py")]
    others = [_module(file) for file in files if str(file) not in usual]
    further = modules.files(planted) | {COMPARING: ROOT / COMPARING}
    shown = {*seen.shown, *((path, inside) for inside, path in further.items())}
    return json.loads(_told(box(isolation, tuple(shown), LIMITS), {"asked": asked, "others": others}))


def _with_answers(check: str) -> dict:
    """Some of the cases of a check, from the first to the last, with what is right in them, and how a call is made."""
    cases = key.hidden(check, SEED)
    places = sorted({step * (len(cases) - 1) // (CASES - 1) for step in range(CASES)})
    expected = [key.expected_outcome(check, SEED, place, 0) for place in places]
    right = {"expected": expected, "tolerance": key.exercise(check).tolerance}
    return key.asked_of(check, SEED) | {"cases": [cases[place][0] for place in places]} | right


def _told(started: Box, arguments: dict) -> str:
    """The answer of `tell`, in the place of a student's function."""
    cloudpickle.register_pickle_by_value(catalogue)
    fields = {"cases": [arguments], "call": plain_call, "result": Text(), "gradient": None, "relevant": None}
    statements = [EVERYTHING, TRYING, ROUTES]
    function = {"key": "0", "cases": TOLD, "modules": (), "statements": statements, "name": "tell", "seconds": SECONDS}
    cases = base64.b64encode(cloudpickle.dumps({TOLD: fields})).decode()
    job = {"do": "answers", "cases": cases, "imports": boxed_functions.IMPORTED, "functions": [function]}
    records = run_submission(started, job).records
    (answer,) = [record["outcome"]["value"] for record in records if "outcome" in record] or [None]
    assert isinstance(answer, str), records
    return answer


def _module(file: Path) -> str:
    return ".".join(file.with_suffix("").parts).removesuffix(".__init__")


def main() -> None:
    what, *which = sys.argv[1:]
    if what == "travelling":
        print(json.dumps(travelling()))
        return
    name, isolation, *planted = which
    print(json.dumps([looked(seen, Isolation(**json.loads(isolation)), planted) for seen in boxes_of(name)]))


if __name__ == "__main__":
    main()
