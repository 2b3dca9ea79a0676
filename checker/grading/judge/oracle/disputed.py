"""The hidden cases in which a student's function was wrong, in words for the instructor.

    python -m checker.grading.judge.oracle.disputed SEED

It reads {"check": "kl", "outcomes": [...]} from stdin, as the answer key is asked, and writes a list as JSON: of each
case its number, its arguments, what the function gave and what is right. No student's code runs here.
"""

import json
import os
import sys

from checker.grading.judge.oracle import key

LONGEST = 4_000  # characters of one argument, or of one value


def main() -> None:
    asked = json.load(sys.stdin)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a library prints is no answer
    json.dump(disputed(asked["check"], asked["outcomes"], int(sys.argv[1])), answers)
    answers.flush()


def disputed(check: str, outcomes: list, seed: int) -> list[dict]:
    """Return the cases in which a function was wrong, or gave nothing; [] for a check without a reference."""
    if not key.has_reference(check):
        return []
    found = key.outcomes_of(check, outcomes, seed)
    by_case = {id(one.case): one for one in key.compared(check, found, seed).trial.comparisons}
    failed = []
    for number, (case, *_) in enumerate(key.hidden(check, seed)):
        comparison = by_case.get(id(case))
        if comparison is not None and not comparison.difference:
            continue
        right = key.expected_outcome(check, seed, number, 0)
        given = "no answer" if comparison is None else _told(comparison.actual)
        arguments = [[name, _in_full(value)] for name, value in case.items()]
        failed.append({"case": number + 1, "arguments": arguments, "given": given, "right": _told(right)})
    return failed


def _told(outcome) -> str:
    """The outcome of a call in words: its error, or its value and what else there is to say."""
    if outcome.raised:
        return f"{outcome.raised}{outcome.where}"
    parts = [_in_full(outcome.value)]
    if outcome.gradient is not None:
        parts.append(f"gradient {_in_full(outcome.gradient)}")
    parts += [said for said in (outcome.harm, outcome.complaint) if said]
    return "; ".join(parts)


def _in_full(value) -> str:
    """A value with all of its numbers, as many as a person can read."""
    text = _numbers(value.tolist()) if hasattr(value, "tolist") else repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ... ({len(text) - LONGEST:,} more characters)"


def _numbers(value) -> str:
    """Numbers in lists, each with the digits that a float of the course has."""
    if isinstance(value, list):
        return f"[{', '.join(map(_numbers, value))}]"
    return f"{value + 0.0:.7g}" if isinstance(value, float) else repr(value)  # never "-0"


if __name__ == "__main__":
    main()
