"""The exercises that a student took out of a notebook: those of the worked one of which nothing is left."""

import re

from checker.grading.judge.worked_notebooks import WorkedNotebook
from checker.points.items import Item
from checker.reading.exercises import titles
from checker.reading.notebook import joined
from checker.reading.todos import todos_in


def removed_exercises(worked: WorkedNotebook, content: dict) -> frozenset[str]:
    """The keys of the exercises that are not in what was handed in any more.

    A question in words is known by its title, a function by its name, other code by its TODO or its cell. A cell is known
    by its id, which Colab and formats before 4.5 do not write: of other code nothing is then known to be removed.
    """
    cells = [cell for cell in content["cells"] if cell.get("cell_type") == "code"]
    code = [joined(cell.get("source")) for cell in cells]
    ids = [cell.get("id") for cell in cells]
    asked = titles(content["cells"])
    return frozenset(item.key for item in worked.items if not _is_there(item, code, ids, asked))


def _is_there(item: Item, code: list[str], ids: list[str | None], asked: frozenset[str]) -> bool:
    if item.written:
        return not item.wanted or item.wanted in asked
    if item.function:
        made = re.compile(rf"\bdef[ \t]+{item.function}\b|^[ \t]*{item.function}[ \t]*(?::.*)?=[^=]", re.MULTILINE)
        return any(map(made.search, code))
    wanted = (todo.what for source in code for todo in todos_in(source))
    return item.wanted in wanted or None in ids or item.key.rpartition("/")[0] in ids
