"""The score of the method rules on public notebooks: how often they are right, how many labelled mistakes they find.

    python -m benchmarks.method_rules.score FOLDER

FOLDER holds the notebooks of `labels.json` (repository, commit and path are in it) as ID.ipynb; their code is no part of
this project. A label says of one place (rule, cell, line) whether there is a mistake of that rule's kind. A finding at a
place without a label is told and not counted: look at it, and add the label.
"""

import json
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from checker.reading.notebook import read
from checker.rules import method
from checker.rules.base import Question, Submission
from shared.statistics import wilson_interval

LABELS = Path(__file__).with_name("labels.json")
LINE = re.compile(r"lines? (\d+)")
WITHOUT_READING = {
    "fourth",
    "twelfth",
}  # sets of which only findings were labelled: nobody read them for what is missed


class Told(NamedTuple):
    """A finding: its rule, the cell, the line (0 where it names none), and whether it is asserted or asked."""

    rule: str
    cell: int | None
    line: int
    asserted: bool


@dataclass
class Tally:
    """The score on a set of notebooks. right, wrong: of all findings; asserted_...: of those that are no questions.

    unlabelled, missed: the places, as sentences.
    """

    notebooks: int = 0
    right: int = 0
    wrong: int = 0
    asserted_right: int = 0
    asserted_wrong: int = 0
    unlabelled: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)


def findings(path: Path) -> list[Told]:
    """The findings of the rules on a notebook."""
    submission = Submission(read(path))
    found = []
    for rule in method.RULES:
        for remark in rule.check(submission):
            cell, said, _ = remark
            line = LINE.match(said)
            asserted = rule.level != "question" and not isinstance(remark, Question)
            found.append(Told(rule.code, cell, int(line[1]) if line else 0, asserted))
    return found


def judge(tally: Tally, name: str, found: list[Told], labels: list[dict]) -> None:
    """Add one notebook: each finding takes the label of its place, else a free one of its rule and cell."""
    free = list(labels)
    for told in sorted(found, key=lambda told: -_fits_exactly(told, labels)):
        here = [label for label in free if (label["rule"], label["cell"]) == (told.rule, told.cell)]
        chosen = next((label for label in here if label["line"] == told.line), here[0] if here else None)
        if chosen is None:
            tally.unlabelled.append(f"{name}: {told.rule} in cell {told.cell}, line {told.line}")
            continue
        free.remove(chosen)
        tally.right += chosen["bug"]
        tally.wrong += not chosen["bug"]
        tally.asserted_right += told.asserted and chosen["bug"]
        tally.asserted_wrong += told.asserted and not chosen["bug"]
    tally.missed += [f"{name}: {label['rule']} in cell {label['cell']}" for label in free if label["bug"]]


def _fits_exactly(told: Told, labels: list[dict]) -> bool:
    return any((label["rule"], label["cell"], label["line"]) == told[:3] for label in labels)


def share(successes: int, trials: int) -> str:
    if not trials:
        return ""
    low, high = wilson_interval(successes, trials)
    return f"{successes} of {trials}, {successes / trials:.0%} ({low:.0%} to {high:.0%})"


def main(folder: Path) -> None:
    tallies: dict[str, Tally] = {}
    for entry in json.loads(LABELS.read_text(encoding="utf-8")):
        path = folder / f"{entry['id']}.ipynb"
        if path.is_file():
            tally = tallies.setdefault(entry["set"], Tally())
            tally.notebooks += 1
            judge(tally, f"{entry['repository']}, {entry['path']}", findings(path), entry["labels"])
    print("| set | notebooks | asserted, right (95 % interval) | all, right | recall of all |\n|---|---|---|---|---|")
    for name, tally in tallies.items():
        recall = "" if name in WITHOUT_READING else share(tally.right, tally.right + len(tally.missed))
        asserted = share(tally.asserted_right, tally.asserted_right + tally.asserted_wrong)
        right = share(tally.right, tally.right + tally.wrong)
        print(f"| {name} | {tally.notebooks} | {asserted} | {right} | {recall} |")
    for name, tally in tallies.items():
        for what, places in (("without a label", tally.unlabelled), ("missed", tally.missed)):
            for place in places:
                print(f"{name}, {what}: {place}", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
