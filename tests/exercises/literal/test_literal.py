"""Honest readings of a blank edition's TODO pass the check."""

import ast
import json
import re
from collections import defaultdict
from pathlib import Path

import pytest

from shared.check import EXERCISES
from shared.exercises.judging import judge
from tests.exercises.bank.holding import function_of
from tests.exercises.bank.reading import Block, blocks_of, without_names

pytestmark = pytest.mark.usefixtures("patient_judge", "shapes_unchecked")
HERE = Path(__file__).parent
BLANKS = sorted((HERE.parents[2] / "notebooks" / "student").glob("*.ipynb"))
BLOCKS = [block for path in sorted(HERE.glob("*.txt")) for block in blocks_of(path)]
ANY_TASK = {"rows", "cases", "reward_function"}  # checks of a task of one's own
STYLES = 2
QUICK = ("get_reward", "per_token_kl", "constrained_logps")


def exercises_of(path: Path) -> dict[str, ast.FunctionDef]:
    """By the name of its check each function that a blank edition leaves to be filled in."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    found = {}
    for source in ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"):
        called = re.search(r"^(?:if )?check\.(\w+)\((\w+)", source, re.MULTILINE)
        if called and "# TODO:" in source:
            defined = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
            found[called[1]] = defined[called[2]]
    return {name: function for name, function in found.items() if name not in ANY_TASK}


ASKED = {name: function for path in BLANKS for name, function in exercises_of(path).items()}


def marked(block: Block):
    return pytest.param(block, id=block.name, marks=() if block.check in QUICK else pytest.mark.slow)


def test_every_exercise_is_implemented_in_two_styles():
    """Catches an exercise whose check nobody has tried who knew the page alone."""
    styles = defaultdict(set)
    for block in BLOCKS:
        styles[block.check].add(without_names(block.source))
    assert set(styles) == set(ASKED) and len(ASKED) >= 58
    assert {name: len(found) for name, found in styles.items() if len(found) < STYLES} == {}


def test_each_takes_what_the_blank_edition_hands_over():
    """Catches a function of an older edition, whose arguments had other names or another order."""
    for block in BLOCKS:
        tree = ast.parse(block.source)
        written = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        blank = ASKED[block.check]
        assert names(written[blank.name]) == names(blank), block.name


def names(function: ast.FunctionDef) -> list[str]:
    return [argument.arg for argument in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]


@pytest.mark.parametrize("block", map(marked, BLOCKS))
def test_what_a_reader_makes_of_the_todo_passes(block):
    """Catches a check that asks for what its page does not say."""
    assert block.said == "right"
    verdict = judge(EXERCISES[block.check], function_of(block))
    assert verdict.passed, f"{block.words}: {verdict.text}"
