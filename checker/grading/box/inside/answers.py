"""Runs a student's functions on cases, inside a box, and sends what each of them came to, as values.

Each function runs in a child of its own, so that one that never ends, or ends the process, costs itself alone. The
child sends outcomes; which function they are of, and of which case, is said here. Nothing here knows what is right: the
values are compared outside.
"""

import __future__

import ast
import asyncio
import base64
import importlib
import inspect
import os
import pickle
import signal
import sys
import types
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from importlib.abc import Loader
from importlib.machinery import ModuleSpec

from checker.grading.box.inside import BEGUN, exchange
from checker.grading.box.inside.children import Bounds, Send, in_a_child

STUDENT = "<notebook>"  # the file of a student's code in tracebacks
ITSELF = "__main__"  # the name of a notebook's module to itself
TOP_LEVEL = 5.0  # seconds of computing for all statements at top level: on a busy machine an import takes longer
LONGEST_PROBLEM = 400  # characters
MOST_REMARKS = 5  # on statements that failed
AS_IN_A_NOTEBOOK = __future__.annotations.compiler_flag | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


def run(job: dict, send: Send) -> None:
    """Send {"key", "case", "outcome"} for each call, and {"key", "ended"} once a function is through, "" for no reason.

    Send {"key", "remark"} on statements at top level that failed.

    job: "cases", pickled by the grader and base64; "functions", each with its key, statements, modules, name, seconds
        and the name of its cases;
        "imports", modules that take long to import, imported once for all.
    """
    sys.path = [folder for folder in sys.path if folder != os.getcwd()]  # which can be written to from now on
    for name in job["imports"]:
        importlib.import_module(name)
    cases = pickle.loads(base64.b64decode(job["cases"]))
    send({BEGUN: True})
    for function in job["functions"]:
        answers = Answers(function["key"], len(cases[function["cases"]]["cases"]), send)
        ended = in_a_child(
            lambda send, function=function: _answer(function, cases[function["cases"]], send),
            answers.receive,
            Bounds(function["seconds"], job["limits"]["result"], job["uid"], job["walled"]),
        )
        send({"key": function["key"], "ended": ended or answers.problem})


class Answers:
    """The answers of one function's child: an outcome for each case, in order, and remarks, under the function's key.

    problem: why the function cannot be called, in the child's words.
    """

    def __init__(self, key: str, count: int, send: Send):
        self.key = key
        self.numbers = iter(range(count))
        self.send = send
        self.remarks = 0
        self.problem = ""

    def receive(self, record: dict) -> None:
        """Pass on an outcome or a remark, note a problem, drop everything else."""
        if isinstance(record.get("outcome"), dict):
            number = next(self.numbers, None)
            if number is not None:
                with suppress(RecursionError):  # lists in lists that can be read and not written again
                    self.send({"key": self.key, "case": number, "outcome": record["outcome"]})
        elif isinstance(record.get("problem"), str):
            self.problem = record["problem"][:LONGEST_PROBLEM]
        elif isinstance(record.get("remark"), str) and self.remarks < MOST_REMARKS:
            self.remarks += 1
            self.send({"key": self.key, "remark": record["remark"][:LONGEST_PROBLEM]})


def _answer(function: dict, asked: dict, send: Send) -> None:
    """Define the function and call it on every case."""
    variables, failed = defined(function["statements"], asked.get("supplied", {}), function["modules"])
    called = variables.get(function["name"])
    if called is None:
        send({"problem": f"it cannot be defined: {failed[-1] if failed else 'its statement does not make it.'}"})
        return
    for remark in failed:
        send({"remark": remark})
    for case in asked["cases"]:
        send({"outcome": exchange.outcome_of(called, case, asked)})


class OwnModules(Loader):
    """Finds the student's own modules, after all others: so none of them takes the place of another one's.

    A statement that fails costs the names that it makes.

    failed: a sentence on each of these.
    """

    def __init__(self, statements: dict[str, list[str]]):
        self.statements = statements
        self.failed: list[str] = []

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name in self.statements else None

    def exec_module(self, module: types.ModuleType) -> None:
        file = f"{module.__name__}.py"
        for statement in self.statements[module.__name__]:
            try:
                exec(compile(statement, file, "exec", dont_inherit=True), module.__dict__)
            except Exception as error:
                self.failed.append(f"{file}: {_raised(statement, error)}")


class TooLong(BaseException):
    """The time for statements at top level is over. Not an Exception, so that `except Exception` lets it through."""


@dataclass
class Clock:
    """left: seconds of computing that statements at top level still have."""

    left: float


def defined(statements: list[str], supplied: dict, modules: Iterable = ()) -> tuple[dict, list[str]]:
    """The variables of a notebook of these statements, and a sentence on each statement that failed.

    A statement that fails costs the names that it makes. It is tried once more after the others, since cells may have
    been run in another order than they stand. Once the time is over, only definitions and imports are still run.

    supplied: variables that are there before.    modules: the student's own, each with its statements.
    """
    module = types.ModuleType(ITSELF)
    sys.modules[ITSELF] = module  # where a dataclass looks for its annotations
    module.__dict__.update(supplied)
    signal.signal(signal.SIGPROF, _too_long)
    clock = Clock(TOP_LEVEL)
    own = OwnModules(dict(modules))
    sys.meta_path.append(own)
    waiting = [statement for statement in statements if _runs(statement, module.__dict__, clock)]
    failed = [remark for remark in (_runs(statement, module.__dict__, clock) for statement in waiting) if remark]
    return module.__dict__, [*own.failed, *failed]


def _runs(statement: str, variables: dict, clock: Clock) -> str | None:
    """Run a statement at top level; a sentence on why it failed, None where it did not."""
    try:
        code = compile(statement, STUDENT, "exec", flags=AS_IN_A_NOTEBOOK, dont_inherit=True)
        if not clock.left and not isinstance(ast.parse(statement).body[0], DEFINITIONS):
            raise TooLong
        signal.setitimer(signal.ITIMER_PROF, clock.left)
        try:
            waited_for = eval(code, variables)
            if code.co_flags & inspect.CO_COROUTINE:
                asyncio.run(waited_for)
        finally:
            clock.left, _ = signal.setitimer(signal.ITIMER_PROF, 0)
    except TooLong:
        return f"`{_beginning(statement)}` was stopped: what stands outside of functions has {TOP_LEVEL:.0f} s."
    except BaseException as error:
        return _raised(statement, error)
    return None


def _raised(statement: str, error: BaseException) -> str:
    """A sentence on a statement that failed."""
    return f"`{_beginning(statement)}` raised {type(error).__name__}: {str(error)[:200]}"


def _too_long(*arguments) -> None:
    raise TooLong


def _beginning(statement: str) -> str:
    """The first line of a statement, shortened."""
    line = statement.partition("\n")[0]
    return line if len(line) <= 60 else f"{line[:57]}..."
