"""The settings of a condition of a sweep, by which a test says in what two conditions differ.

A condition is a dataclass, a function or a function with some of its arguments (`partial`). Its settings lie flat, each under its
path: `{"way": "Condition", "config": "GRPOConfig", "config.learning_rate": 0.0003}`. A thing that has parts stands under its own
name as well, so that two functions with other arguments differ in one thing, the function.
"""

import inspect
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import partial
from zlib import crc32

MOST_NAMED = 12  # parts of a list; a longer one is told by their number and a checksum
Settings = dict[str, object]  # what JSON holds


def settings_of(condition: object) -> Settings:
    """All settings of a condition; the condition itself is called `way`."""
    return dict(_flat("", condition))


def differences(one: Settings, other: Settings) -> set[str]:
    """The paths at which two conditions differ, without the parts of things that are other things altogether."""
    apart = {path for path in one.keys() | other.keys() if one.get(path) != other.get(path)}
    return {path for path in apart if not apart & set(_owners(path))}


def _owners(path: str) -> Iterator[str]:
    if path != "way":
        yield "way"
    parts = path.split(".")
    for end in range(1, len(parts)):
        yield ".".join(parts[:end])


def _flat(path: str, value: object) -> Iterator[tuple[str, object]]:
    yield path or "way", _name(value)
    for name, part in _parts(value).items():
        yield from _flat(f"{path}.{name}" if path else name, part)


def _parts(value: object) -> dict[str, object]:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, dict):
        return value
    if isinstance(value, partial):
        return _defaults(value.func) | value.keywords
    return _defaults(value) if inspect.isfunction(value) else {}


def _defaults(function: object) -> dict[str, object]:
    parameters = inspect.signature(function).parameters.values()
    return {one.name: one.default for one in parameters if one.default is not inspect.Parameter.empty}


def _name(value: object) -> object:
    if isinstance(value, partial):
        return _name(value.func)
    if isinstance(value, range):
        return str(value)
    if isinstance(value, (list, tuple)):
        named = [_name(part) for part in value]
        return named if len(named) <= MOST_NAMED else f"{len(named)} of them, {crc32(str(named).encode()):08x}"
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return getattr(value, "__name__", type(value).__name__)
