"""A rule, and the submission that it looks at."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from checker.outputs import check_results, claims, results
from checker.reading import convert, layout
from checker.reading.notebook import Cell, Notebook
from checker.reading.prose import page as prose
from checker.reading.syntax.code import Code, read_code
from checker.reading.text import one_line, printable
from checker.rules.findings import Finding, Level


@dataclass(frozen=True)
class Submission:
    """A notebook with what rules ask about it, worked out once.

    beside: whether what was handed in beside the notebook lies beside it now; not so for one out of a zip.
    """

    notebook: Notebook
    max_output: int = convert.MAX_OUTPUT
    beside: bool = True
    limit: int = convert.LIMIT

    @cached_property
    def converted(self) -> list[convert.Section]:
        return convert.sections(self.notebook, self.max_output)

    @cached_property
    def markdown(self) -> str:
        return "\n".join(section.text for section in self.converted)

    @cached_property
    def texts(self) -> list[tuple[Cell, prose.Text]]:
        """The cells of Markdown but the header, each with what it is read as."""
        return prose.texts(self.notebook)

    @cached_property
    def remarks(self) -> list[tuple[Cell, prose.Remark]]:
        """The parts of its texts that no page shows as they were meant, each with its cell."""
        return list(prose.remarks(self.texts))

    @cached_property
    def sections(self) -> dict[int, list[Cell]]:
        return layout.sections(self.notebook)

    def place(self, number: int) -> str:
        """The cell of this number as a person would name it."""
        return one_line(layout.place_of(self.notebook.cells[number], self.sections))

    @cached_property
    def check_results(self) -> list[check_results.CheckResult]:
        """The results of the exercises' checks, in order."""
        return check_results.check_results(self.notebook)

    @cached_property
    def rewards(self) -> tuple[float | None, float | None]:
        """Baseline and fine-tuned reward as the outputs show them."""
        return results.rewards(self.notebook)

    @cached_property
    def claim(self) -> str:
        """The claim that the header declares: that a model learns, or that methods are measured."""
        return claims.claim_of(self.notebook)

    @cached_property
    def shows_its_claim(self) -> bool:
        """True if the outputs show what the header claims."""
        return claims.is_shown(self.notebook)

    @cached_property
    def code(self) -> Code:
        return read_code(self.notebook)

    def output_of(self, number: int) -> str:
        """The text that the code cells of a section print."""
        return convert.plain("\n".join(cell.text_output for cell in self.sections.get(number, [])))


MOST = 20  # findings of one rule in one notebook that are told
Remark = tuple[int | None, str, str]  # the cell, what was found, what to do


class Question(NamedTuple):
    """A remark of a rule that asserts others: the same mistake on weaker evidence, put to the author as a question."""

    cell: int | None
    found: str
    advice: str


@dataclass(frozen=True)
class Rule:
    """A rule: its code and level, its check, and what `checker explain` says about it.

    asks: what it asks and does not assert, in a sentence; "" for nothing, or for a rule that only asks.
    """

    code: str
    level: Level
    check: Callable[[Submission], Iterator[Remark]]
    why: str
    wrong: str
    right: str
    asks: str

    @property
    def name(self) -> str:
        return self.check.__name__.replace("_", " ")

    def findings(self, submission: Submission) -> Iterator[Finding]:
        for number, remark in enumerate(self.check(submission), 1):
            cell, found, advice = remark
            level = "question" if isinstance(remark, Question) else self.level
            if number > MOST:
                found, advice = "there are more places like these", "Begin with these."
            there = cell is not None and cell < len(submission.notebook.cells)
            place = submission.place(cell) if there else ""
            yield Finding(self.code, level, cell, one_line(found), printable(advice), place)
            if number > MOST:
                return


def rule(code: str, level: Level, *, why: str, wrong: str, right: str, asks: str = "") -> Callable[..., Rule]:
    """Make a rule of a function that yields remarks."""
    return lambda check: Rule(code, level, check, why, wrong, right, asks)
