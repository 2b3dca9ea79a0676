"""Traits of a case that a wrong function may rest on: sizes, order, signs, equal neighbours, capitals, where the largest stands.

`constant_traits` finds those that are the same in every case of an exercise. A function that rests on one of them passes
although it is wrong: `z[-1]` is right as long as the terminal state is the last one.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from itertools import combinations

import numpy as np
import torch

from shared.exercises.arguments import AXES, Kind, Scalar, Size, lengths
from shared.exercises.exercise import Case, Exercise

Trait = tuple[str, object]  # what is asked, and the answer: True or False, or how many
FORM = "form: "  # begins traits that are no fault by themselves: an argument may have one type and one number of axes


def constant_traits(exercise: Exercise) -> dict[str, object]:
    """By "exercise argument: trait" what is the same in all cases: True for always, False for never, or the number."""
    found = answers_by_trait(exercise)
    return {f"{exercise.function} {trait}": answers.pop() for trait, answers in found.items() if len(answers) == 1}


def answers_by_trait(exercise: Exercise) -> dict[str, set]:
    """The answers of all cases."""
    found = defaultdict(set)
    for case in exercise.cases():
        for trait, answer in traits_of(exercise, case):
            found[trait].add(answer)
    return found


def traits_of(exercise: Exercise, case: Case) -> Iterator[Trait]:
    """The traits of the arguments that the right function reads, of their sizes, and of rows beside each other."""
    read = {name for part in exercise.steps.steps.values() for name in part.reads}
    of_reference = {
        name: value
        for name, value in case.items()
        if name in read and (exercise.arguments[name] != Kind() or isinstance(value, torch.nn.Module))
    }
    for name, value in of_reference.items():
        yield from ((f"{name}: {trait}", answer) for trait, answer in of_value(value))
    yield from of_shared(of_reference)
    yield from of_sizes(exercise, case)
    yield from of_rows(case)


def of_value(value) -> Iterator[Trait]:
    """Traits of one argument, by what it holds."""
    if isinstance(value, (torch.Tensor, np.ndarray)):
        yield FORM + "axes", value.ndim
        yield FORM + "type", str(value.dtype).removeprefix("torch.")
        yield from of_numbers(torch.as_tensor(value).double())
    elif isinstance(value, torch.nn.Module):
        yield from of_model(value)
    elif isinstance(value, bool):
        return
    elif isinstance(value, int | float):
        yield "is 0", value == 0
        yield FORM + "is whole", float(value).is_integer()
    elif isinstance(value, str):
        yield from of_texts([value])
    elif isinstance(value, list) and value:
        yield from of_list(value)
    elif isinstance(value, dict) or is_dataclass(value):
        yield from of_parts(value)


def of_list(items: list) -> Iterator[Trait]:
    """Traits of a list: its length, doubles, order, and those of what it holds."""
    yield "length", len(items)
    yield "has one item", len(items) == 1
    if len(items) > 1:
        yield "has equal neighbours", any(one == other for one, other in zip(items, items[1:]))
    yield from of_parts(items)


def of_parts(value) -> Iterator[Trait]:
    """Traits of the numbers and the texts inside, those of each column by themselves."""
    for path, found in parts_of(value).items():
        if isinstance(found[0], str):
            traits = [*of_texts(found)]
        else:
            traits = [*of_numbers(torch.tensor(found, dtype=torch.float64)), *of_digits(found)]
        yield from ((f"{path} {trait}".strip(), answer) for trait, answer in traits)


def of_digits(numbers: list) -> Iterator[Trait]:
    """Traits of listed numbers, which are ids, prices or counts: whether they are whole, and have one digit."""
    yield "is whole", all(float(number).is_integer() for number in numbers)
    yield "has two digits", any(abs(number) > 9 for number in numbers)


def parts_of(value, path: str = "") -> dict[str, list]:
    """The numbers and texts inside, by the names of their columns: "weight" of rows, "1" of the second of each pair."""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return {path: [value]}
    if is_dataclass(value):
        inside = {field.name: getattr(value, field.name) for field in fields(value)}.items()
    elif isinstance(value, dict) and not all(isinstance(key, str) for key in value):
        inside = [("keys", list(value)), ("values", list(value.values()))]
    elif isinstance(value, dict):
        inside = value.items()
    elif isinstance(value, tuple):
        inside = [(str(place), item) for place, item in enumerate(value)]
    else:
        inside = [("", item) for item in value] if isinstance(value, list) else []
    found = defaultdict(list)
    for name, item in inside:
        for own_path, own in parts_of(item, f"{path} {name}".strip()).items():
            found[own_path] += own
    return {own_path: own for own_path, own in found.items() if len({isinstance(one, str) for one in own}) == 1}


def of_model(model: torch.nn.Module) -> Iterator[Trait]:
    """Traits of a model: a list of layers that has one alone, where who works on the first works on all."""
    for name, part in model.named_modules():
        if isinstance(part, torch.nn.ModuleList):
            yield f"{name} has one layer", len(part) == 1


def of_shared(case: Case) -> Iterator[Trait]:
    """Traits of two arguments: a number that both have, as a token that is drawn and heard."""
    listed = {name: ids_in(value) for name, value in case.items()}
    for one, other in combinations(case, 2):
        for own, numbers in listed[one].items():
            for others, found in listed[other].items():
                yield f"{f'{one} {own}'.strip()}, {f'{other} {others}'.strip()}: share a number", bool(numbers & found)


def ids_in(value) -> dict[str, set[int]]:
    """The whole numbers that an argument lists, by column; a single number is no id but a size or a setting."""
    if isinstance(value, torch.Tensor | np.ndarray):
        is_whole = not torch.as_tensor(value).is_floating_point()
        return {"": set(value.flatten().tolist())} if is_whole and value.max() > 1 else {}
    if not isinstance(value, list | dict):
        return {}
    whole = {path: {one for one in found if isinstance(one, int)} for path, found in parts_of(value).items()}
    return {path: found for path, found in whole.items() if found}


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


def of_sizes(exercise: Exercise, case: Case) -> Iterator[Trait]:
    """The axes that have one place, and the axes and whole numbers that are equal."""
    if not all(name in case and fits(kind, case[name]) for name, kind in exercise.arguments.items()):
        return
    known = {axis: size for axis, size in lengths(exercise.arguments, case).items() if axis in AXES}
    for axis, size in known.items():
        yield f"axis {axis}: has one place", size == 1
        yield f"axis {axis}: length", size
    counts = {f"axis {axis}": size for axis, size in known.items()}
    counts |= {
        name: case[name]
        for name, kind in exercise.arguments.items()
        if isinstance(kind, Scalar) and isinstance(case[name], int) and not isinstance(kind, Size)
    }
    for one, other in combinations(counts, 2):
        yield f"{one}, {other}: are equal", counts[one] == counts[other]


def fits(kind: Kind, value) -> bool:
    """True for a value that has as many axes as its kind: a notebook may hand over one row, or a function that draws."""
    has_axes = hasattr(value, "shape") or hasattr(value, "__len__")
    return not kind.axes or has_axes and len(kind.shape(value)) == len(kind.dimensions)


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
