"""A folder's summary: how many pass, what is found most often, and which files were not looked at."""

import io

import pytest
from rich.console import Console

from checker.checking.check import Report
from checker.checking.summary import MOST_CODES, MOST_NAMES, account, summarise
from checker.reading.inventory import Inventory, Skipped
from checker.rules import RULES
from checker.rules.findings import Finding

CODES = sorted({rule.code for rule in RULES if rule.level == "warning"})


def report(*found: tuple[str, str], status="pass") -> Report:
    """A report with findings of these levels and codes."""
    return Report("x.ipynb", status, tuple(Finding(code, level, None, "a", "b") for level, code in found))


def summary(*reports, inventory=None, verbose=False) -> list[str]:
    out = io.StringIO()
    summarise(list(reports), inventory or Inventory(), Console(file=out, width=300, highlight=False), verbose)
    return [line.strip() for line in out.getvalue().splitlines()]


def accounted(inventory, **options) -> str:
    out = io.StringIO()
    account(inventory, Console(file=out, width=500, highlight=False), **options)
    return out.getvalue()


def test_the_verdicts_are_counted():
    """Catches an unreadable notebook that is counted as one that fails, and a word about none."""
    assert summary(report(), report(status="fail"))[1] == "1 of 2 notebooks pass."
    counted = summary(report(), report(status="fail"), report(status="unreadable"))[1]
    assert counted == "1 of 3 notebooks pass, 1 cannot be read."


def test_errors_come_first_then_what_most_notebooks_have():
    """Catches a rare note above an error that half of the class made, and two in one notebook counted twice."""
    some = [("note", CODES[0]), ("warning", CODES[1]), ("warning", CODES[1]), ("warning", CODES[2])]
    lines = summary(report(*some), report(("warning", CODES[2]), ("error", CODES[3])), report(("note", CODES[0])))
    assert [line.split()[:3] for line in lines[2:]] == [
        ["1", "error", CODES[3]],
        ["2", "warning", CODES[2]],
        ["1", "warning", CODES[1]],
        ["2", "note", CODES[0]],
    ]


def test_of_equally_frequent_findings_the_order_is_that_of_the_codes():
    """Catches a summary that is another one at each call."""
    found = [("warning", code) for code in CODES[:MOST_CODES]]
    lines = summary(report(*reversed(found)))
    assert [line.split()[2] for line in lines[2:]] == CODES[:MOST_CODES]


@pytest.mark.parametrize("more", [0, 1, 2])
def test_rarer_findings_are_counted_and_not_listed(more):
    lines = summary(report(*[("warning", code) for code in CODES[: MOST_CODES + more]]))
    assert len(lines) == 2 + MOST_CODES + (more > 0)
    said = {0: [], 1: ["and 1 further kind;"], 2: ["and 2 further kinds;"]}
    assert [line.partition(" `")[0] for line in lines[2 + MOST_CODES :]] == said[more]


def test_files_that_were_not_looked_at_are_named_where_they_are_few():
    """Catches a reason that stands above a more frequent one, and names that are left out without a number."""
    names = [f"{number}.png" for number in range(MOST_NAMES + 2)]
    skipped = [Skipped(".x.ipynb", "hidden"), *[Skipped(name, "not a notebook") for name in names]]
    inventory = Inventory(skipped=skipped, twins={"b.ipynb": "a.ipynb"})
    head = f"not checked, not a notebook: {len(names)} "
    few = f"{head}({', '.join(names[:MOST_NAMES])}, and 2 more (--verbose names them))\n"
    rest = "not checked, hidden: 1 (.x.ipynb)\nthe same bytes twice: 1 (b.ipynb = a.ipynb)\n"
    assert accounted(inventory) == few + rest
    assert accounted(inventory, verbose=True) == f"{head}({', '.join(names)})\n{rest}"


def test_a_summary_accounts_for_every_file():
    inventory = Inventory(skipped=[Skipped(f"{number}.png", "not a notebook") for number in range(MOST_NAMES + 1)])
    assert "and 1 more" in summary(report(), inventory=inventory)[-1]
    assert "more" not in summary(report(), inventory=inventory, verbose=True)[-1]
