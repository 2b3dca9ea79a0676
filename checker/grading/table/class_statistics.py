"""The statistics of a class as one page without names, to be shown in a lecture: points, mistakes, what to talk about.

It is in the course's words alone: a student's, such as those of an error or of a finding that quotes, would be read by all.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from checker.grading.judge.oracle.partial_credit import NO_NAME, NOT_FILLED_IN
from checker.grading.table.students import Line
from checker.pages.templates import rendered, style
from checker.points.totals import summed
from checker.rules import READING, RULES
from checker.rules.findings import COUNTED

NAMES = {rule.code: rule.name for rule in (READING, *RULES)}
PAGE = "statistics.html"
BINS = 10  # of the picture of all points
MOST_SHOWN = 12  # mistakes, and findings
FEWEST = 2  # students who make a mistake that is talked about
HARD = 0.6  # mean share of the points, below which an exercise is talked about


@dataclass(frozen=True)
class ExerciseStatistics:
    """The results of a class in one exercise: how many earned all points, a part, none, and how many still wait.

    mistakes: with how many students make each, the most frequent first.
    """

    name: str
    section: str
    points: float
    written: bool
    full: int
    part: int
    none: int
    waiting: int
    mean: float
    mistakes: tuple[tuple[str, int], ...]

    @property
    def given(self) -> int:
        """The number of students whose points are known."""
        return self.full + self.part + self.none


@dataclass(frozen=True)
class NotebookStatistics:
    """The results of a class in one notebook. totals: the share of its points, one for each student.

    findings: of the checker, with how many students have each.
    """

    name: str
    students: int
    totals: tuple[float, ...]
    exercises: tuple[ExerciseStatistics, ...]
    findings: tuple[tuple[str, int], ...]

    @property
    def bins(self) -> list[int]:
        """The number of students in each tenth of the points, from none to all."""
        counted = Counter(min(int(BINS * share), BINS - 1) for share in self.totals)
        return [counted[number] for number in range(BINS)]

    @property
    def mistakes(self) -> list[tuple[str, str, int]]:
        """(exercise, mistake, how many), the most frequent first."""
        found = [(one.name, text, count) for one in self.exercises for text, count in one.mistakes]
        return sorted(found, key=lambda entry: -entry[2])[:MOST_SHOWN]

    @property
    def talk(self) -> list[tuple[str, str]]:
        """The subjects of the next lecture: (exercise, reason), first what costs most points."""
        lost = [
            (one.points * (1 - one.mean) * one.given, one) for one in self.exercises if one.given and one.mean < HARD
        ]
        hard = [
            (one.name, f"{100 * one.mean:.0f} % of its points were earned; {one.none} of {one.given} have none.")
            for _, one in sorted(lost, key=lambda pair: -pair[0])
        ]
        shared = [
            (name, f"{count} of {self.students}: {text}")
            for name, text, count in self.mistakes
            if count >= max(FEWEST, self.students / 10) and not text.endswith((NO_NAME, NOT_FILLED_IN))
        ]
        return hard + shared


def statistics_of(lines: Iterable[Line]) -> list[NotebookStatistics]:
    """The statistics of each notebook that was graded."""
    by_notebook: dict[str, list[tuple[dict, list[dict]]]] = {}
    for line in lines:
        for notebook, result in line.results.items():
            if not result["ungraded"]:
                by_notebook.setdefault(notebook, []).append((result, line.items(notebook)))
    return [_of_notebook(name, by_notebook[name]) for name in sorted(by_notebook)]


def page(lines: Iterable[Line]) -> str:
    """The page. It holds no name and no answer of a student."""
    return rendered(
        "statistics.html.j2",
        (),
        title="The class in numbers",
        notebooks=statistics_of(lines),
        style=style("statistics.css"),
        hard=HARD,
    )


def _of_notebook(name: str, graded: list[tuple[dict, list[dict]]]) -> NotebookStatistics:
    by_key: dict[str, list[dict]] = {}
    for _, items in graded:
        for item in items:
            if item["points"]:
                by_key.setdefault(item["key"], []).append(item)
    sums = [summed(item for item in items if item["earned"] is not None) for _, items in graded]
    findings = Counter()
    for result, _ in graded:
        codes = {one["code"] for one in result["findings"] if one["level"] in COUNTED}
        findings.update(f"{NAMES.get(code, '')} ({code})".strip() for code in codes)
    return NotebookStatistics(
        name=name,
        students=len(graded),
        totals=tuple(one.earned / one.possible for one in sums if one.possible),
        exercises=tuple(map(_of_exercise, by_key.values())),
        findings=tuple(findings.most_common(MOST_SHOWN)),
    )


def _of_exercise(items: list[dict]) -> ExerciseStatistics:
    known = [item for item in items if item["earned"] is not None]
    shares = [item["earned"] / item["points"] for item in known]
    wrong = [item for item in known if item["earned"] < item["points"] and not item.get("by_hand")]
    mistakes = Counter(mistake for item in wrong for mistake in item.get("mistakes", ()))
    return ExerciseStatistics(
        name=items[0]["name"],
        section=items[0]["section"],
        points=items[0]["points"],
        written=items[0]["written"],
        full=sum(share >= 1 for share in shares),
        part=sum(0 < share < 1 for share in shares),
        none=sum(share <= 0 for share in shares),
        waiting=len(items) - len(known),
        mean=sum(shares) / len(shares) if shares else 0.0,
        mistakes=tuple(mistakes.most_common()),
    )
