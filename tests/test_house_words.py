"""The words with a meaning of our own: few, defined once, and linked where a reader first meets them."""

import ast
import json
import re
from pathlib import Path

import pytest

from tests.conftest import few_of

ROOT = Path(__file__).parents[1]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SECTION = CONTRIBUTING.partition("## House words\n")[2].partition("\n## ")[0]
WORDS = dict(re.findall(r"(?m)^\| ([\w -]+) \| [^|]+ \| `([\w/.]+)` \|$", SECTION))


def test_they_are_few():
    """Catches a vocabulary that grows with every file; a new word takes the place of another."""
    assert 0 < len(WORDS) <= 12
    assert len(WORDS) == len(re.findall(r"(?m)^\| (?!word )\w", SECTION))


@pytest.mark.parametrize("word", WORDS)
def test_the_module_in_which_it_is_at_home_says_where_it_is_defined(word):
    """Catches a module that was moved, and a docstring rewritten without its link."""
    module = ast.parse((ROOT / WORDS[word]).read_text(encoding="utf-8"))
    said = " ".join(ast.get_docstring(module).split())
    assert "see CONTRIBUTING: house words" in said
    assert all(part[:3] in said.lower() for part in word.split()), f"{WORDS[word]} does not say {word}"


def named(source: str) -> set[str]:
    """The variables, arguments and fields of a module."""
    nodes = list(ast.walk(ast.parse(source)))
    variables = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return variables | {node.arg for node in nodes if isinstance(node, ast.arg)}


@pytest.mark.parametrize("folder", few_of(("checker", "shared", "benchmarks", "tests"), ("checker", "shared")))
def test_of_is_no_variable(folder):
    """Catches `of["wrong"] for of in verdicts`, which reads as a sentence and says nothing."""
    assert "of" in named("for of in x: pass") & named("def f(of): pass") & named("class A:\n    of: int = 0")
    found = [path for path in sorted((ROOT / folder).rglob("*.py")) if "of" in named(path.read_text(encoding="utf-8"))]
    assert not found


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").rglob("*.ipynb")), ids=lambda path: path.stem)
def test_of_is_no_variable_of_a_notebook(path):
    """Catches what the test above looks for, in the code that students read."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    assert not {"of"} & (
        named(code) | {node.name for node in ast.walk(ast.parse(code)) if isinstance(node, ast.FunctionDef)}
    )
