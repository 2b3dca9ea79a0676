"""Probes of a reward: cheap completions with which a policy might game it, tried before any policy does.

That such a completion is paid may be what the author wants, so it is no flaw: it is said, with the completion.
"""

import textwrap
from collections.abc import Callable, Sequence

from shared.exercises.own_task.asking import rewards_of
from shared.exercises.own_task.cases import Case
from shared.exercises.own_task.flaws import quoted

REPEATS = 10
WIDTH = 100  # of the lines in which it is said
NEAR = 1e-6


def warnings(function: Callable, cases: Sequence[Case]) -> dict[str, str]:
    """The warnings about a reward, each a name and a sentence."""
    rows = list({row["prompt"]: row for row, _, _ in cases}.values())
    highest = max(wanted for _, _, wanted in cases)
    good = [case for case in cases if case[2] == highest]
    distinct = list(dict.fromkeys(completion.strip() for _, completion, _ in good))
    at_once = " ".join(["", *distinct])
    # An author who lists such a case has thought of it, and needs no warning.
    thought_of = any(all(part in completion for part in distinct) for _, completion, _ in cases)
    found = {}
    if not thought_of and _earns_everywhere(function, rows, at_once, highest):
        found["pays for all at once"] = (
            f"Beware: {quoted(at_once)}, all your good completions at once, earns the most in every row. A policy may learn "
            "to say everything; if that is wrong, add it to your bad cases."
        )
    always = next((c for c in distinct if len(rows) > 1 and _earns_everywhere(function, rows, f" {c}", highest)), None)
    if always is not None:
        found["one for all"] = (
            f"Beware: {quoted(always)} earns the most in every row. A policy may learn to say this whatever the prompt; count "
            "different completions when you evaluate."
        )
    row, completion, _ = good[0]
    once = rewards_of(function, [row], [completion]).item()
    often = rewards_of(function, [row], [completion * REPEATS]).item()
    if often > once + NEAR:
        found["pays for repeating"] = (
            f"Beware: {quoted(completion)} said {REPEATS} times earns {often:g}, once {once:g}. A policy may learn to repeat "
            "itself; give the reward a most, or pay for different things only."
        )
    return {name: textwrap.fill(sentence, WIDTH, subsequent_indent="  ") for name, sentence in found.items()}


def _earns_everywhere(function: Callable, rows: Sequence[dict], completion: str, highest: float) -> bool:
    """True if a completion earns the most in every row."""
    return min(rewards_of(function, rows, [completion] * len(rows)).tolist()) >= highest - NEAR
