"""The similarity of disguised copies beside that of solutions that were written independently.

    python -m benchmarks.similarity > benchmarks/similarity.md

Independent solutions are what readers of the blank edition on dots made of it (`tests/exercises/literal`), one style a
student, put into that notebook. Copies are made of them by the changes with which somebody hides one, three to six of them at
once: names, comments, order, steps in between, swapped operands, functions for methods, statements that do nothing.
Every pair gets the share that `checker grade` shows pairs by. Then whole classes are compared: the independent
solutions, and several copies of one of them, renamed or disguised. Prints Markdown.
"""

import ast
import copy
import json
import random
import statistics
from collections.abc import Callable
from itertools import combinations

from checker.grading.collect.similarity import FEWEST, THRESHOLD, Text, pairs, text_of
from checker.setup.environment import ROOT
from tests.exercises.bank.reading import LITERAL, blocks_of

NOTEBOOK = "dots.ipynb"
EXERCISES = (
    "get_reward",
    "group_advantages",
    "completion_logps",
    "per_token_kl",
    "grpo_loss",
    "step_loss",
    "training_step",
    "evaluate",
)
COPIES = 30
SEED = 0
METHODS = {"sum", "mean", "exp", "clamp", "std", "gather", "log_softmax", "min"}
COPIERS = (1, 3, 5, 8)  # who copied one student, in a class with the others
BINS = [share / 10 for share in range(10)]


def styles() -> list[list[str]]:
    """For each student the sources of one right function an exercise; who comes after the last style leaves it out."""
    blocks = [block for path in sorted(LITERAL.glob("*.txt")) for block in blocks_of(path)]
    written = [[block.source for block in blocks if block.check == name] for name in EXERCISES]
    students = max(map(len, written))
    return [[sources[place] for sources in written if place < len(sources)] for place in range(students)]


class Renamed(ast.NodeTransformer):
    """Other names for the parameters and what is assigned."""

    def __init__(self, tree: ast.AST):
        stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self.names = {name: f"my_{name}_value" for name in stored}

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name(self.names.get(node.id, node.id), node.ctx), node)


class Swapped(ast.NodeTransformer):
    """b * a for a * b, b + a for a + b, b > a for a < b."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.BinOp:
        self.generic_visit(node)
        if isinstance(node.op, (ast.Mult, ast.Add)) and not isinstance(node.left, (ast.List, ast.Constant)):
            node.left, node.right = node.right, node.left
        return node


class AsFunctions(ast.NodeTransformer):
    """torch.sum(x, -1) for x.sum(-1)."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        is_method = isinstance(node.func, ast.Attribute) and node.func.attr in METHODS
        if is_method and not (isinstance(node.func.value, ast.Name) and node.func.value.id in ("torch", "F")):
            node.args = [node.func.value, *node.args]
            node.func = ast.Attribute(ast.Name("torch", ast.Load()), node.func.attr, ast.Load())
        return node


def in_steps(tree: ast.Module) -> None:
    """`step = b; x = a + step` for `x = a + b`, and so for what is returned."""
    for holder in ast.walk(tree):
        for field in ("body", "orelse"):
            body = getattr(holder, field, None)
            if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
                setattr(holder, field, [part for statement in body for part in _steps(statement)])


def _steps(statement: ast.stmt) -> list[ast.stmt]:
    value = getattr(statement, "value", None)
    if not isinstance(statement, (ast.Assign, ast.Return)) or not isinstance(value, (ast.BinOp, ast.Call)):
        return [statement]
    name = f"step_{statement.lineno}"
    if isinstance(value, ast.BinOp):
        first = ast.Assign([ast.Name(name, ast.Store())], value.right)
        value.right = ast.Name(name, ast.Load())
        return [first, statement]
    first = ast.Assign([ast.Name(name, ast.Store())], value)
    statement.value = ast.Name(name, ast.Load())
    return [first, statement]


def with_idle_statements(tree: ast.Module, chance: random.Random) -> None:
    """Assertions and assignments that change nothing, here and there."""
    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        for place in reversed(range(len(function.body))):
            if chance.random() < 0.4:
                idle = chance.choice(["checked = True", "assert True, 'fine'", "debug = None", "print(end='')"])
                function.body.insert(place, ast.parse(idle).body[0])


def disguised(sources: list[str], chance: random.Random) -> list[str]:
    """A copy: three to six of the changes, chosen at random."""
    changes: list[Callable[[ast.Module], object]] = [
        lambda tree: Renamed(tree).visit(tree),
        lambda tree: Swapped().visit(tree),
        lambda tree: AsFunctions().visit(tree),
        in_steps,
        lambda tree: with_idle_statements(tree, chance),
        lambda tree: None,  # comments, docstrings and the layout go anyway
    ]
    chosen = chance.sample(changes, chance.randint(3, 6))
    changed = []
    for source in sources:
        tree = ast.parse(source)
        for change in chosen:
            change(tree)
        changed.append(ast.unparse(ast.fix_missing_locations(tree)))
    chance.shuffle(changed)
    return changed


