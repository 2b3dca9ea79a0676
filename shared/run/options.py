"""Every field of a configuration as an option of the command line: its type from the dataclass, its help from the docstring.

A docstring documents a field in a line `name: what it does`, which may go on in lines that are indented further, and
several fields that share a sentence in `name, other: ...`. There is no second list of settings.
"""

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

LINE = re.compile(r"^(?P<names>\w+(?:, \w+)*): (?P<text>.+)$")


@dataclass(frozen=True)
class Setting:
    """One field: its type without None, its help, and the class that first has it."""

    name: str
    kind: Any
    default: object
    help: str
    owner: type


def settings_of(config_class: type) -> dict[str, Setting]:
    """Every field of a configuration by its name, as it stands in the class that first has it.

    Raises ValueError for a field that no docstring documents.
    """
    hints = get_type_hints(config_class)
    found = {}
    for field in fields(config_class):
        owner = _owner(config_class, field.name)
        text = _sentences(owner).get(field.name)
        if text is None:
            raise ValueError(f"The docstring of {owner.__name__} does not say what its field {field.name} is.")
        kind = _without_none(get_type_hints(owner).get(field.name, hints[field.name]))
        found[field.name] = Setting(field.name, kind, field.default, text, owner)
    return found


def settings_of_all(config_classes: Sequence[type]) -> dict[str, Setting]:
    """The fields of several configurations; one that several have is described as in the first."""
    found: dict[str, Setting] = {}
    for config_class in config_classes:
        found |= {name: setting for name, setting in settings_of(config_class).items() if name not in found}
    return found


def with_settings(settings: dict[str, Setting], panel: Callable[[Setting], str]) -> Callable:
    """A decorator for a typer command that takes `**chosen`: it gets an option for each setting, None when not given.

    panel: the heading under which the help shows a setting.
    """
    added = [
        inspect.Parameter(
            setting.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=_option(setting, panel(setting)),
        )
        for setting in settings.values()
    ]

    def decorate(command: Callable) -> Callable:
        own = [p for p in inspect.signature(command).parameters.values() if p.kind is not p.VAR_KEYWORD]

        @wraps(command)
        def wrapped(**options):
            return command(**options)

        del wrapped.__wrapped__  # typer would look through it
        wrapped.__signature__ = inspect.Signature([p.replace(kind=p.KEYWORD_ONLY) for p in own] + added)
        wrapped.__annotations__ = {p.name: p.annotation for p in own + added}
        return wrapped

    return decorate


def _option(setting: Setting, panel: str) -> Any:
    """The annotation from which typer makes the option."""
    flag = "--" + setting.name.replace("_", "-")
    look = {"help": setting.help, "rich_help_panel": panel, "show_default": _shown(setting.default)}
    if setting.kind is bool:
        return Annotated[bool | None, typer.Option(f"{flag}/--no-{flag[2:]}", **look)]
    if get_origin(setting.kind) is tuple:
        return Annotated[Any, typer.Option(flag, parser=_numbers, metavar="NUMBER,NUMBER...", **look)]
    return Annotated[setting.kind | None, typer.Option(flag, **look)]


def _shown(default: object) -> str | bool:
    """A default as the help shows it; nothing for None, whose meaning the sentence tells."""
    if isinstance(default, bool):
        return "yes" if default else "no"
    return False if default is None else str(default)


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is no list of numbers such as 1,0.5.") from error


def _owner(config_class: type, name: str) -> type:
    """The first class of its line, the oldest first, that has the field."""
    line = reversed(config_class.__mro__)
    return next(base for base in line if name in getattr(base, "__dataclass_fields__", {}))


def _without_none(hint: Any) -> Any:
    """`float | None` as `float`."""
    kinds = [kind for kind in get_args(hint) if kind is not NoneType]
    return kinds[0] if NoneType in get_args(hint) else hint


def _sentences(config_class: type) -> dict[str, str]:
    """The sentences of a class's own docstring about each field that it names."""
    said: dict[str, str] = {}
    names: list[str] = []
    for line in inspect.cleandoc(config_class.__doc__).splitlines():
        start = LINE.match(line)
        if start:
            names = start["names"].split(", ")
            said |= dict.fromkeys(names, start["text"])
        elif line.startswith(" ") and names:
            said |= {name: f"{said[name]} {line.strip()}" for name in names}
        else:
            names = []
    return said
