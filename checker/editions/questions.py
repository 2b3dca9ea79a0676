"""The questions of a worked notebook, for the graders of other projects: what is between markers, points and checks.

A cell of code with an exercise is one question. A cell of text is cut into text and the answers in it, since these
graders give points to whole cells. Everything else is as in the blank edition.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from checker.editions.assign import blank
from checker.reading.exercises import exercises, total
from checker.reading.markers import ANSWER_BEGIN, ANSWER_END, ANSWER_WITH_POINTS, BEGIN, END, begins, walk
from checker.reading.notebook import joined, notebook_of
from checker.reading.syntax.checks import names_of
from checker.reading.syntax.trees import read_trees
from checker.reading.todos import todo_at

GENERATED = "-generated"  # ends the id of the note that an edition is generated, which is about blank editions


@dataclass(frozen=True)
class Question:
    """A cell that earns points.

    name: an id that no other cell of the notebook has.
    points: of all that is asked in it, 0 where nothing is said.
    lines: of the worked cell, the markers of its exercises among them; of an answer only its own.
    written: an answer in words.
    checks: the calls, `check.per_token_kl(per_token_kl)`, that are true for a right function. A person grades what has none.
    """

    name: str
    points: float
    lines: tuple[str, ...]
    written: bool
    checks: tuple[ast.Call, ...] = ()


def parts(content: dict, source: str) -> Iterator[dict | Question]:
    """The cells of an edition in order: those that are shown as they are, in JSON, and questions.

    Args:
        content: a worked notebook's JSON.    source: its name in messages.

    Raises:
        MarkerError: see `checker.editions.assign.blank`.
    """
    worked = {cell["id"]: cell for cell in content["cells"]}
    checks = _checks(content)
    for cell in blank(content, source)["cells"]:
        lines = joined(worked.get(cell["id"], cell)["source"]).split("\n")
        if cell["id"].endswith(GENERATED):
            continue
        if cell["cell_type"] == "code" and any(line.strip() == BEGIN for line in lines):
            points = total(exercises([worked[cell["id"]]]))
            yield Question(cell["id"], points, tuple(lines), False, checks.get(cell["id"], ()))
        elif cell["cell_type"] == "markdown" and any(begins(line, ANSWER_BEGIN) for line in lines):
            yield from _text_and_answers(cell, lines)
        else:
            yield cell


def text_cell(name: str, source: str, kind: str = "markdown") -> dict:
    """The JSON of a cell of text."""
    return {"cell_type": kind, "id": name, "metadata": {}, "source": source}


def code_cell(name: str, source: str) -> dict:
    """The JSON of a cell of code that has not been run."""
    return text_cell(name, source, "code") | {"execution_count": None, "outputs": []}


def number(points: float) -> float:
    """The points as they are written, 3 and not 3.0."""
    return int(points) if points == int(points) else points


def around_solutions(lines: tuple[str, ...], before: list[str], behind: list[str]) -> str:
    """The source of a cell of code with lines put before and behind each solution, which begins below its TODO."""
    kept: list[str] = []
    first = -1  # the place in the exercise of the first line below its TODO
    indent = ""
    for place, (line, inside, position) in enumerate(walk(list(lines), BEGIN, END, "")):
        if inside and position == 0:
            indent = line[: len(line) - len(line.lstrip())]
            first = len(todo_at(list(lines[place:])).lines)
        closes = line.strip() == END
        if first >= 0 and (position == first or closes):
            kept += [indent + text for text in before]
            first = -1
        if closes:
            kept += [indent + text for text in behind]
        kept.append(line)
    return "\n".join(kept)


def _text_and_answers(cell: dict, lines: list[str]) -> Iterator[dict | Question]:
    """A cell of text, cut where answers begin and end."""
    text: list[str] = []
    answer: list[str] = []
    points = 0.0
    count = 0
    for line, inside, _ in walk(lines, ANSWER_BEGIN, ANSWER_END, ""):
        if begins(line, ANSWER_BEGIN):
            yield from _text(cell["id"], count, text)
            worth = ANSWER_WITH_POINTS.fullmatch(line.strip())
            points = float(worth.group(1)) if worth else 0.0
            text, answer = [], []
            count += 1
        elif line.strip() == ANSWER_END:
            yield Question(f"{cell['id']}-answer-{count}", points, tuple(answer), True)
        elif inside:
            answer.append(line)
        else:
            text.append(line)
    yield from _text(cell["id"], count, text)


def _text(name: str, count: int, lines: list[str]) -> Iterator[dict]:
    source = "\n".join(lines).strip()
    if source:
        yield text_cell(f"{name}-text-{count + 1}" if count else name, source)


def _checks(content: dict) -> dict[str, tuple[ast.Call, ...]]:
    """The calls of checks in each cell, by its id, as calls of `check`."""
    trees = list(read_trees(notebook_of(content)))
    names = names_of(trees)
    found = {}
    for tree in trees:
        calls = [(call, name) for call, name in names.calls(tree) if call.args]
        function = {name: ast.Attribute(ast.Name("check", ast.Load()), name, ast.Load()) for _, name in calls}
        found[content["cells"][tree.cell]["id"]] = tuple(
            ast.Call(function[name], call.args, call.keywords) for call, name in calls
        )
    return found
