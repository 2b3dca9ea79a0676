"""Blank editions from worked notebooks: solutions out, TODOs kept, outputs cleared.

In code, what lies between `# student code here` and `# end student code` is the solution; its first line is a
`# TODO: ...` that stays. In Markdown it is what lies between `<!-- student answer -->` and `<!-- end student
answer -->`. The transforms are pure, lines to lines, and any doubt about a marker is an error: a slip must
never leak a solution.
"""

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path

from checker.convert import plain
from checker.files import write_beside
from checker.notebook import joined, parse, read

BEGIN, END = "# student code here", "# end student code"
ANSWER_BEGIN, ANSWER_END = "<!-- student answer -->", "<!-- end student answer -->"
BLANK_ANSWER = "Your answer here."
RESEMBLES = re.compile(
    r"#.*\bstudent'?s?\b.*\bcode\b|#.*\bend\b.*\bstudent\b|<!--.*\bstudent\b", re.IGNORECASE
)
EXPECTED_LINES = 12


class MarkerError(ValueError):
    """A marker is nested, unclosed, stray or misspelt; the message says where."""


def blank_code(lines: list[str], where: str = "") -> list[str]:
    """The lines of a code cell with each solution replaced by an error that repeats its TODO.

    Raises:
        MarkerError: markers are not in pairs, are misspelt, or an exercise does not begin with a TODO.
    """
    kept: list[str] = []
    for line, inside, position in _walk(lines, BEGIN, END, where):
        if not inside:
            kept.append(line)
            continue
        if position == 0:
            if not re.match(r"\s*# TODO: \S", line):
                raise MarkerError(
                    f"{where}: the line after `{BEGIN}` must be `# TODO: ...`, and it is {line.strip()!r}."
                )
            kept.append(line)
            indent = line[: len(line) - len(line.lstrip())]
            words = line.strip().removeprefix("# ").replace("\\", "\\\\").replace('"', '\\"')
            kept.append(f'{indent}raise NotImplementedError("{words}")')
    return kept


def blank_markdown(lines: list[str], where: str = "") -> list[str]:
    """A Markdown cell's lines with each answer replaced by `Your answer here.` Errors as in `blank_code`."""
    kept: list[str] = []
    for line, inside, _ in _walk(lines, ANSWER_BEGIN, ANSWER_END, where):
        if not inside:
            kept.append(BLANK_ANSWER if line.strip() == ANSWER_BEGIN else line)
    return [line for line in kept if line.strip() != ANSWER_END]


def _walk(lines: list[str], begin: str, end: str, where: str) -> Iterator[tuple[str, bool, int]]:
    """Each line, whether it belongs to a solution, and its position there.

    Markers themselves count as outside.
    """
    opened, position = None, 0
    for number, line in enumerate(lines, 1):
        place = f"{where}, line {number}" if where else f"line {number}"
        text = line.strip()
        if text == begin:
            if opened is not None:
                raise MarkerError(
                    f"{place}: `{begin}` inside the exercise that begins in line {opened}. Close that one"
                    " first."
                )
            opened, position = number, 0
            yield line, False, 0
        elif text == end:
            if opened is None:
                raise MarkerError(f"{place}: `{end}` without a `{begin}` above it.")
            if position == 0:
                raise MarkerError(f"{place}: the exercise that begins in line {opened} is empty.")
            opened = None
            yield line, False, 0
        elif RESEMBLES.search(line) and (text.startswith(("#", "<!--"))):
            raise MarkerError(
                f"{place}: {text!r} looks like a marker and is none. Write exactly `{begin}` or `{end}`."
            )
        else:
            yield line, opened is not None, position
            position += opened is not None
    if opened is not None:
        raise MarkerError(
            f"{where}, line {opened}: this exercise is not closed by `{end}`."
            if where
            else f"line {opened}: not closed by `{end}`."
        )


