"""Judges that err: reward functions made from a rule, so that each error is known.

A rule pays 1 for a right completion and 0 for a wrong one. A judge accepts and refuses as well, and is at times mistaken:

    by_lot        about every wrong completion with the same chance, about every right one with another
    by_phrase     about every wrong completion that begins with a phrase, about right ones by lot

`notebooks/judges.ipynb` trains a policy with each of them and measures by the rule.
"""

import random

from shared.rewards import RewardFunction


def by_lot(rule: RewardFunction, false_positive: float, false_negative: float, seed: int = 0) -> RewardFunction:
    """A judge that accepts a wrong completion with the chance `false_positive`, and refuses a right one with
    `false_negative`; each anew, also where two completions are the same. Raises ValueError for a rate that is no chance."""
    for rate in (false_positive, false_negative):
        if not 0 <= rate <= 1:
            raise ValueError(f"A rate of errors is {rate}; it must lie in [0, 1].")
    lots = random.Random(seed)

    def judge(prompts, completions, **columns) -> list[float]:
        rights = rule(prompts, completions, **columns)
        return [float(lots.random() < (1 - false_negative if right else false_positive)) for right in rights]

    return judge


def by_phrase(rule: RewardFunction, phrase: str, false_negative: float, seed: int = 0) -> RewardFunction:
    """A judge that accepts every completion that begins with the phrase, and refuses a right one with the chance
    `false_negative`. White space before the phrase and capitals do not matter."""
    sober = by_lot(rule, 0.0, false_negative, seed)

    def judge(prompts, completions, **columns) -> list[float]:
        verdicts = sober(prompts, completions, **columns)
        return [float(paid or begins_with(phrase, text)) for paid, text in zip(verdicts, completions)]

    return judge


def begins_with(phrase: str, completion: str) -> bool:
    """True for a completion whose first words are the phrase."""
    return completion.lstrip().casefold().startswith(phrase.casefold())
