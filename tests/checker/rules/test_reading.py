"""The rules on cells that cannot be read."""

import sys

import pytest

from checker.checking.check import check
from checker.reading.notebook import notebook_of
from checker.rules import RULES, Submission
from checker.rules.reading import cannot_be_read
from tests.checker.conftest import code

OF_SQL = "SELECT * FROM runs"


def test_the_rule_on_files_never_speaks_of_what_was_read(good):
    """Catches a finding on every notebook under the code for those that nobody can open."""
    assert list(cannot_be_read.findings(Submission(notebook_of(good)))) == []
    assert cannot_be_read.code not in [rule.code for rule in RULES]


def test_a_cell_that_is_none_is_told_with_its_fault(good, told):
    """Catches the first faulty cell told for all of them."""
    good["cells"][2]["cell_type"], good["cells"][3]["source"] = "text", 3
    first, second = told("U002")
    assert (first.cell, first.found) == (2, "this is not a valid cell: its cell_type is 'text'")
    assert (second.cell, second.found) == (3, "this is not a valid cell: its source is not text")
    assert "in Jupyter, mend it, and save" in first.advice


def test_each_cell_that_python_cannot_read_is_told_with_its_line(good, told):
    good["cells"][3:3] = [code("x = 1\ny = (2", count=None), code("def f(:\n    pass", count=None)]
    first, second = told("U003")
    running = f"Python {sys.version_info[0]}.{sys.version_info[1]}"
    assert first.cell == 3 and first.found == f"{running} cannot read this cell, line 2: '(' was never closed"
    assert second.cell == 4 and second.found.startswith(f"{running} cannot read this cell, line 1: ")
    assert first.advice.startswith("Mend the line, or one above it, and run the cell again.")
    assert first.advice.endswith("write it in a form that Python 3.11 reads.")


@pytest.mark.parametrize(
    ("source", "metadata", "codes"),
    [
        (OF_SQL, {"vscode": {"languageId": "sql"}}, []),
        (OF_SQL, {"kernel": "R"}, []),
        (OF_SQL, {"polyglot_notebook": {"kernelName": "csharp"}}, []),
        (OF_SQL, {"language": "sql", "tags": 3}, []),
        (f"#| eval: false\n{OF_SQL}", {}, []),
        ("#| echo: true\n#| eval: False\nassert 0 == 1, 'no reward'\neval(completion)", {}, []),
        (OF_SQL, {"tags": ["skip-execution"]}, []),
        (OF_SQL, {"vscode": {"languageId": "python"}}, ["U003", "X001"]),
        (OF_SQL, {"kernel": "SoS", "slideshow": {"kernel": 3}, "language": ""}, ["U003", "X001"]),
        (f"#| eval: true\n{OF_SQL}", {"tags": ["skip"]}, ["U003", "X001"]),
        ("#| echo: false\neval(completion)", {}, ["M013", "X001"]),
    ],
)
def test_what_does_not_run_as_python_has_no_findings_of_python(good, save, source, metadata, codes):
    """Catches SQL that is told to be mended or run as Python, and a cell of Python that is passed over."""
    good["cells"].insert(3, code(source, count=None) | {"metadata": metadata})
    assert sorted(finding.code for finding in check(save(good)).findings if finding.cell == 3) == codes