def blank(content: dict, source: str) -> dict:
    """The blank edition of a notebook's JSON. `source` names the worked notebook, in messages and in the
    edition.

    Raises:
        MarkerError: see `blank_code`; or a solution line would show in the blank edition.
    """
    notebook = copy.deepcopy(content)
    cells = []
    for number, cell in enumerate(notebook["cells"]):
        where, lines = f"{source}, cell {number}", joined(cell["source"]).split("\n")
        if cell["cell_type"] == "code":
            cell["source"] = "\n".join(blank_code(lines, where))
            expected = (
                _expected(cell) if cell["source"] != joined(content["cells"][number]["source"]) else None
            )
            cell["outputs"], cell["execution_count"] = [], None
        else:
            expected = None
            if cell["cell_type"] == "markdown":
                cell["source"] = "\n".join(blank_markdown(lines, where))
        cell["metadata"] = {}
        cells.append(cell)
        if expected:
            cells.append(
                {"cell_type": "markdown", "id": f"{cell['id']}-expected", "metadata": {}, "source": expected}
            )
        if number == 0:
            note = (
                f"*Generated from `{source}` by `checker assign`. Fill in a copy of it; the next build"
                " overwrites this file.*"
            )
            cells.append(
                {"cell_type": "markdown", "id": f"{cell['id']}-generated", "metadata": {}, "source": note}
            )
    notebook["cells"] = cells
    notebook["metadata"] = {"kernelspec": content.get("metadata", {}).get("kernelspec", {})}
    if leaks := leaked(content, notebook):
        raise MarkerError(
            f"{source}: a line of a solution is in the blank edition as well: {leaks[0].strip()!r}. Say it in"
            " another way outside."
        )
    return notebook


def _expected(cell: dict) -> str | None:
    """What the worked notebook printed below this exercise, for comparison; None when it printed nothing."""
    texts = [
        joined(output.get("text"))
        for output in cell.get("outputs", [])
        if output.get("output_type") == "stream"
    ]
    lines = plain("".join(texts)).rstrip().splitlines()
    if not lines:
        return None
    shown = lines[:EXPECTED_LINES] + (["..."] if len(lines) > EXPECTED_LINES else [])
    return "What it should print, with numbers like these:\n\n```text\n" + "\n".join(shown) + "\n```"


def solution_lines(content: dict) -> set[str]:
    """The lines of code of all solutions that say something: not blank, not a comment, not a bracket."""
    found = set()
    for cell in content["cells"]:
        if cell["cell_type"] == "code":
            lines = joined(cell["source"]).split("\n")
            found |= {
                line.strip()
                for line, inside, position in _walk(lines, BEGIN, END, "")
                if inside and position > 0
            }
    return {line for line in found if len(line) > 12 and not line.startswith("#")}


def leaked(content: dict, blank_edition: dict) -> list[str]:
    """Lines of solutions that the blank edition shows, sorted."""
    shown = {
        line.strip()
        for cell in blank_edition["cells"]
        if cell["cell_type"] == "code"
        for line in joined(cell["source"]).split("\n")
    }
    return sorted(solution_lines(content) & shown)


def fill(blank_edition: dict, content: dict) -> dict:
    """The blank edition with its exercises solved: the worked notebook's cells again, by their ids."""
    solved = {cell["id"]: cell for cell in content["cells"]}
    cells = [solved.get(cell["id"], cell) for cell in blank_edition["cells"]]
    return blank_edition | {"cells": cells}


def assign(path: Path, folder: Path) -> Path:
    """Write the blank edition of a worked notebook into a folder, under the same name.

    Raises:
        Unreadable: not a notebook.    MarkerError: see `blank`; nothing is written then.
    """
    read(path)
    content = parse(path)
    for number, cell in enumerate(content["cells"]):
        if not cell.get("id"):
            raise MarkerError(
                f"{path}, cell {number} has no id. Save the notebook in a current Jupyter, so that every cell"
                " has one."
            )
    target = folder / path.name
    if target.resolve() == path.resolve():
        raise MarkerError(f"{target} is the worked notebook itself. Give another folder.")
    write_beside(target, dump(blank(content, f"{path.parent.name}/{path.name}")))
    return target


def dump(notebook: dict) -> str:
    """JSON as Jupyter writes it, the same every time."""
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
