"""The arguments of an exercise: their axes, their simplest values, and the names of their places.

A case is a dict of arguments by name. Each has a kind, which knows its axes: "B C" for completions and tokens, "N*G"
for one axis of N times G places. Axes of one letter have one length in all arguments of a case, so that a completion
can be taken out of all of them at once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import torch
from torch import Tensor

AXES = {
    "N": "prompt",
    "G": "completion",
    "B": "completion",
    "P": "position",
    "C": "token",
    "S": "state",
    "T": "next state",
    "A": "action",
    "F": "feature",
    "H": "the gradient of completion",
    "L": "item",
    "D": "draw",
    "V": "token",
}
NUMBERED = {"S", "T", "A"}  # states and actions have numbers, from 0; places of the other axes are counted from 1


@dataclass(frozen=True)
class Kind:
    """An argument with axes. The plain kind is handed over as it is, never shrunk, and not shown."""

    axes: str = ""

    @property
    def dimensions(self) -> list[list[str]]:
        """The axes of each dimension: "N*G C" has [["N", "G"], ["C"]]."""
        return [dimension.split("*") for dimension in self.axes.split()]

    def dimensions_of(self, value) -> list[list[str]]:
        """The axes of each dimension of a value; one that has more dimensions, or fewer, has the last ones."""
        count = len(self.shape(value)) if self.axes else 0
        return (
            [*[[]] * (count - len(self.dimensions)), *self.dimensions[len(self.dimensions) - count :]] if count else []
        )

    def shape(self, value) -> Sequence[int]:
        return value.shape if hasattr(value, "shape") else (len(value),)

    def amount(self, value) -> int:
        """The length of the value for a reader, in numbers or characters."""
        if isinstance(value, (Tensor, np.ndarray)):
            return prod(value.shape)
        if isinstance(value, (list, tuple)):
            return sum(max(1, self.amount(item)) for item in value)
        return len(value) if isinstance(value, str) else 1

    def select(self, value, dimension: int, places: list[int]):
        """The value with only these places of a dimension."""
        if isinstance(value, Tensor):
            return value.index_select(dimension, torch.tensor(places, dtype=torch.long))
        if isinstance(value, np.ndarray):
            return np.take(value, places, axis=dimension)
        return [value[place] for place in places]

    def simpler(self, value) -> Iterator:
        """Simpler values of the same axes, the simplest first."""
        yield from ()

    def is_plain(self, value) -> bool:
        """True for a value that a verdict need not mention."""
        return True

    def in_words(self, value) -> str:
        """The text by which a verdict shows it, where that says more than its numbers; "" where it does not."""
        return ""


@dataclass(frozen=True)
class Numbers(Kind):
    """A tensor or an array of floats. most: the largest sensible value, least: the smallest one."""

    least: float = -torch.inf
    most: float = torch.inf

    def simpler(self, value) -> Iterator:
        simple = [v for v in (0.0, 1.0, -1.0, 0.5, -0.5) if self.least <= v <= self.most]
        entries = value.reshape(-1).tolist()
        complexity = sum(simple.index(v) if v in simple else len(simple) for v in entries)
        for rank, number in enumerate(simple):
            if rank * len(entries) >= complexity:
                break  # [0, 0.5] is simpler than [0.5, 0.5]: without an order the search would go round for ever
            yield value * 0 + number
        yield from self._rounded(value, simple)

    def _rounded(self, value, simple: list[float]) -> Iterator:
        """One place after the other made 0, 1 or -1, or rounded."""
        flat = value.reshape(-1)
        for place in range(len(flat)):
            before = float(flat[place])
            for number in (*simple, round(before), round(before, 1)):
                changed = flat.clone() if isinstance(flat, Tensor) else flat.copy()
                changed[place] = number  # now as exact as its type, in which 0.3 may be what stands there already
                if changed[place] == before or not self.least <= number <= self.most:
                    break  # what follows is less simple than what stands there
                yield changed.reshape(value.shape)

    def is_plain(self, value) -> bool:
        return False


@dataclass(frozen=True)
class Mask(Kind):
    """A tensor that says what counts: 1 from a row's first place to its last real one, or truths about what is allowed."""

    def simpler(self, value) -> Iterator:
        if not bool((value == 1).all()):
            yield torch.ones_like(value)

    def is_plain(self, value) -> bool:
        return bool((value == 1).all())


