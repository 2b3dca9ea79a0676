"""Late days: so many are free, and each further one takes points off."""

from dataclasses import dataclass

from checker.grading.collect.roster import Roster, Student
from checker.points.totals import shown
from checker.reading.notebook import Unreadable


@dataclass(frozen=True)
class LateRule:
    """A rule for late days. free: those that cost nothing. off: what each further one takes, in points or in per cent."""

    free: int
    off: float
    percent: bool = False

    def __str__(self) -> str:
        """ "each late day takes 10%, 2 are free"."""
        return f"each late day takes {shown(self.off)}{'%' if self.percent else ' points'}, {self.free} are free"


@dataclass(frozen=True)
class Lateness:
    """The late days of a student, and the rule for them. days: begun ones after the due date; None where that is not known.

    free: days that cost this student nothing, by the rule or by the roster.
    """

    rule: LateRule
    days: int | None
    free: int

    def taken(self, points: float) -> float:
        """The part of some points that is taken off: never more than there is."""
        further = max((self.days or 0) - self.free, 0)
        each = self.rule.off * points / 100 if self.rule.percent else self.rule.off
        return round(min(each * further, max(points, 0.0)), 2)

    def __str__(self) -> str:
        """ "3 days late, 1 of them free"."""
        days = self.days or 0
        return f"{shown(days)} day{'s' if days != 1 else ''} late, {shown(min(self.free, days))} of them free"


def late_rule(free: int, off: str) -> LateRule | None:
    """The rule of a class: off is "2" points or "10%"; None where there is none.

    Raises:
        Unreadable: the one or the other is no such number.
    """
    if not off:
        if free:
            raise Unreadable("`free days` needs `late off`: how much does each further day take, such as 2 or 10%?")
        return None
    try:
        number = float(off.removesuffix("%").replace(",", "."))
    except ValueError:
        number = -1.0
    percent = off.endswith("%")
    if not 0 <= number < (101 if percent else float("inf")) or free < 0:
        raise Unreadable(
            f"late off is {off}, free days are {free}: give points or per cent for a day, such as 2 or 10%."
        )
    return LateRule(free, number, percent)


def lateness_of(student: str, days: int | None, late: bool, rule: LateRule | None, roster: Roster) -> Lateness | None:
    """The late days of a student, and the rule for them; None without a rule. The roster goes before the platform.

    days: as the platform counts them, if it does.    late: true where the platform says "late".

    For instance where the rule gives 1 free day:

        the platform    the roster     days         free
        3 days          nothing        3            1
        3 days          0 days late    0            1
        3 days          2 free days    3            2
        "late"          nothing        not known    1
    """
    if rule is None:
        return None
    known = next((one for one in roster.students if one.id == student), Student(student, ()))
    if known.days_late is not None:
        days = known.days_late
    elif days is None and not late:
        days = 0
    return Lateness(rule, days, rule.free if known.free_days is None else known.free_days)
