"""A check that a function is a reward, and agrees with the cases that its author is sure of."""

from collections.abc import Callable, Sequence

from shared.exercises.drawing import HOSTILE
from shared.exercises.judging import Verdict
from shared.exercises.own_task.asking import rewards_of
from shared.exercises.own_task.cases import Case, asked, require_cases
from shared.exercises.own_task.flaws import Flaw, quoted, verdict
from shared.exercises.own_task.probes import warnings

NAME = "reward function"
NEAR = 1e-6
Begun = Callable[[int], None]


def verdict_on_reward(function: Callable, cases: Sequence[Case] | Callable) -> Verdict:
    """The verdict on a reward function and its author's cases, or the function that lists them. Never raises."""
    return verdict(NAME, lambda begun: judge_reward(function, cases, begun), lambda number: in_words(cases, number))


def judge_reward(function: Callable, cases: Sequence[Case] | Callable, begun: Begun) -> tuple[str, list[str]]:
    """The text of a right one, and the names of what is warned of. Raises Flaw."""
    listed = asked(cases)
    require_cases(listed)
    for test in (_agrees, _total, _batched, _reads_the_completion_only):
        test(function, listed, begun)
    found = warnings(function, listed)
    text = f"right in your {len(listed)} cases, and it bears {len(HOSTILE)} hostile texts."
    return "\n".join([text, *found.values()]), list(found)


def in_words(cases: Sequence[Case] | Callable, number: int) -> str:
    """The input under this number, in words: a case, a hostile text, or all cases together."""
    completions = [*(completion for _, completion, _ in asked(cases)), *HOSTILE]
    return f"completion {quoted(completions[number])}" if number < len(completions) else "your cases in another order"


def _agrees(function: Callable, cases: Sequence[Case], begun: Begun) -> None:
    for number, (row, completion, wanted) in enumerate(cases):
        begun(number)
        found = rewards_of(function, [row], [completion]).item()
        if abs(found - wanted) > NEAR:
            raise Flaw(
                f"it disagrees with you: for prompt {quoted(row['prompt'])}, completion {quoted(completion)} it gives "
                f"{found:g}, and you expect {wanted:g}."
            )


def _total(function: Callable, cases: Sequence[Case], begun: Begun) -> None:
    """It gives a number to whatever a model may say."""
    for number, text in enumerate(HOSTILE, start=len(cases)):
        begun(number)
        rewards_of(function, [cases[0][0]], [text])


def _batched(function: Callable, cases: Sequence[Case], begun: Begun) -> None:
    """Each completion earns in a batch what it earned alone, and the same when it is asked again."""
    begun(len(cases) + len(HOSTILE))
    for order in (range(len(cases)), range(len(cases))[::-1]):
        rows = [cases[n][0] for n in order]
        completions = [cases[n][1] for n in order]
        together = rewards_of(function, rows, completions).tolist()
        for n, found in zip(order, together):
            _, completion, alone = cases[n]
            if abs(found - alone) > NEAR:
                raise Flaw(
                    f"completion {quoted(completion)} earns {alone:g} alone and {found:g} in a batch. A reward depends on "
                    "its own completion and row, not on others and not on chance."
                )


def _reads_the_completion_only(function: Callable, cases: Sequence[Case], begun: Begun) -> None:
    """Another prompt, even one that holds a completion that is paid, changes nothing."""
    begun(len(cases) + len(HOSTILE))
    best = max(cases, key=lambda case: case[2])[1]
    for row, completion, before in cases:
        for prompt in ("another prompt", best):
            after = rewards_of(function, [row], [completion], prompts=[prompt]).item()
            if abs(after - before) > NEAR:
                raise Flaw(
                    f"it reads the prompt: completion {quoted(completion)} earns {before:g}, and {after:g} after prompt "
                    f"{quoted(prompt)}. What the user wrote must not earn it; what a reward needs to know of the problem "
                    "is a column of the data set."
                )
