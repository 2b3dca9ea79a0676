"""The choice of patterns that the method rules assert rather than ask, and how well that choice holds.

    python -m benchmarks.method_rules.asserted

`unseen.json` has every finding of the second to eleventh sets by the rules as they stood when the set was opened, and
every mistake that they missed there. The criterion stands in the README. Needs no notebooks.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.method_rules.score import LABELS, WITHOUT_READING, share

UNSEEN = Path(__file__).with_name("unseen.json")
EXPECTED = 0.9  # how likely the next finding of a pattern must be right
REPOSITORIES = 4  # from which a pattern's findings must be, at least


@dataclass(frozen=True)
class Place:
    """One place of a set: a finding (told), a mistake (bug), or both.

    pattern: the rule and, where it says several sentences or has evidence of two kinds, which of them; of what was
        missed, the rule alone.
    """

    set: str
    repository: str
    pattern: str
    told: bool
    bug: bool

    @property
    def rule(self) -> str:
        return self.pattern[:4]


@dataclass
class Counts:
    """The counts of the findings of some places. read: whether missed mistakes were sought too."""

    asserted: int = 0
    asserted_right: int = 0
    asked: int = 0
    asked_right: int = 0
    mistakes: int = 0
    found_by_asserted: int = 0
    found: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))


def unseen() -> list[Place]:
    """The places of all sets, in the order of the sets."""
    repositories = {entry["id"]: entry["repository"] for entry in json.loads(LABELS.read_text(encoding="utf-8"))}
    entries = json.loads(UNSEEN.read_text(encoding="utf-8"))
    return [
        Place(
            entry["set"],
            repositories[entry["id"]],
            ", ".join(filter(None, (entry["rule"], entry.get("pattern")))),
            entry["told"],
            entry["bug"],
        )
        for entry in entries
    ]


def by_pattern(places: Iterable[Place]) -> dict[str, list[Place]]:
    """The findings of each pattern."""
    found: dict[str, list[Place]] = {}
    for place in places:
        if place.told:
            found.setdefault(place.pattern, []).append(place)
    return dict(sorted(found.items()))


def is_sure(findings: list[Place]) -> bool:
    """True if the next finding of a pattern is expected right, by the rule of succession, and enough hands agree."""
    expected = (sum(place.bug for place in findings) + 1) / (len(findings) + 2)
    return expected >= EXPECTED and len({place.repository for place in findings}) >= REPOSITORIES


def chosen(places: Iterable[Place]) -> set[str]:
    """The patterns that are asserted, going by these places."""
    return {pattern for pattern, findings in by_pattern(places).items() if is_sure(findings)}


def count(places: Iterable[Place], asserted: set[str]) -> Counts:
    """Count these places when these patterns are asserted and all others asked."""
    counts = Counts()
    for place in places:
        is_asserted = place.told and place.pattern in asserted
        is_asked = place.told and not is_asserted
        counts.asserted += is_asserted
        counts.asserted_right += is_asserted and place.bug
        counts.asked += is_asked
        counts.asked_right += is_asked and place.bug
        if place.set not in WITHOUT_READING:
            counts.mistakes += place.bug
            counts.found += place.told and place.bug
            counts.found_by_asserted += is_asserted and place.bug
    return counts


def left_out(places: list[Place]) -> dict[str, Counts]:
    """For each set: what comes of it when the patterns are chosen on all other sets."""
    return {
        name: count(
            [place for place in places if place.set == name],
            chosen(place for place in places if place.set != name),
        )
        for name in dict.fromkeys(place.set for place in places)
    }


def undivided(places: Iterable[Place]) -> list[Place]:
    """The same places with M015 as one pattern: it says one sentence, and was divided by evidence later."""
    return [replace(place, pattern="M015") if place.rule == "M015" else place for place in places]


def row(name: str, counts: Counts) -> str:
    """One line of the second table."""
    return (
        f"| {name} | {share(counts.asserted_right, counts.asserted)} | {share(counts.asked_right, counts.asked)}"
        f" | {share(counts.found_by_asserted, counts.mistakes)} | {share(counts.found, counts.mistakes)} |"
    )


def tables(places: list[Place]) -> Iterable[str]:
    """The lines of both tables: the patterns, and the sets left out."""
    asserted = chosen(places)
    yield "| pattern | right (95 % interval) | repositories | |\n|---|---|---|---|"
    for pattern, findings in by_pattern(places).items():
        repositories = len({place.repository for place in findings})
        right = share(sum(place.bug for place in findings), len(findings))
        yield f"| {pattern} | {right} | {repositories} | {'asserted' if pattern in asserted else 'asked'} |"
    yield "\n| left out | asserted, right | asked, right | mistakes asserted | asserted or asked |\n|---|---|---|---|---|"
    rotated = left_out(places)
    for name, counts in rotated.items():
        yield row(name, counts)
    yield row("together", sum(rotated.values(), Counts()))
    yield row("together, M015 undivided", sum(left_out(undivided(places)).values(), Counts()))


if __name__ == "__main__":
    for line in tables(unseen()):
        print(line)
