"""Right votes."""

from collections import Counter
from statistics import mode

from shared.selection import vote

ORACLE = vote


def most_common(answers):
    """`Counter.most_common` keeps the order of the first votes among equals."""
    found = Counter(filter(None, answers)).most_common(1)
    return found[0][0] if found else ""


def counted_in_place(answers):
    cast = [answer for answer in answers if answer != ""]
    return max(cast, key=cast.count) if cast else ""


def by_the_library(answers):
    return mode([answer for answer in answers if answer] or [""])


def looped(answers):
    votes = {}
    for answer in answers:
        if answer:
            votes[answer] = votes.get(answer, 0) + 1
    best, most = "", 0
    for answer in votes:
        if votes[answer] > most:
            best, most = answer, votes[answer]
    return best


RIGHT = [most_common, counted_in_place, by_the_library, looped]
