"""Matching a completion with its answer, as the rewards of several tasks do."""


def exact_match(prompts, completions, answer, **columns) -> list[float]:
    """1.0 where the stripped, case-folded first line of the completion is the answer, else 0.0."""
    return [float(first_line(c) == str(a).strip().casefold()) for c, a in zip(completions, answer)]


def first_line(completion: str) -> str:
    """The first line that is not blank, stripped and case-folded; "" when there is none."""
    return next((line.strip().casefold() for line in completion.splitlines() if line.strip()), "")
