"""A class: its rules, its worked notebooks, who is in it, and how what was handed in is run."""

import hashlib
from dataclasses import dataclass

from checker.grading.box.walls import Isolation
from checker.grading.collect.roster import Roster, read_roster
from checker.grading.judge.one_notebook import Settings
from checker.grading.judge.worked_notebooks import WorkedNotebook, read_worked_notebooks
from checker.grading.table.class_folder import Folder
from checker.grading.table.rules import Rules, require_assigned, rules_of


@dataclass(frozen=True)
class Class:
    """A class, by the rules in its folder.

    worked_notebooks: the course's own, by which those of the students are graded.
    only_student: the one student whose files all of them are; "" where it has to be found out whose each file is.
    """

    worked_notebooks: list[WorkedNotebook]
    settings: Settings
    roster: Roster = Roster()
    rules: Rules = Rules()
    only_student: str = ""

    @property
    def needs_measuring(self) -> bool:
        """True where notebooks run whole, and class.yml leaves a limit to what the worked notebook takes."""
        return self.settings.whole and None in (self.rules.seconds, self.rules.megabytes)

    def pseudonym_of(self, student: str) -> str:
        """The name on a student's pages; in an anonymous class a hash, which tells nothing without the seed of the class.

        Two students with the same hash would share their pages. Among 300 students that has a chance of 1 in 96,000.
        """
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
