"""Check one notebook, or all that a path holds: the verdict and its findings."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from checker.outputs.check_results import asked
from checker.outputs.claims import LEARNS
from checker.reading import convert
from checker.reading.layout import SPECS
from checker.reading.notebook import RENAMED, Unreadable, read, read_bytes
from checker.reading.text import one_line, printable
from checker.rules import READING, RULES, Rule, Submission
from checker.rules.findings import Finding

SUBMITTED_TEXT = (".md", ".txt")


@dataclass(frozen=True)
class Report:
    """All that the checker has to say about one file.

    name: the file as it was asked for.     status: "pass", "fail" (a finding of level error) or "unreadable".
    characters: of the converted text.      baseline, tuned: the rewards that the outputs show, None where not
        found.
    checks_passed, checks: of the exercises' checks, those that say ✓, and all that the code asks for.
    outputs_cut, characters_cut: outputs that are not whole in the converted text, and how much of them is left out.
    claim, shows_its_claim: what the header declares, and whether the outputs show it.
    """

    name: str
    status: str
    findings: tuple[Finding, ...]
    characters: int = 0
    limit: int = convert.LIMIT
    sections_present: int = 0
    baseline: float | None = None
    tuned: float | None = None
    checks_passed: int = 0
    checks: int = 0
    outputs_cut: int = 0
    characters_cut: int = 0
    claim: str = LEARNS
    shows_its_claim: bool = False
    where_they_went: tuple[str, ...] = field(default=(), compare=False)

    def count(self, level: str) -> int:
        """The number of findings of a level."""
        return sum(finding.level == level for finding in self.findings)

    @property
    def facts(self) -> list[str]:
        """The report's figures, those that the notebook has, as they stand beside the verdict."""
        if self.status == "unreadable":
            return []
        told = [f"{self.characters:,} of {self.limit:,} characters"]
        if self.sections_present:
            told.append(f"{self.sections_present} of {len(SPECS)} cells")
        if self.checks:
            told.append(f"checks {self.checks_passed} of {self.checks}")
        if self.baseline is not None and self.tuned is not None:
            told.append(f"reward {self.baseline:.3f} to {self.tuned:.3f}")
        return told

    def as_dict(self) -> dict:
        return {
            "name": self.name,
            "status": self.status,
            "characters": self.characters,
            "limit": self.limit,
            "sections_present": self.sections_present,
            "baseline": self.baseline,
            "fine_tuned": self.tuned,
            "checks_passed": self.checks_passed,
            "checks": self.checks,
            "outputs_cut": self.outputs_cut,
            "characters_cut": self.characters_cut,
            "claim": self.claim,
            "shows_its_claim": self.shows_its_claim,
            "findings": [finding.as_dict() for finding in self.findings],
        }


def check(
    path: Path,
    *,
    name: str = "",
    ignore: Iterable[str] = (),
    max_output: int = convert.MAX_OUTPUT,
    rules: Iterable[Rule] = RULES,
    beside: bool = True,
) -> Report:
    """Check a notebook, or a submission that is already converted (.md, .txt), of which only the limit is
    checked.

    Raises nothing: a file that cannot be read gets the status "unreadable" and a finding that says why.
    """
    name = one_line(name or str(path))
    ignore = frozenset(ignore)
    try:
        if path.suffix.lower() in SUBMITTED_TEXT and not path.name.lower().endswith(RENAMED):
            return _check_text(path, name)
        notebook = read(path)
    except Unreadable as error:
        return unreadable(name, error)
    submission = Submission(notebook, max_output, beside)
    findings = tuple(f for rule in rules if rule.code not in ignore for f in _findings(rule, submission))
    baseline, tuned = submission.rewards
    return Report(
        name,
        "fail" if any(f.level == "error" for f in findings) else "pass",
        findings,
        len(submission.markdown),
        sections_present=sum(spec.number in submission.sections for spec in SPECS),
        baseline=baseline,
        tuned=tuned,
        checks_passed=sum(result.passed for result in submission.check_results),
        checks=asked(notebook),
        outputs_cut=sum(section.cut > 0 for section in submission.converted),
        characters_cut=sum(section.cut for section in submission.converted),
        claim=submission.claim,
        shows_its_claim=submission.shows_its_claim,
        where_they_went=tuple(_where(submission)) if any(f.code in ("L001", "L002") for f in findings) else (),
    )


def _findings(rule: Rule, submission: Submission) -> list[Finding]:
    """A rule's findings. A rule that fails says so, and takes neither other rules nor notebooks with it."""
    try:
        return list(rule.findings(submission))
    except Exception as error:  # whatever a stranger's notebook makes a rule raise
        found = f"this rule could not be applied ({type(error).__name__}: {error})"
        return [Finding(rule.code, "note", None, printable(found), "Tell those who look after the checker.")]


def unreadable(name: str, error: Unreadable) -> Report:
    """The report on a file that cannot be read."""
    return Report(
        one_line(name),
        "unreadable",
        (Finding(READING.code, READING.level, None, "the file cannot be read", str(error)),),
    )


def _where(submission: Submission) -> list[str]:
    from checker.rules.limit import bars

    return bars(submission)


def _check_text(path: Path, name: str) -> Report:
    try:
        text = read_bytes(path).decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise Unreadable("The file is not UTF-8 text. Save it again as UTF-8.") from error
    over = len(text) - convert.LIMIT
    findings = ()
    if over > 0:
        findings = (
            Finding(
                "L001",
                "error",
                None,
                f"{len(text):,} characters of {convert.LIMIT:,}, {over:,} too many",
                "Shorten it, or convert the notebook again with `checker convert`.",
            ),
        )
    return Report(name, "fail" if findings else "pass", findings, len(text))
