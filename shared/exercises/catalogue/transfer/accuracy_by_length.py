"""Accuracy by length: `accuracy_by_length(lengths, rewards, z) -> {length: (share, low, high)}`, Wilson's intervals."""

import math
from itertools import groupby

import torch

from shared.exercises.arguments import Numbers, Scalar, Things
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import NotAResult, TensorOf, named, no_tensors
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def groups(lengths, rewards):
    return {length: [r for other, r in zip(lengths, rewards.tolist()) if other == length] for length in lengths}


@STEPS.step
def shares(groups):
    return {length: sum(values) / len(values) for length, values in groups.items()}


@STEPS.step
def counts(groups):
    return {length: len(values) for length, values in groups.items()}


@STEPS.step
def centres(shares, counts, z):
    return {length: (p + z * z / (2 * counts[length])) / (1 + z * z / counts[length]) for length, p in shares.items()}


@STEPS.step
def halves(shares, counts, z):
    found = {}
    for length, p in shares.items():
        n = counts[length]
        found[length] = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return found


@STEPS.step
def table(shares, centres, halves):
    return {
        length: (p, centres[length] - halves[length], centres[length] + halves[length]) for length, p in shares.items()
    }


@STEPS.slip(
    "centres",
    "The interval lies around the share itself. Wilson's lies around (p + z²/2n) / (1 + z²/n), which is nearer to a half.",
)
def around_the_share(shares):
    return shares


@STEPS.slip("centres", "The middle is not divided by 1 + z²/n.")
def centre_undivided(shares, counts, z):
    return {length: p + z * z / (2 * counts[length]) for length, p in shares.items()}


@STEPS.slip(
    "halves",
    "The width is z √(p(1-p)/n), the normal approximation's: at a share of 0 or 1 it is 0, as if 3 right of 3 proved "
    "that all are.",
)
def width_of_the_normal(shares, counts, z):
    return {length: z * math.sqrt(p * (1 - p) / counts[length]) for length, p in shares.items()}


@STEPS.slip("halves", "The width is not divided by 1 + z²/n.")
def width_undivided(halves, counts, z):
    return {length: half * (1 + z * z / counts[length]) for length, half in halves.items()}


@STEPS.slip("halves", "Below the root it is z²/(4n²), the square of n as well.")
def square_forgotten(shares, counts, z):
    found = {}
    for length, p in shares.items():
        n = counts[length]
        found[length] = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n)) / (1 + z * z / n)
    return found


@STEPS.slip("z", "z is written down as 1.96. Take the argument: another confidence has another z.")
def usual_z():
    return 1.96


@STEPS.slip(
    "counts",
    "n is the number of all rows. The interval of a length is about the rows of that length; with all of them it comes "
    "out far too narrow.",
)
def all_rows(groups):
    total = sum(len(values) for values in groups.values())
    return dict.fromkeys(groups, total)


@STEPS.slip(
    "shares", "You return how many are right. A share is asked for: divide by how many there are of that length."
)
def numbers_right(groups):
    return {length: float(sum(values)) for length, values in groups.items()}


@STEPS.slip("shares", "All lengths get the share of all rows: take only the rewards of each length's own rows.")
def one_share_for_all(groups):
    values = [value for group in groups.values() for value in group]
    return {length: sum(values) / len(values) for length in groups}


@STEPS.slip("table", "You return (low, high, share). The order is (share, low, high).")
def share_last(table):
    return {length: (low, high, p) for length, (p, low, high) in table.items()}


def call(function, case: Case):
    """(4, L): the lengths, the shortest first, and a row for each of their three numbers."""
    found = function(*case.values())
    if not isinstance(found, dict):
        raise NotAResult(f"it returns {named(found)}; return a dict from each length to (share, low, high).")
    no_tensors(found)
    if {*map(str, found)} != {*map(str, case["lengths"])}:
        raise NotAResult(
            f"its dict has the lengths {[*found][:5]}; those of the rows are {sorted(set(case['lengths']))[:5]}."
        )
    rows = []
    for length in sorted(found):
        triple = found[length]
        if not isinstance(triple, tuple | list) or len(triple) != 3:
            raise NotAResult(f"for length {length} it has {named(triple)}; give the three numbers (share, low, high).")
        rows.append([float(length), *(float(number) for number in triple)])
    return torch.tensor(rows).view(-1, 4).T