@dataclass(frozen=True)
class Scalar(Kind):
    """One number. usual: what it is in the notebooks, which a student may have written in its place. most: 1 for a share."""

    usual: float = 0.0
    simple: tuple[float, ...] = (0.0, 0.5, 1.0)
    most: float = torch.inf

    def simpler(self, value) -> Iterator:
        for number in (*self.simple, round(value, 1)):
            if number == value:
                return
            yield type(value)(number)

    def is_plain(self, value) -> bool:
        return False


@dataclass(frozen=True)
class Size(Kind):
    """A number that is the length of an axis, such as G. usual: what it is in the notebooks."""

    axis: str = ""
    usual: int = 2

    def is_plain(self, value) -> bool:
        return False


@dataclass(frozen=True)
class Texts(Kind):
    """A list of texts. always_shown=False for what matters only where a function wrongly reads it, as a prompt."""

    always_shown: bool = True

    def simpler(self, value) -> Iterator:
        if any(value):
            yield [""] * len(value)
        for place, text in enumerate(value):
            for shorter in _shorter(text):
                yield [*value[:place], shorter, *value[place + 1 :]]

    def is_plain(self, value) -> bool:
        return not self.always_shown and bool(value) and not any(value)


@dataclass(frozen=True)
class Text(Kind):
    """One text."""

    def simpler(self, value) -> Iterator[str]:
        if value:
            yield ""
        yield from _shorter(value)

    def is_plain(self, value) -> bool:
        return False


@dataclass(frozen=True)
class Things(Kind):
    """A list of anything else: lists of words, rows, cards. Items are dropped, never changed."""

    def is_plain(self, value) -> bool:
        return False


def _shorter(text: str) -> Iterator[str]:
    """The text without a half, a quarter, ..., one character of it."""
    length = len(text) // 2
    while length:
        for start in range(0, len(text), length):
            yield text[:start] + text[start + length :]
        length //= 2
    if len(text) == 1:
        yield ""


def lengths(kinds: dict[str, Kind], case: dict) -> dict[str, int]:
    """The length of each axis of a case. An axis that only occurs in a product, as N in N*G, follows from the other factor."""
    known = {kind.axis: case[name] for name, kind in kinds.items() if isinstance(kind, Size)}
    for product in (False, True):
        for name, kind in kinds.items():
            for dimension, factors in enumerate(kind.dimensions_of(case[name])):
                unknown = [axis for axis in factors if axis not in known]
                if len(unknown) == 1 and (len(factors) > 1) == product:
                    total = kind.shape(case[name])[dimension]
                    known[unknown[0]] = total // prod(known[axis] for axis in factors if axis not in unknown)
    return known


def without(kinds: dict[str, Kind], case: dict, axis: str, dropped: set[int]) -> dict:
    """The case without some places of an axis, in every argument that has it."""
    known = lengths(kinds, case)
    smaller = {}
    for name, kind in kinds.items():
        value = case[name]
        for dimension, factors in enumerate(kind.dimensions_of(value)):
            if axis in factors:
                value = kind.select(
                    value, dimension, _remaining([known[f] for f in factors], factors.index(axis), dropped)
                )
        if isinstance(kind, Size) and kind.axis == axis:
            value -= len(dropped)
        smaller[name] = value
    return smaller


def _remaining(factors: list[int], factor: int, dropped: set[int]) -> list[int]:
    """The places of a dimension that stay when some of one of its factors are dropped."""
    places = np.arange(prod(factors)).reshape(factors)
    return np.delete(places, sorted(dropped), axis=factor).reshape(-1).tolist()
