"""A class: its rules, the keys of its notebooks, who is in it, and how what was handed in is run."""

import hashlib
from dataclasses import dataclass

from checker.grading.box.walls import Isolation
from checker.grading.collect.roster import Roster, read_roster
from checker.grading.judge.one_notebook import Settings
from checker.grading.judge.worked_notebooks import WorkedNotebook, read_worked_notebooks
from checker.grading.table.class_folder import Folder
from checker.grading.table.lateness import Lateness
from checker.grading.table.rules import Rules, require_assigned, rules_of


@dataclass(frozen=True)
class Class:
    """A class. worked_notebooks: those of the course.    only_student: the one who handed in everything; "" for a class."""

    worked_notebooks: list[WorkedNotebook]
    settings: Settings
    roster: Roster = Roster()
    rules: Rules = Rules()
    only_student: str = ""

    def lateness(self, student: str, days: int | None, late: bool) -> Lateness | None:
        """The late days of a student, and the rule; None without a rule. What the roster says goes before the platform.

        days: as the platform counts them; None where it does not count.    late: the platform says "late".

        With 1 free day by the rule: the platform counts 3 days, so 1 of 3 is free; where the roster says 0 days for this
        student, it is 0; where the platform says "late" and no number, `days` stays None: how late is not known.
        """
        rule = self.rules.late
        if rule is None:
            return None
        known = {one.id: one for one in self.roster.students}.get(student)
        if known is not None and known.days_late is not None:
            days = known.days_late
        if days is None and not late:
            days = 0
        free = known.free_days if known is not None and known.free_days is not None else rule.free
        return Lateness(rule, days, free)

    def pseudonym_of(self, student: str) -> str:
        """The name under which a student's pages go."""
        if not self.rules.anonymous:
            return student
        return "student-" + hashlib.sha256(f"{self.settings.seed} {student}".encode()).hexdigest()[:8]


def class_of(folder: Folder, isolation: Isolation, only_student: str = "") -> Class:
    """The class whose folder this is, by the rules in it.

    Raises:
        Unreadable: the rules cannot be used, or name a notebook or a class list that there is not.
    """
    rules = rules_of(folder)
    worked_notebooks = read_worked_notebooks(rules.worked)
    require_assigned(rules, worked_notebooks)
    roster = read_roster(rules.roster) if rules.roster else Roster()
    return Class(worked_notebooks, Settings(rules.seed, isolation, rules.whole), roster, rules, only_student)
