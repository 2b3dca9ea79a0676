"""Right ways to compare the first word of a completion."""

from shared.tasks import analogies


def ORACLE(prompts, completions, answers):
    return analogies.reward(prompts, completions, answers)
