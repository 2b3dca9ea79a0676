"""Right ways to pay a label with its weight."""

import numpy as np

from shared.tasks import poker

ORACLE = poker.weighted_reward


def as_an_array(prompts, completions, answer, weight, **columns):
    said = [next(iter(completion.strip().splitlines()), "").strip().casefold() for completion in completions]
    return (np.array(said) == np.array(answer)) * np.array(weight)


RIGHT = [as_an_array]
EQUIVALENT = {
    "matches: return [line == label for line, label in zip(wanted, folded)]": "of two numbers or truths, in any order",
    "rewards: return [float(match) * number for match, number in zip(paid, matches)]": "of two numbers or truths, in any order",
    "lines: return [(text.splitlines() or [''])[0].strip() for text in texts]": "nobody is told whether an empty line "
    "before the first words is the first line",
}
