"""Traits of a case that a wrong function may rest on: sizes, order, signs, equal neighbours, capitals, where the largest stands.

`constant_traits` finds those that are the same in every case of an exercise. A function that rests on one of them passes
although it is wrong: `z[-1]` is right as long as the terminal state is the last one.
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations

import numpy as np
import torch

from shared.exercises.arguments import AXES, Scalar, Size, lengths
from shared.exercises.exercise import Case, Exercise
from shared.trajectory import Trajectory

Trait = tuple[str, bool]  # what is asked, and the answer


def constant_traits(exercise: Exercise) -> dict[str, bool]:
    """By "exercise argument: trait" what is the same in all cases: True for always, False for never."""
    found = defaultdict(set)
    for case in exercise.cases():
        for trait, answer in traits_of(exercise, case):
            found[trait].add(answer)
    return {f"{exercise.function} {trait}": answers.pop() for trait, answers in found.items() if len(answers) == 1}


def traits_of(exercise: Exercise, case: Case) -> Iterator[Trait]:
    """The traits of the arguments that the right function reads, of their sizes, and of rows beside each other."""
    read = {name for part in exercise.steps.steps.values() for name in part.reads}
    for name, value in case.items():
        for trait, answer in of_value(value) if name in read else ():
            yield f"{name}: {trait}", answer
    yield from of_sizes(exercise, case)
    yield from of_rows(case)


def of_value(value) -> Iterator[Trait]:
    """Traits of one argument, by what it holds."""
    if isinstance(value, (torch.Tensor, np.ndarray)):
        yield from of_numbers(torch.as_tensor(value).double())
    elif isinstance(value, int | float):
        yield "is 0", value == 0
    elif isinstance(value, str):
        yield from of_texts([value])
    elif isinstance(value, Trajectory):
        yield from of_walks([value])
    elif isinstance(value, list) and value:
        yield from of_list(value)


def of_list(items: list) -> Iterator[Trait]:
    """Traits of a list: its length, doubles, order, and those of what it holds."""
    yield "has one item", len(items) == 1
    if len(items) > 1 and not isinstance(items[0], Trajectory):
        yield "has equal neighbours", any(one == other for one, other in zip(items, items[1:]))
    if all(isinstance(item, str) for item in items):
        yield from of_texts(items)
    elif all(isinstance(item, Trajectory) for item in items):
        yield from of_walks(items)
    elif all(isinstance(item, int | float) for item in items):
        yield from of_numbers(torch.tensor(items, dtype=torch.float64))
    elif all(isinstance(item, dict) for item in items):
        for column in items[0]:
            for trait, answer in of_value([item[column] for item in items]):
                yield f"{column} {trait}", answer


def of_numbers(numbers: torch.Tensor) -> Iterator[Trait]:
    """Traits of numbers: signs, zeros, order along the last axis, the place of the largest."""
    if not numbers.numel():
        return
    yield "has a number below 0", bool((numbers < 0).any())
    yield "has a number above 0", bool((numbers > 0).any())
    yield "has a 0", bool((numbers == 0).any())
    if not numbers.dim() or numbers.size(-1) == 1:
        return
    steps = numbers.diff(dim=-1)
    yield "has equal neighbours", bool((steps == 0).any())
    yield "never falls", bool((steps >= 0).all())
    yield "never rises", bool((steps <= 0).all())
    if numbers.dim() == 1 and int((numbers == numbers.max()).sum()) == 1:
        yield "has its largest first", int(numbers.argmax()) == 0
        yield "has its largest last", int(numbers.argmax()) == len(numbers) - 1


def of_texts(texts: list[str]) -> Iterator[Trait]:
    yield "has an empty text", "" in texts
    yield "has capitals", any(text != text.lower() for text in texts)
    if any(text.strip().isascii() and text.strip().isdigit() for text in texts):
        yield "has a 0 alone", any(text.strip() == "0" for text in texts)


def of_walks(walks: list[Trajectory]) -> Iterator[Trait]:
    states = [walk.states().tolist() for walk in walks]
    yield "has a walk of one step", any(len(walk) == 2 for walk in states)
    yield "begins in state 0", states[0][0] == 0
    yield "comes back to a state", any(len(set(walk)) < len(walk) for walk in states)
    yield "ends in its largest state", all(walk[-1] == max(walk) for walk in states)
    if len(walks) > 1:
        yield "has walks of different length", len({len(walk) for walk in states}) > 1
        yield "has walks that all begin alike", len({walk[0] for walk in states}) == 1


def of_sizes(exercise: Exercise, case: Case) -> Iterator[Trait]:
    """The axes that have one place, and the axes and whole numbers that are equal."""
    known = {axis: size for axis, size in lengths(exercise.arguments, case).items() if axis in AXES}
    for axis, size in known.items():
        yield f"axis {axis}: has one place", size == 1
    counts = {f"axis {axis}": size for axis, size in known.items()}
    counts |= {
        name: case[name]
        for name, kind in exercise.arguments.items()
        if isinstance(kind, Scalar) and isinstance(case[name], int) and not isinstance(kind, Size)
    }
    for one, other in combinations(counts, 2):
        yield f"{one}, {other}: are equal", counts[one] == counts[other]


def of_rows(case: Case) -> Iterator[Trait]:
    """True if a completion holds what is the answer of another row and not of its own."""
    texts = case.get("completions")
    for name, values in case.items():
        are_answers = isinstance(values, list) and all(isinstance(value, str | int | list) for value in values)
        if name in ("prompts", "completions") or not are_answers or len(values) != len(texts or ()):
            continue
        if len(values) > 1:
            answers = [[str(answer) for answer in (value if isinstance(value, list) else [value])] for value in values]
            yield (
                f"completions, {name}: one holds another row's",
                any(
                    any(answer in text.casefold() for answer in answers[other])
                    and not any(answer in text.casefold() for answer in answers[row])
                    for row, text in enumerate(texts)
                    for other in range(len(values))
                    if other != row
                ),
            )
