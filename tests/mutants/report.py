"""The table and the list of what no test noticed, tests/mutants.md, from the results in build/mutants."""

import json
import re
from pathlib import Path

from tests.mutants.equivalent import EQUIVALENT, EVERYWHERE

HEAD = """# What the tests notice

The result of `make mutants`, written by it. Each mutant is a file with one small change (an operator, a number, a text,
an argument, an assignment, a statement that goes, two that change places; `tests/mutants/changes.py` says what is left
out; rows before 2026-11-28 have no mutants of the last two kinds). A mutant is caught when a test of its file
fails; the shapes in the signatures are not checked meanwhile. It is equivalent when no caller could tell, for a reason
that stands in `tests/mutants/equivalent.py`. The share is of those that are not equivalent. Files were run one at a time, and
what survived a first pass was run again after tests were added (`--survivors`), so a mutant counts as caught that was
caught once. A row is of the file whose `git hash-object` begins as its second column says; a file that has changed since
has another. Date and commit are those of the last run. "40 of 312" mutants were drawn with the seed of
tests/mutants/files.py. A file without a row has not been tried yet, or has nothing to change.

| file | version | date | commit | mutants | caught | equivalent | survived | share caught |
|---|---|---|---|--:|--:|--:|--:|--:|
"""


def write_report(results: Path, files: list[str], report: Path) -> None:
    """Write the table and below it the survivors; files without a whole result keep theirs."""
    rows, sections = read_report(report.read_text()) if report.exists() else ({}, {})
    for name in files:
        result = results / result_name(name)
        if not result.exists():
            continue
        found = json.loads(result.read_text())
        if not found["finished"] or not found["caught"]:
            continue
        survived, equivalent = sorted_out(name, [label for label, caught in found["caught"].items() if not caught])
        rows[name] = row(name, found, len(equivalent), len(survived))
        sections[name] = section(name, survived)
    table = [rows[name] for name in files if name in rows]
    below = [sections[name] for name in files if sections.get(name)]
    report.write_text(HEAD + "\n".join(table) + "\n\n" + "\n".join(below))


def read_report(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """The rows and the sections of a report, each by its file."""
    table, *below = text.split("\n## ")
    rows = {
        line.split("|")[1].strip(): line for line in table.splitlines() if line.startswith(("| shared", "| checker"))
    }
    sections = {part.split("\n", 1)[0]: f"## {part.rstrip()}\n" for part in below}
    return rows, sections


def section(name: str, survived: list[str]) -> str:
    """The list under a file's name; empty where no mutant survived."""
    if not survived:
        return ""
    return "\n".join([f"## {name}\n", *(f"- survived: `{label}`" for label in survived), ""])


def result_name(file: str) -> str:
    return file.replace("/", "-") + ".json"


def row(name: str, found: dict, equivalent: int, survived: int) -> str:
    """The line of a file, from its result: `of` is how many mutants it has, `caught` the verdict on each that was tried."""
    tried = len(found["caught"])
    mutants = f"{tried} of {found['of']}" if tried < found["of"] else tried
    caught = tried - equivalent - survived
    share = f"{100 * caught / (caught + survived):.1f} %" if caught + survived else "–"
    cells = [name, found["version"][:7], found["date"], found["commit"], mutants, caught, equivalent, survived, share]
    return f"| {' | '.join(map(str, cells))} |"


def sorted_out(name: str, labels: list[str]) -> tuple[list[str], dict[str, str]]:
    """Those that survived for no known reason, and those that are equivalent, each with its reason."""
    survived = []
    equivalent = {}
    patterns = EVERYWHERE | EQUIVALENT.get(name, {})
    for label in labels:
        reasons = [reason for pattern, reason in patterns.items() if re.search(pattern, label)]
        if reasons:
            equivalent[label] = reasons[0]
        else:
            survived.append(label)
    return survived, equivalent
