"""Small notebooks that are right, for tests to spoil in one place."""

import copy
import json
import os
import sys
from pathlib import Path

import pytest
from filelock import FileLock

PROJECT = Path(__file__).parents[2]
# Every notebook of the repository: worked ones, blank editions, examples, what other graders get.
NOTEBOOKS = sorted(path for room in ("notebooks", "checker", "tests") for path in (PROJECT / room).rglob("*.ipynb"))
# As `checker.__main__` does, and before anything imports jsonschema: its grammar takes a second.
sys.modules.setdefault("rfc3987_syntax", None)

HEADER = "---\nformat:\n  html:\n    code-fold: true\njupyter: python3\n---"
ANALYSIS = (
    "# Cell 8: Analysis\nSuccess: reward rose on held-out data. Reward hacking: none. The group size G = 8 was enough."
)
CODE = {
    2: ("# Cell 2: Model\nprint(summary)", "LlamaForCausalLM: 1,554,560 parameters\n"),
    3: ("# Cell 3: Data\nprint(rows)", "Count the dots: . *\nCount the dots: . .\nCount the dots: * *\n"),
    4: ("# Cell 4: Reward function\nprint(cases)", "response ' 3' reward 1.0\nresponse ' 4' reward 0.0\n"),
    5: ("# Cell 5: One GRPO step\nprint(loss)", "advantages (32,), initial loss 0.0012\n"),
    6: (
        "# Cell 6: Training loop\ntrain()",
        "".join(f"step {i} average reward 0.{i} average loss 0.01\n" for i in (1, 2, 3)),
    ),
    7: (
        "# Cell 7: Evaluation\ncompare()",
        "baseline reward 0.250\nfine-tuned reward 0.970\n" + "prompt 'x' output ' 3' reward 1\n" * 5,
    ),
}


def markdown(source: str) -> dict:
    return {"cell_type": "markdown", "id": f"m{hash(source) % 10**8}", "metadata": {}, "source": source}


def code(source: str, printed: str = "", count: int | None = 1) -> dict:
    outputs = [{"output_type": "stream", "name": "stdout", "text": printed}] if printed else []
    return {
        "cell_type": "code",
        "id": f"c{hash(source) % 10**8}",
        "metadata": {},
        "execution_count": count,
        "source": source,
        "outputs": outputs,
    }


GOOD = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    "cells": [
        markdown(HEADER),
        markdown("# Cell 1: Task definition and plan\nCount the dots."),
        *[code(source, printed, count) for count, (source, printed) in enumerate(CODE.values(), 1)],
        markdown(ANALYSIS),
    ],
}


@pytest.fixture
def good() -> dict:
    """A notebook without a finding, to be changed."""
    return copy.deepcopy(GOOD)


@pytest.fixture
def save(tmp_path):
    """Write a notebook's JSON (or any text) and return its path."""

    def write(content, name="notebook.ipynb"):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="session")
def course_pages(tmp_path_factory) -> list[Path]:
    """The pages of the course's own site as it is without Quarto, made once for every file and every worker."""
    from checker.site import builtin

    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    listed = folder / "course.json"
    with FileLock(folder / "course.lock"):
        if not listed.exists():
            pages = builtin.build(PROJECT, folder / "course")
            listed.write_text(json.dumps([str(page) for page in pages]), encoding="utf-8")
    return [Path(page) for page in json.loads(listed.read_text(encoding="utf-8"))]
