"""What a student took out of a notebook: exercises of the worked one of which nothing is left."""

import re

from checker.grading.items import Item
from checker.grading.sheets import Sheet
from checker.notebook import joined
from checker.points import TODO, titles


def removed(sheet: Sheet, content: dict) -> frozenset[str]:
    """The keys of the exercises that are not in what was handed in any more.

    A question in words is known by its title, a function by its name, other code by its TODO or its cell.
    """
    code = {cell.get("id"): joined(cell.get("source")) for cell in content["cells"] if cell.get("cell_type") == "code"}
    asked = titles(content["cells"])
    return frozenset(item.key for item in sheet.items if not _is_there(item, code, asked))


def _is_there(item: Item, code: dict[str, str], asked: frozenset[str]) -> bool:
    if item.written:
        return not item.wanted or item.wanted in asked
    if item.function:
        made = re.compile(rf"\bdef\s+{item.function}\b|^\s*{item.function}\s*(?::.*)?=[^=]", re.MULTILINE)
        return any(made.search(source) for source in code.values())
    wanted = (TODO.match(line.strip()) for source in code.values() for line in source.split("\n"))
    return item.key.rpartition("/")[0] in code or any(match and match["what"] == item.wanted for match in wanted)
