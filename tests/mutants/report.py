"""The table and the list of what no test noticed, tests/mutants.md, from the results in build/mutants."""

import json
import re
from pathlib import Path

from tests.mutants.equivalent import EQUIVALENT

HEAD = """# What the tests notice

The result of `make mutants`, written by it. Each mutant is a file with one small change (an operator, a number, a text,
an argument, an assignment; `tests/mutants/changes.py` says what is left out). A mutant is caught when a test of its file
fails. It is equivalent when no caller could tell, for the reason given in `tests/mutants/equivalent.py`. The share is of
those that are not equivalent. The table joins a pass over each file with later runs of what survived it; all files
together took half an hour, one process at low priority on two busy cores.

| file | mutants | caught | equivalent | survived | share caught |
|---|--:|--:|--:|--:|--:|
"""


def write_report(results: Path, files: list[str], report: Path) -> None:
    """Write the table of all files that have a result, and below it the survivors and the equivalent ones."""
    rows = []
    lists = []
    for name in files:
        result = results / result_name(name)
        if not result.exists():
            continue
        found = json.loads(result.read_text())
        survived, equivalent = sorted_out(name, [label for label, caught in found["caught"].items() if not caught])
        rows.append(row(name, len(found["caught"]), len(equivalent), len(survived)))
        if survived or equivalent:
            lists += [f"\n## {name}\n"]
            lists += [f"- survived: `{label}`" for label in survived]
            lists += [f"- equivalent: `{label}`  \n  {reason}" for label, reason in equivalent.items()]
    report.write_text(HEAD + "\n".join(rows) + "\n" + "\n".join(lists) + "\n")


def result_name(file: str) -> str:
    return file.replace("/", "-") + ".json"


def row(name: str, mutants: int, equivalent: int, survived: int) -> str:
    caught = mutants - equivalent - survived
    share = 100 * caught / max(1, caught + survived)
    return f"| {name} | {mutants} | {caught} | {equivalent} | {survived} | {share:.1f} % |"


def sorted_out(name: str, labels: list[str]) -> tuple[list[str], dict[str, str]]:
    """Those that survived for no known reason, and those that are equivalent, each with its reason."""
    survived = []
    equivalent = {}
    for label in labels:
        reasons = [reason for pattern, reason in EQUIVALENT.get(name, {}).items() if re.search(pattern, label)]
        if reasons:
            equivalent[label] = reasons[0]
        else:
            survived.append(label)
    return survived, equivalent
