"""What a page says about a code cell: its heading, what its fold holds, the texts of its pictures.

All of it is in the cell already: in the first line, `# Cell 4: Reward function`, and in Quarto's options above it,
`#| fig-cap: ...`. Nothing of it is asked for twice.
"""

import re

from checker.layout import LABEL, label_line
from checker.notebook import Cell

OPTION = re.compile(r"\s*#\s*\|(.*)")
MOST_OPTIONS = 30  # lines of options that are read
LONGEST = 500  # characters of an option that are shown
LONGEST_FOLD = 70  # characters of what a fold says it holds
# Words before which no "the" fits, as it does not before an acronym.
WITHOUT_THE = frozenset("a an the one two three both some each every what how why where on in by with".split())


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


def code_of(cell: Cell) -> str:
    """The source without its options."""
    lines = cell.source.lstrip("\n").split("\n")
    while lines and OPTION.match(lines[0]):
        lines.pop(0)
    return "\n".join(lines)


def words(cell: Cell) -> str:
    """What a cell's first line says, "Reward function" of `# Cell 4: Reward function`; "" where it is no comment."""
    line = label_line(cell)
    if cell.is_code and not line.startswith("#"):
        return ""
    line = line.strip("#=-%*_… \t")
    label = LABEL.match(line)
    return (label[2] if label else line).strip(":.-–—)… \t")


def fold(cell: Cell) -> str:
    """What a fold says it holds: "Show the reward function"; "Show the code" where the cell does not say.

    The same words as `site/sections.lua` gives the site.
    """
    asked = options(cell).get("code-summary")
    if asked:
        return asked[0]
    title = re.sub(r"\s*[:(].*", "", words(cell))
    if not title or len(title) > LONGEST_FOLD:
        return "Show the code"
    first = re.match(r"\w*", title)[0]
    if first.istitle():
        title = title[0].lower() + title[1:]
    alone = first.lower() in WITHOUT_THE or (first.isupper() and len(first) > 1)
    return f"Show {title}" if alone else f"Show the {title}"


def caption(cell: Cell, number: int) -> str:
    """The caption of a cell's picture, counted from 0; "" without one."""
    return _nth(options(cell).get("fig-cap", []), number)


def alternative(cell: Cell, number: int) -> str:
    """What is read to those who cannot see a cell's picture: its `fig-alt`, else its caption, else what the cell is."""
    said = _nth(options(cell).get("fig-alt", []), number) or caption(cell, number)
    return said or f"Figure: {words(cell) or 'output of a cell'}"


def reference(cell: Cell) -> str:
    """The name by which the text refers to a cell's picture, "fig-reward"; "" without one."""
    label = _nth(options(cell).get("label", []), 0)
    return label if re.fullmatch(r"fig-[\w-]{1,60}", label) else ""


def _nth(values: list[str], number: int) -> str:
    return values[number] if number < len(values) else ""
