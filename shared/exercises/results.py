"""Results of a function, read leniently so that they can be compared, with a sentence where the type is wrong.

A type is wrong when what stands below in a notebook breaks on it: a list of ints as rewards makes a tensor of ints,
which has no mean.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor


class NotAResult(Exception):
    """An error for a result that cannot be compared with anything; the message says what it is."""


@dataclass(frozen=True)
class Result:
    """A kind of result. axes: of a tensor, "B C"; "" for one number."""

    axes: str = ""

    def read(self, result) -> tuple[object, str]:
        """The result as a tensor of float64 or a text, and what is wrong with its type ("" for nothing).

        Raises NotAResult.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class TensorOf(Result):
    """A torch tensor.

    holds: "floats", "doubles" (float64, where sums of many small numbers follow), "booleans" or "numbers" of any kind.
    names: of the first places of the first axis, where these have names of their own.
    """

    holds: str = "floats"
    names: tuple[str, ...] = ()

    def read(self, result) -> tuple[Tensor, str]:
        value = as_numbers(result)
        if not isinstance(result, Tensor):
            return value, f"it returns {named(result)}; return a tensor, for what follows calls a tensor's methods."
        if self.holds == "floats" and not result.is_floating_point():
            return value, f"it returns a tensor of {dtype_of(result)}; a tensor of floats is needed."
        if self.holds == "doubles" and result.dtype != torch.float64:
            return (
                value,
                f"it returns a tensor of {dtype_of(result)}; float64 is needed, for it meets others of float64.",
            )
        if self.holds == "booleans" and result.dtype != torch.bool:
            return value, f"it returns a tensor of {dtype_of(result)}; a tensor of booleans (a comparison) is needed."
        return value, ""


@dataclass(frozen=True)
class ByName(TensorOf):
    """A dict with a tensor for each of some names, all of one shape. The first of its axes, "E", is that of the names."""

    def read(self, result) -> tuple[Tensor, str]:
        if not isinstance(result, dict):
            raise NotAResult(f"it returns {named(result)}; return a dict with the keys {', '.join(self.names)}.")
        if set(result) != set(self.names):
            raise NotAResult(f"its dict has the keys {sorted(map(str, result))[:5]}; expected {list(self.names)}.")
        parts = [as_numbers(result[name]) for name in self.names]
        shapes = {name: tuple(part.shape) for name, part in zip(self.names, parts)}
        if len(set(shapes.values())) > 1:
            raise NotAResult(f"its tensors have different shapes, {shapes}. They have one.")
        complaints = [super(ByName, self).read(result[name])[1] for name in self.names]
        return torch.stack(parts), next(filter(None, complaints), "")


@dataclass(frozen=True)
class ArrayOf(Result):
    """A numpy array of floats."""

    def read(self, result) -> tuple[Tensor, str]:
        value = as_numbers(result)
        if not isinstance(result, np.ndarray):
            return value, f"it returns {named(result)}; return a numpy array, for what follows calculates with it."
        if not np.issubdtype(result.dtype, np.floating):
            return value, f"it returns an array of {result.dtype}; an array of floats is needed."
        return value, ""


@dataclass(frozen=True)
class Floats(Result):
    """A list of floats, one for each row, as every reward function returns: also a tuple, a tensor or an array of them."""

    axes: str = "B"

    def read(self, result) -> tuple[Tensor, str]:
        if result is None:
            raise NotAResult(RETURN_MISSING)
        if hasattr(type(result), "__next__"):
            return as_numbers(list(result)), "it returns a generator, which is empty once read; return a list."
        value = as_numbers(result)
        if isinstance(result, (Tensor, np.ndarray)):
            other = "" if "float" in str(result.dtype) else dtype_of(result)
        elif isinstance(result, (list, tuple)):
            other = next((kind for kind in map(_not_float, result) if kind), "")
        else:
            return value, f"it returns {named(result)}; return a list of floats, one for each completion."
        if other in ("booleans", "integers"):
            return value, (
                f"it returns {other} where floats are needed: a batch of them makes a tensor that has no mean, and "
                "the advantages fail. Wrap each in `float(...)`."
            )
        return value, f"it returns a list with {other} among its entries; each entry is one float." if other else ""


@dataclass(frozen=True)
class Number(Result):
    """One number: of Python's, of numpy's, or a tensor without axes, which tables and formats write like a float."""

    def read(self, result) -> tuple[Tensor, str]:
        if isinstance(result, (list, tuple)):
            raise NotAResult(f"it returns {named(result)}; return one number.")
        value = as_numbers(result)
        if isinstance(result, (bool, np.bool_)):
            return value, "it returns True or False; return a number."
        return value, ""


@dataclass(frozen=True)
class Text(Result):
    """A text."""

    def read(self, result) -> tuple[str, str]:
        if result is None:
            raise NotAResult(RETURN_MISSING)
        if not isinstance(result, str):
            raise NotAResult(f"it returns {named(result)}; a text is needed.")
        return result, ""


RETURN_MISSING = "it returns None. Is the `return` missing?"


def as_numbers(result) -> Tensor:
    """The result as a tensor, with its gradient where it has one. Raises NotAResult."""
    if result is None:
        raise NotAResult(RETURN_MISSING)
    if isinstance(result, tuple) and any(isinstance(part, (Tensor, np.ndarray, dict)) for part in result):
        raise NotAResult(f"it returns a tuple of {len(result)} things; return the one result alone.")
    try:
        value = result if isinstance(result, Tensor) else torch.as_tensor(result)
        return value.to("cpu", torch.float64)
    except Exception as error:
        raise NotAResult(f"it returns {named(result)} where numbers are needed.") from error


def named(value) -> str:
    """A value's type, in words; its own `__repr__` is never called."""
    if value is None:
        return "None"
    if isinstance(value, type):
        return f"the type {clipped(value.__name__, 60)} itself"
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    if isinstance(value, np.ndarray):
        return f"a numpy array of shape {value.shape}"
    if isinstance(value, (str, int, float)) and type(value) in (str, int, float, bool):
        return f"{clipped(repr(value), 40)}"
    if hasattr(type(value), "__next__"):
        return "a generator"
    if type(value) in (list, tuple, dict):
        name = type(value).__name__
        if not value:
            return f"an empty {name}"
        return "a dict" if name == "dict" else f"a {name} of {clipped(type(value[0]).__name__, 60)}s"
    return f"a thing of type {clipped(type(value).__name__, 60)}"


def dtype_of(value: Tensor | np.ndarray) -> str:
    name = str(value.dtype).removeprefix("torch.")
    return "booleans" if name == "bool" else "integers" if "int" in name else name


def no_tensors(result) -> None:
    """Raise NotAResult for a list, tuple or dict of numbers in which a tensor stands for one."""
    for one in result.values() if isinstance(result, dict) else result:
        if isinstance(one, Tensor):
            raise NotAResult(f"it returns {named(one)} for a number: tables show `tensor(...)`; take its `.item()`.")
        if isinstance(one, (list, tuple, dict)):
            no_tensors(one)


def clipped(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."


def _not_float(item) -> str:
    """A description of an entry that is no float, "" for a float."""
    if isinstance(item, (bool, np.bool_)):
        return "booleans"
    if isinstance(item, (int, np.integer)):
        return "integers"
    if isinstance(item, (Tensor, np.ndarray)):
        return "" if "float" in str(item.dtype) else dtype_of(item)
    return "" if isinstance(item, (float, np.floating)) else named(item)
