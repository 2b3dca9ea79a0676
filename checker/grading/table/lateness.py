"""Late days: so many are free, and each further one takes points off."""

from dataclasses import dataclass

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
