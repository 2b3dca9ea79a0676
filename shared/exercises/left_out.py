"""Classes of values, each as the change that leaves it out of whatever a value holds."""

import re
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import torch

NUMBER = (int, float, Fraction)


def holds(value) -> set[str]:
    """Name what is in a value: numbers, texts, lists."""
    if isinstance(value, str):
        return {"texts"}
    if isinstance(value, bool) or value is None:
        return set()
    if isinstance(value, int | float | Fraction | torch.Tensor | np.ndarray):
        return {"numbers"}
    inside = value.values() if type(value) is dict else value if type(value) in (list, tuple) else ()
    return set().union({"lists"} if type(value) is list else set(), *map(holds, inside))


def in_numbers(change: Callable) -> Callable:
    """The change, made of every number in a value; what it makes nothing of stays."""

    def changed(value):
        if isinstance(value, bool | str) or value is None:
            return value
        if isinstance(value, torch.Tensor) and value.dtype != torch.bool:
            return change(value)
        if isinstance(value, np.ndarray):
            return change(torch.as_tensor(value)).numpy()
        if isinstance(value, list | tuple):
            return type(value)(map(changed, value)) if type(value) in (list, tuple) else value
        if type(value) is dict:
            return {key: changed(one) for key, one in value.items()}
        if type(value) in NUMBER and abs(value) < 1e9:
            number = type(value)(change(torch.tensor(float(value), dtype=torch.float64)).item())
            return number.limit_denominator() if isinstance(number, Fraction) else number
        return value

    return changed


def in_listed(change: Callable) -> Callable:
    """The change, made of whole numbers in lists: ids, targets, prices. Alone they are counts."""

    def changed(value):
        if type(value) in (list, tuple):
            return type(value)(change_of(one) if type(one) in NUMBER else changed(one) for one in value)
        return {key: changed(one) for key, one in value.items()} if type(value) is dict else value

    change_of = in_numbers(change)
    return changed


def in_texts(change: Callable) -> Callable:
    def changed(value):
        if isinstance(value, str):
            return change(value)
        if type(value) in (list, tuple):
            return type(value)(map(changed, value))
        return {key: changed(one) for key, one in value.items()} if type(value) is dict else value

    return changed


def in_lists(change: Callable) -> Callable:
    return lambda value: change(value) if type(value) is list else value


def _digits_in_order(numbers: torch.Tensor) -> torch.Tensor:
    """22 and 37 become 22 and 73; what is not whole stays."""
    flat = [
        float("".join(sorted(str(int(one)), reverse=True))) if one >= 0 and float(one).is_integer() else one
        for one in numbers.flatten().tolist()
    ]
    return torch.tensor(flat, dtype=numbers.dtype).view(numbers.shape)


def _digits_of_all(numbers: list) -> list:
    """[12, 3] and [1, 23] become the same; what is not listed as whole numbers stays."""
    return sorted("".join(map(str, numbers))) if all(type(one) is int for one in numbers) else numbers


def _each_once(items: list) -> list:
    return [item for place, item in enumerate(items) if item not in items[:place]]


def _rank(item) -> tuple:
    return (item if type(item) in NUMBER else 0, str(item))


def by_item(items, others):
    """The other list, in which what stands beside equal items is the same: that beside the first of them."""
    if type(items) is not list or type(others) is not list or len(items) != len(others):
        return others
    first = {}
    return [first.setdefault(str(item), other) for item, other in zip(items, others)]


LEFT_OUT = {
    "no sign": ("numbers", in_numbers(torch.abs)),
    "whole numbers alone": (
        "numbers",
        in_numbers(lambda numbers: numbers.round() if numbers.is_floating_point() else numbers),
    ),
    "nothing below 0": ("numbers", in_numbers(lambda numbers: numbers.clamp(min=0))),
    "nothing above 1": ("numbers", in_numbers(lambda numbers: numbers.clamp(max=1))),
    "nothing beyond 3": ("numbers", in_numbers(lambda numbers: numbers.clamp(-3, 3))),
    "nothing beyond 8": ("numbers", in_numbers(lambda numbers: numbers.clamp(-8, 8))),
    "one digit": ("lists", in_listed(lambda numbers: torch.where(numbers == numbers.round(), numbers % 10, numbers))),
    "no 0": ("numbers", in_numbers(lambda numbers: torch.where(numbers == 0, torch.ones_like(numbers), numbers))),
    "digits in any order": ("lists", in_listed(_digits_in_order)),
    "the digits of all, in any order": ("lists", in_lists(lambda items: _digits_of_all(items))),
    "no capitals": ("texts", in_texts(str.lower)),
    "no blanks around": ("texts", in_texts(str.strip)),
    "no blanks": ("texts", in_texts(lambda text: re.sub(r"[ \t]", "", text))),
    "the last word alone": ("texts", in_texts(lambda text: (text.split() or [""])[-1])),
    "no doubled characters": ("texts", in_texts(lambda text: re.sub(r"(.)\1+", r"\1", text))),
    "each once": ("lists", in_lists(lambda items: _each_once(items))),
    "in order": ("lists", in_lists(lambda items: sorted(items, key=_rank))),
    "the first sixteen": ("lists", in_lists(lambda items: items[:16])),
    "the first eight": ("lists", in_lists(lambda items: items[:8])),
    "the first four": ("lists", in_lists(lambda items: items[:4])),
    "the first as the second": ("lists", in_lists(lambda items: items[1:2] + items[1:])),
    "the last as the one before": ("lists", in_lists(lambda items: items[:-1] + items[-2:-1])),
    "an odd place as the one before": (
        "lists",
        in_lists(lambda items: [items[place - place % 2] for place in range(len(items))]),
    ),
}


def classes(value) -> set[str]:
    """Name the classes that a value has members of: those whose change makes another value of it."""
    return {what for what, (_, change) in LEFT_OUT.items() if not same(kept(change)(value), value)}


def same(one, other) -> bool:
    """True for equal values, of whatever they hold."""
    if type(one) is not type(other):
        return False
    if isinstance(one, torch.Tensor | np.ndarray):
        return bool(torch.equal(torch.as_tensor(one), torch.as_tensor(other)))
    if type(one) in (list, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if type(one) is dict:
        return all(same(value, other[key]) for key, value in one.items())
    return one is other or str(one) == str(other)


def kept(change: Callable) -> Callable:
    """The change, where it can be made."""

    def changed(value):
        try:
            return change(value)
        except (TypeError, ValueError, RuntimeError):
            return value

    return changed
