"""The limits of the training of `game`: more numbers with one more guess, two digits, a lopsided split.

    1 to 15, four guesses    all 15 secrets, in training and in the measure, as the exact set of `game`; halving wins all
    two digits               ranges of 3 to 9 numbers from 10 to 99, a fifth of them held out by their hash
    a lopsided split         the ranges of `game`, a fifth of them held out by their hash, whatever their widths: narrow
                             ones for the most part, which are easier

The first is trained as the exact set, with as many games of each secret, the others as the ranges of `game`. The warm-up is
as long as that of the ranges, on games of the rows that are trained on.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.sweeps.game import OneRange, Ranges, before_and_after, played_at_random, taught
from benchmarks.sweeps.measuring import rounded
from shared.models import frozen_copy
from shared.tasks.game import DIGITS, WIDTHS, FindTheNumber, row_of
from shared.tasks.split import Split, split_of

HELD_OUT = 54  # rows that are measured at most, as many as `game` holds out
DOCUMENTS, WARM_UP_STEPS = 1200, 225


class FourGuesses(FindTheNumber):
    most_guesses = 4
    most_digits = 2


class TwoDigits(FindTheNumber):
    most_digits = 2


@dataclass(frozen=True)
class Limit:
    """A training, and the ranges (low, high) whose secrets it is trained and measured on."""

    setting: OneRange
    trained: Sequence[tuple[int, int]]
    held_out: Sequence[tuple[int, int]]


def by_hash(split: Split, numbers: range) -> list[tuple[int, int]]:
    """The ranges of `game`'s widths among these numbers that the hash of their name puts into a split."""
    every = [(low, low + width - 1) for width in WIDTHS for low in numbers if low + width - 1 in numbers]
    return [(low, high) for low, high in every if split_of(f"{low} to {high}") == split]


TWO_DIGITS = range(10, 100)
CONDITIONS = {
    "1 to 15, four guesses": Limit(
        OneRange(make=FourGuesses, prompts_per_step=15, max_new_tokens=24), [(1, 15)], [(1, 15)]
    ),
    "two digits": Limit(
        Ranges(make=TwoDigits, max_new_tokens=20), by_hash("train", TWO_DIGITS), by_hash("eval", TWO_DIGITS)
    ),
    "a lopsided split": Limit(Ranges(), by_hash("train", DIGITS), by_hash("eval", DIGITS)),
}


def rows_of(ranges: Sequence[tuple[int, int]]) -> list[dict]:
    """Every secret of these ranges, in an order drawn once."""
    rows = [row_of(low, high, secret) for low, high in ranges for secret in range(low, high + 1)]
    random.Random("limits of the game").shuffle(rows)
    return rows


def run(name: str, seed: int, steps: int | None = None) -> dict:
    """The share of games `won before` and `won after`, and of guesses that `agree before` and `agree after`; `consistent` is
    what guesses at random win that agree with all answers.
    """
    condition = CONDITIONS[name]
    setting = condition.setting
    rows, held_out = rows_of(condition.trained), rows_of(condition.held_out)[:HELD_OUT]
    documents = played_at_random(rows, setting.make, DOCUMENTS, seed)
    model = frozen_copy(taught(documents, WARM_UP_STEPS, seed)).requires_grad_(True)
    found = before_and_after(model, rows, held_out, setting, seed, steps or setting.steps)
    won = {f"won {when}": rounded(sum(found[when]) / len(held_out)) for when in ("before", "after")}
    agree = {name: found[name] for name in ("agree before", "agree after")}
    widths = [row["high"] - row["low"] + 1 for row in held_out]
    consistent = [secrets_found(width, setting.make.most_guesses) / width for width in widths]
    return won | agree | {"consistent": rounded(sum(consistent) / len(consistent))}


def secrets_found(count: int, guesses: int) -> float:
    """The number of `count` secrets that guesses at random find on average, where each agrees with all answers."""
    if count == 0 or guesses == 0:
        return 0.0
    sides = ((below, count - 1 - below) for below in range(count))  # numbers below a guess, and above it
    return sum(1 + sum(secrets_found(side, guesses - 1) for side in both) for both in sides) / count