@STEPS.slip(
    "groups",
    "Only neighbours are put together, and of a length that comes back its last stretch alone is left: `groupby` wants "
    "sorted rows.",
)
def last_stretch_only(lengths, rewards):
    pairs = zip(lengths, rewards.tolist())
    return {length: [reward for _, reward in run] for length, run in groupby(pairs, key=lambda pair: pair[0])}


@STEPS.slip("centres", "In the middle it is z² / 2n: the 2 is missing.")
def two_missing(shares, counts, z):
    return {length: (p + z * z / counts[length]) / (1 + z * z / counts[length]) for length, p in shares.items()}


@STEPS.slip("halves", "Below the root z²/4n² is missing: at a share of 0 or 1 the interval has no width.")
def term_missing(shares, counts, z):
    return {
        length: z * math.sqrt(p * (1 - p) / counts[length]) / (1 + z * z / counts[length])
        for length, p in shares.items()
    }


@STEPS.slip("halves", "The root is missing.")
def root_missing(shares, counts, z):
    found = {}
    for length, p in shares.items():
        n = counts[length]
        found[length] = z * (p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return found


@STEPS.slip("halves", "Below the root z is not squared: it is z²/4n².")
def z_not_squared(shares, counts, z):
    found = {}
    for length, p in shares.items():
        n = counts[length]
        found[length] = z * math.sqrt(p * (1 - p) / n + z / (4 * n * n)) / (1 + z * z / n)
    return found


@STEPS.slip("halves", "The root is not multiplied by z.")
def z_missing(halves, z):
    return {length: half / z for length, half in halves.items()}


@STEPS.slip("counts", "n is the number of lengths. The interval of a length is about the rows of that length.")
def number_of_lengths(groups):
    return dict.fromkeys(groups, len(groups))


@STEPS.slip("table", "The interval's ends are exchanged: low comes before high.")
def ends_exchanged(table):
    return {length: (p, high, low) for length, (p, low, high) in table.items()}


@STEPS.slip("table", "In place of the share stands the interval's middle. The share itself is asked for.")
def middle_for_share(table, centres):
    return {length: (centres[length], low, high) for length, (_, low, high) in table.items()}


@STEPS.slip("halves", "Below the root 1.96 is written down in the place of `z`.")
def usual_z_below_the_root(shares, counts, z):
    found = {}
    for length, p in shares.items():
        n = counts[length]
        found[length] = z * math.sqrt(p * (1 - p) / n + 1.96**2 / (4 * n * n)) / (1 + z * z / n)
    return found


def draw(draw: Draw) -> Case:
    B = draw.size(8)
    rewards = torch.tensor([float(draw.random() < 0.6) for _ in range(B)])
    first = draw.choice([1, 4, 13])
    lengths = [draw.randrange(first, 4 * first) for _ in range(B)]
    return {"lengths": lengths, "rewards": rewards, "z": draw.choice([1.0, 1.645, 1.96, 2.576])}


def boundary() -> list[Case]:
    return [
        {"lengths": [4], "rewards": torch.tensor([1.0]), "z": 1.96},
        {"lengths": [4, 4], "rewards": torch.tensor([1.0, 0.0]), "z": 1.0},
        {"lengths": [10, 4, 10], "rewards": torch.tensor([0.0, 1.0, 0.0]), "z": 1.96},
        {"lengths": [5, 5, 5, 6], "rewards": torch.tensor([1.0, 1.0, 0.0, 1.0]), "z": 1.645},
    ]


EXERCISE = Exercise(
    name="accuracy by length",
    function="accuracy_by_length",
    contract="`f(lengths, rewards (B,), z) -> {length: (share, low, high)}`, Wilson's interval of each length's rows.",
    steps=STEPS,
    arguments={
        "lengths": Things("B"),
        "rewards": Numbers("B", least=0.0, most=1.0),
        "z": Scalar(usual=1.96, simple=(1.0,), most=3.0),
    },
    result=TensorOf("E L", names=("length", "share", "low", "high")),
    draw=draw,
    boundary=boundary,
    valid=lambda case: bool(((case["rewards"] == 0) | (case["rewards"] == 1)).all()) and case["z"] > 0,
    call=call,
)
