"""A record of what the worked notebooks hand to a student's functions, beside what cases hand them.

python -m tests.exercises.called [NOTEBOOK ...]     run them, and write `called.yml` anew

Of each function the file holds the traits (`traits.py`) of all calls that its notebook makes of it: shapes, types, signs.
A trait that is one thing in every case and another one in a notebook is a hole: a function that rests on it passes.
"""

import argparse
import ast
import inspect
import json
from collections import defaultdict
from collections.abc import Callable
from functools import wraps
from pathlib import Path

import yaml

from shared import check
from shared.exercises.catalogue import EXERCISES, PLACES
from shared.exercises.exercise import Exercise
from tests.exercises.traits import constant_traits, traits_of

HERE = Path(__file__).parent
NOTEBOOKS = HERE.parents[1] / "notebooks"
MOST_OF_A_SHAPE = 40  # calls that are looked into of each shape; training makes thousands

Traits = dict[str, set]


def called() -> dict[str, dict[str, list]]:
    """By function and trait the answers over all calls of the worked notebooks."""
    return yaml.safe_load((HERE / "called.yml").read_text(encoding="utf-8"))


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
        return function(*arguments, **named)

    return noting


def run(path: Path) -> dict[str, Traits]:
    """Run a worked notebook from top to bottom; by function the traits of its calls."""
    exercises = {
        exercise.function: exercise for name, exercise in EXERCISES.items() if PLACES[name].startswith(path.stem)
    }
    traits: dict[str, Traits] = {name: defaultdict(set) for name in exercises}
    variables = {"__name__": "__main__", "display": lambda *_, **__: None}
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    for cell in cells:
        if cell["cell_type"] != "code":
            continue
        for statement in ast.parse("".join(cell["source"])).body:
            exec(compile(ast.Module([statement], []), path.name, "exec"), variables)
            if isinstance(statement, ast.FunctionDef) and statement.name in exercises:
                function = variables[statement.name]
                variables[statement.name] = recorded(exercises[statement.name], function, traits[statement.name])
    return traits


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", nargs="*", help="their names, such as dots; all of them if none is named")
    chosen = parser.parse_args().notebooks or sorted({place.partition(".")[0] for place in PLACES.values()})
    check.verdict_on = lambda exercise, function: None
    check.show = lambda verdict, function=None: True
    for name in chosen:
        found = {}
        for function, traits in run(NOTEBOOKS / f"{name}.ipynb").items():
            found[function] = {trait: sorted(answers, key=str) for trait, answers in sorted(traits.items())}
        text = yaml.safe_dump(called() | found, default_flow_style=None, width=120)
        (HERE / "called.yml").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
