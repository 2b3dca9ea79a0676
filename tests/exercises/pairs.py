"""Pairs of slips: whether a verdict names the two, or others that come to the same."""

from dataclasses import replace

from shared.exercises.comparing import compare
from shared.exercises.exercise import Exercise
from shared.exercises.judging import MOST_OFFERED, always_the_same, slips_in, try_cases
from shared.exercises.recognition import find_explanations
from shared.exercises.steps import Slip, Steps

Pair = tuple[Slip, Slip]


def pairs_of(exercise: Exercise) -> list[Pair]:
    return [slips for slips in exercise.steps.combinations() if len(slips) == 2]


def pairs_that_pass(exercise: Exercise, pairs: list[Pair], untold: dict[tuple[str, str], str]) -> list[tuple[str, str]]:
    """The names of the pairs that no case tells from the reference; `untold` are left out."""
    cases = exercise.cases()
    tried = [(one, other) for one, other in pairs if (one.name, other.name) not in untold]
    return [
        (one.name, other.name)
        for one, other in tried
        if not any(compare(exercise, exercise.reference((one, other)), case).difference for case in cases)
    ]


def pairs_not_told(exercise: Exercise, pairs: list[Pair], untold: dict[tuple[str, str], str]) -> dict:
    """The reason for each pair that is neither named nor told apart, by its two names; `untold` are left out."""
    failing = {}
    for one, other in pairs:
        names = (one.name, other.name)
        if names in untold:
            continue
        why = why_not_told(exercise, (one, other))
        if why:
            failing[names] = why
    return failing


def why_not_told(exercise: Exercise, pair: Pair) -> str:
    """The fault of the verdict on a pair: "" when it is named, when all is the same, or when none is named as three fit.

    Slips that a verdict offers explain every outcome. So whatever else it offers comes to the same as the pair, and only
    the pair and its two slips are tried as explanations, as long as they are found.
    """
    trial = try_cases(exercise, exercise.reference(pair), time_left=lambda: True)
    if not trial.failures:
        return "passes"
    of_the_pair = replace(exercise, steps=Steps(exercise.steps.steps, list(pair)))
    if slips_in(of_the_pair, trial, time_left=lambda: True) or always_the_same(exercise, trial):
        return ""
    told = [comparison.case for comparison in trial.comparisons], [one.actual for one in trial.comparisons]
    fitting = find_explanations(exercise, *told, time_left=lambda: True)
    return "" if len(fitting) > MOST_OFFERED else "is not recognised"  # of three that fit none is named