def filled(sources: list[str], student: str, blank: dict) -> Text:
    """The blank notebook with these functions in its first code cells."""
    content = copy.deepcopy(blank)
    cells = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    for place, source in enumerate(sources):
        cell = cells[place % len(cells)]
        cell["source"] = "".join(cell["source"]) + "\n" + source
    return text_of(student, content)


def shares(first: list[Text], second: list[Text] | None, known: list[Text]) -> list[float]:
    """The share of each pair: of two lists side by side, or of all pairs of one."""
    couples = combinations(first, 2) if second is None else zip(first, second)
    found = []
    for one, other in couples:
        alike = pairs([one, other], known, threshold=0.0)
        found += [pair.share for pair in alike]
    return found


def renamed(sources: list[str]) -> list[str]:
    """A copy with other names, and nothing else."""
    trees = map(ast.parse, sources)
    return [ast.unparse(ast.fix_missing_locations(Renamed(tree).visit(tree))) for tree in trees]


def in_a_class(copies: list[Text], original: str, others: list[Text], known: list[Text]) -> tuple[int, int]:
    """Of a class, how many of the pairs that copied are shown, and how many that did not."""
    copied = {original, *(text.student for text in copies)}
    shown = [{pair.first.student, pair.second.student} for pair in pairs([*others, *copies], known)]
    return sum(pair <= copied for pair in shown), sum(not pair <= copied for pair in shown)


def report() -> str:
    chance = random.Random(SEED)
    known = [
        json.loads((ROOT / "notebooks" / place / NOTEBOOK).read_text(encoding="utf-8")) for place in ("student", "")
    ]
    blank = known[0]
    handed_out = [text_of("", content) for content in known]
    written = styles()
    originals = [filled(sources, f"student {place}", blank) for place, sources in enumerate(written)]
    enough = [place for place, text in enumerate(originals) if len(text.runs.keys() - _runs(handed_out)) >= FEWEST]
    copied = [enough[number % len(enough)] for number in range(COPIES)]
    copies = [filled(disguised(written[place], chance), f"copy {n}", blank) for n, place in enumerate(copied)]
    apart = shares([originals[place] for place in enough], None, handed_out)
    alike = shares([originals[place] for place in copied], copies, handed_out)
    lines = [
        "# Similar submissions\n",
        "Made by `python -m benchmarks.similarity`: " + " ".join(__doc__.split("\n\n")[2].split()) + "\n",
        f"{len(enough)} independent solutions make {len(apart)} pairs; {len(alike)} disguised copies, each beside its"
        f" original. Pairs are shown from a share of {THRESHOLD} on: {sum(s >= THRESHOLD for s in alike)} of"
        f" {len(alike)} copies, {sum(s >= THRESHOLD for s in apart)} of {len(apart)} independent pairs.\n",
        "| | smallest | median | largest |",
        "|---|---|---|---|",
        f"| independent pairs | {_three(apart)} |",
        f"| copies | {_three(alike)} |\n",
        "| share | independent pairs | copies |",
        "|---|---|---|",
    ]
    for low in BINS:
        counts = [sum(low <= min(share, 0.999) < low + 0.1 for share in found) for found in (apart, alike)]
        lines.append(f"| {low:.1f} to {low + 0.1:.1f} | {counts[0]} | {counts[1]} |")
    others = [originals[place] for place in enough]
    source = written[enough[0]]
    lines += [
        f"\nClasses: the {len(others)} independent solutions and copies of one of them. Pairs shown of those who share it:\n",
        "| copies | pairs | renamed, shown | disguised, shown | of others, shown |",
        "|---|---|---|---|---|",
    ]
    for count in COPIERS:
        plain = [filled(renamed(source), f"copy {n}", blank) for n in range(count)]
        hidden = [filled(disguised(source, chance), f"copy {n}", blank) for n in range(count)]
        seen, wrong = in_a_class(plain, others[0].student, others, handed_out)
        seen_hidden, wrong_hidden = in_a_class(hidden, others[0].student, others, handed_out)
        lines.append(f"| {count} | {count * (count + 1) // 2} | {seen} | {seen_hidden} | {wrong + wrong_hidden} |")
    return "\n".join(lines)


def _runs(texts: list[Text]) -> set:
    return {run for text in texts for run in text.runs}


def _three(found: list[float]) -> str:
    return " | ".join(f"{value:.2f}" for value in (min(found), statistics.median(found), max(found)))


if __name__ == "__main__":
    print(report())
