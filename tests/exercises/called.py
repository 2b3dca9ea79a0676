"""A record of what the worked notebooks hand to a student's functions, beside what cases hand them.

python -m tests.exercises.called [NOTEBOOK ...]     run them, and write `called.yml` anew
python -m tests.exercises.called --stale            say in seconds which are called otherwise than recorded

Of each function the file holds the traits (`traits.py`) of all calls that its notebook makes of it, shapes, types and signs,
the classes of values (`left_out.py`) that each argument has members of, and the code that makes the calls, as a hash. A trait
that is one thing in every case and another one in a notebook is a hole: a function that rests on it passes.
"""

import argparse
import ast
import hashlib
import inspect
import sys
from collections import defaultdict
from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path

import yaml

from shared import check
from shared.exercises.arguments import Mask
from shared.exercises.catalogue import EXERCISES, PLACES
from shared.exercises.exercise import Case, Exercise
from shared.exercises.left_out import classes
from tests.exercises.test_notebooks import NOTEBOOKS, sources_of, statements_of
from tests.exercises.traits import answers_by_trait, constant_traits, traits_of

HERE = Path(__file__).parent
CHAPTERS = {path.stem: path for path in NOTEBOOKS}
MOST_OF_A_SHAPE = 40  # calls that are looked into of each shape; training makes thousands

Traits = dict[str, set]


@cache
def called() -> dict[str, dict]:
    """By function and trait the answers over all calls of the worked notebooks."""
    return yaml.safe_load((HERE / "called.yml").read_text(encoding="utf-8"))


def exercises_of(chapter: str) -> dict[str, Exercise]:
    """By function the exercises of a chapter."""
    own = [exercise for name, exercise in EXERCISES.items() if PLACES[name].partition(".")[0] == chapter]
    return {exercise.function: exercise for exercise in own}


def calling_code(statements: list[ast.stmt], function: str) -> str:
    """A hash of the statements that call a function, through functions of the notebook as well."""
    callers = {function}
    while True:
        reached = [one for one in statements if callers & _names(one) and getattr(one, "name", "") != function]
        found = callers | {one.name for one in reached if isinstance(one, ast.FunctionDef | ast.ClassDef)}
        if found == callers:
            return hashlib.sha256("\n".join(map(ast.unparse, reached)).encode()).hexdigest()[:8]
        callers = found


def _names(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}


def stale(chapter: str) -> list[str]:
    """A sentence for each function of a chapter that its notebook calls otherwise than when its calls were recorded."""
    statements = statements_of(CHAPTERS[chapter])
    return [
        f"`{chapter}` calls `{function}` otherwise than `called.yml` says: python -m tests.exercises.called {chapter}"
        for function in exercises_of(chapter)
        if called().get(function, {}).get("code") != calling_code(statements, function)
    ]


def never_drawn(exercise: Exercise) -> dict[str, tuple]:
    """By trait what all cases have, and what calls of the notebook have besides."""
    in_notebook = called().get(exercise.function, {})
    found = {}
    for name, answer in constant_traits(exercise).items():
        trait = name.removeprefix(f"{exercise.function} ")
        others = [other for other in in_notebook.get(trait, []) if other != answer]
        if others:
            found[trait] = (answer, *others)
    return found


def too_short(exercise: Exercise) -> dict[str, tuple[int, int]]:
    """By axis, or list, the longest of all cases and of the notebook's calls, where these have a longer one.

    Nobody writes down a number beyond what is `long`.
    """
    found = {}
    for trait, answers in answers_by_trait(exercise).items():
        in_notebook = called().get(exercise.function, {}).get(trait, ())
        if trait.endswith(": length") and in_notebook and max(answers) < min(max(in_notebook), exercise.long):
            found[trait] = (max(answers), max(in_notebook))
    return found


def classes_in(exercise: Exercise, case: Case) -> dict[str, set[str]]:
    """By argument the classes that it has members of, where a mask of its shape is 1."""
    masks = [value for name, value in case.items() if isinstance(exercise.arguments[name], Mask)]
    found = {}
    for name, value in case.items():
        of_value = [mask for mask in masks if getattr(value, "shape", None) == mask.shape]
        found[name] = classes(value[of_value[0] == 1] if of_value else value)
    return found


def recorded(exercise: Exercise, function: Callable, traits: Traits) -> Callable:
    """The function, which notes the traits of what it is handed."""
    seen = defaultdict(int)
    signature = inspect.signature(function)

    @wraps(function)
    def noting(*arguments, **named):
        bound = signature.bind(*arguments, **named)
        bound.apply_defaults()
        case = {name: bound.arguments[name] for name in exercise.arguments if name in bound.arguments}
        shape = str([getattr(value, "shape", type(value)) for value in case.values()])
        seen[shape] += 1
        if seen[shape] <= MOST_OF_A_SHAPE:
            for trait, answer in traits_of(exercise, case):
                traits[trait].add(answer)
            for name, found in classes_in(exercise, case).items():
                traits[f"{name}: classes"] |= found
        return function(*arguments, **named)

    return noting


def run(chapter: str) -> dict[str, Traits]:
    """Run a worked notebook from top to bottom; by function the traits of its calls."""
    exercises = exercises_of(chapter)
    traits: dict[str, Traits] = {name: defaultdict(set) for name in exercises}
    variables = {"__name__": "__main__", "display": lambda *_, **__: None}
    for source in sources_of(CHAPTERS[chapter]):
        for statement in ast.parse(source).body:
            exec(compile(ast.Module([statement], []), chapter, "exec"), variables)
            if isinstance(statement, ast.FunctionDef) and statement.name in exercises:
                function = variables[statement.name]
                variables[statement.name] = recorded(exercises[statement.name], function, traits[statement.name])
    return traits


def record(chapter: str, found: dict[str, Traits]) -> None:
    """Write the traits of a chapter's calls in the place of those that were recorded before."""
    statements = statements_of(CHAPTERS[chapter])
    known = dict(called())
    for function, traits in found.items():
        known[function] = {trait: sorted(answers, key=str) for trait, answers in sorted(traits.items())}
        known[function]["code"] = calling_code(statements, function)
    text = yaml.safe_dump(known, default_flow_style=None, width=120)
    (HERE / "called.yml").write_text(text, encoding="utf-8")
    called.cache_clear()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "notebooks", nargs="*", help="their names, such as dots; those with a stale record if none is named"
    )
    parser.add_argument(
        "--stale", action="store_true", help="only say which functions are called otherwise than recorded"
    )
    given = parser.parse_args()
    chapters = sorted({place.partition(".")[0] for place in PLACES.values()})
    if given.stale:
        sys.exit("\n".join(sentence for chapter in given.notebooks or chapters for sentence in stale(chapter)) or 0)
    check.verdict_on = lambda exercise, function: None
    check.show = lambda *_, **__: True
    for chapter in given.notebooks or filter(stale, chapters):
        record(chapter, run(chapter))


if __name__ == "__main__":
    main()
