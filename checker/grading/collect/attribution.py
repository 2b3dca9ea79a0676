"""The owner of a file, by its place and the roster, or by a pattern. Nobody is guessed."""

import re
import unicodedata
from itertools import combinations
from pathlib import PurePath

from checker.grading.collect.platforms import Sender
from checker.grading.collect.roster import Roster
from checker.reading.notebook import Unreadable
from checker.reading.text import one_line

DOUBLE = re.compile(r"\s*\(\d+\)$|__\d+_$")  # what a browser adds to a second download, also as Canvas writes it
SMALL = re.compile(r"\d{1,2}")


class BadPattern(ValueError):
    """The pattern cannot be used; the message says why."""


def owner_of(place: PurePath, says: Sender, roster: Roster, asks: re.Pattern | None) -> str | Unreadable:
    """The student whose file it is, or the reason why that is not known."""
    names = says.names
    label = says.label
    if asks is not None:
        match = asks.search(place.as_posix())
        if match is None:
            return Unreadable(f"The pattern {asks.pattern!r} is not found in its place {place.as_posix()!r}.")
        names = (match["student"],)
        label = match["student"]
    if not roster.students:
        if names:
            return unicodedata.normalize("NFC", one_line(label))  # a Mac writes an é as two characters
        return Unreadable(
            "Its place does not tell whose it is. Put it into a folder with the student's name, or say in class.yml"
            r" which part of the place is the student, such as pattern: '(?P<student>\w+)_dots'."
        )
    looked_for = names or _parts(place)
    ids = roster.known(*looked_for)
    if len(ids) == 1:
        return next(iter(ids))
    known_as = " or ".join(map(repr, names)) or repr(place.as_posix())
    if ids:
        return Unreadable(
            f"{known_as} may be {' or '.join(sorted(ids))} on the roster. Say who with a pattern in class.yml."
        )
    if alike := roster.find(*looked_for):
        return Unreadable(
            f"{known_as} holds a part of a name only: it may be {' or '.join(sorted(alike))} on the roster, or somebody"
            " else. If you know who it is, add the name to the student's line, in a column of its own."
        )
    return Unreadable(
        f"{known_as} is not on the roster. Add the name to the student's line, or write a pattern into class.yml."
    )


def _parts(place: PurePath) -> list[str]:
    """The words of a file's name that may be a name on the roster, alone and with those that follow.

    "jane_doe_dots.ipynb" as "jane", "jane doe", "jane doe dots", "doe" and so on. A number of one or two digits counts
    something, and is nobody's.
    """
    words = [word for word in re.split(r"[_\s-]+", DOUBLE.sub("", place.stem)) if word]
    runs = [" ".join(words[begin:end]) for begin, end in combinations(range(len(words) + 1), 2)]
    return [run for run in runs if not SMALL.fullmatch(run)]


def compiled(pattern: str) -> re.Pattern | None:
    if not pattern:
        return None
    try:
        made = re.compile(pattern)
    except re.error as error:
        raise BadPattern(f"The pattern {pattern!r} is not a regular expression: {error}.") from error
    if "student" not in made.groupindex:
        raise BadPattern(f"The pattern {pattern!r} has no group named student: (?P<student>...).")
    return made
