"""Quarto's options of a code cell, the lines `#| key: value` above its first line."""

import re

from checker.reading.notebook import Cell

OPTION = re.compile(r"\s*#\s*\|(.*)")
MOST_OPTIONS = 30  # lines of options that are read
LONGEST = 500  # characters of an option that are shown
NAME = re.compile(r"(?:fig|tbl)-[\w-]{1,60}")


def options(cell: Cell) -> dict[str, list[str]]:
    """Quarto's options of a code cell, `#| key: value` above its first line; a list of values for each key.

    What is not YAML, or not text, is no option.
    """
    lines = []
    for line in cell.source.lstrip("\n").split("\n")[:MOST_OPTIONS]:
        match = OPTION.match(line)
        if match is None:
            break
        lines.append(match[1][:LONGEST].removeprefix(" "))
    if not lines:
        return {}
    import yaml

    try:
        read = yaml.load("\n".join(lines), Loader=yaml.BaseLoader)  # every value stays text
    except (yaml.YAMLError, RecursionError):
        return {}
    if not isinstance(read, dict):
        return {}
    return {str(key): _texts(value) for key, value in read.items()}


def _texts(value: object) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [" ".join(text.split()) for text in values if isinstance(text, str)]


def is_left_out(cell: Cell) -> bool:
    """True for a cell that is not to be run: by Quarto's `#| eval: false`, or by its tag."""
    return cell.skipped or nth(options(cell).get("eval", []), 0).lower() == "false"


def reference(cell: Cell) -> str:
    """The name by which the text refers to a cell's picture or table, "fig-reward"; "" without one."""
    label = nth(options(cell).get("label", []), 0)
    return label if NAME.fullmatch(label) else ""


def nth(values: list[str], number: int) -> str:
    """One of the values of an option, from 0; "" where it has fewer."""
    return values[number] if number < len(values) else ""
