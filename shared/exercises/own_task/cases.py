"""Good and bad cases: what the author of a reward is sure of, before the reward is written."""

from collections.abc import Callable, Sequence

from shared.exercises.calling import not_filled_in
from shared.exercises.judging import Verdict
from shared.exercises.own_task.flaws import Flaw, quoted, raised, verdict

NAME = "cases"
LEAST_GOOD = 2
LEAST_BAD = 4
LEAST_ROWS = 2

Case = tuple[dict, str, float]


def verdict_on_cases(function: Callable) -> Verdict:
    """The verdict on `f() -> [(row, completion, reward), ...]`. Never raises."""
    return verdict(NAME, lambda begun: judge_cases(function, begun), lambda number: "the call `f()`")


def judge_cases(function: Callable, begun: Callable[[int], None]) -> tuple[str, list[str]]:
    begun(0)
    cases = asked(function)
    require_cases(cases)
    highest = max(wanted for _, _, wanted in cases)
    good = [case for case in cases if case[2] == highest]
    bad = [case for case in cases if case[2] < highest]
    if len(good) < LEAST_GOOD or len(bad) < LEAST_BAD:
        raise Flaw(
            f"{len(good)} cases earn the most ({highest:g}) and {len(bad)} earn less. List at least {LEAST_GOOD} good and "
            f"{LEAST_BAD} bad ones: the bad ones are what a policy will try."
        )
    if len({row["prompt"] for row, _, _ in cases}) < LEAST_ROWS:
        raise Flaw(
            "all cases are about one prompt: a reward that knows one answer would pass. Take at least two rows, and let "
            "what is right for one be wrong for the other."
        )
    if all(completion.strip() for _, completion, _ in cases):
        raise Flaw("no case is the empty completion, which every model gives now and then. Say what it earns.")
    twice = _contradiction(cases)
    if twice:
        raise Flaw(twice)
    return f"{len(good)} good and {len(bad)} bad ones, for {len({c[0]['prompt'] for c in cases})} prompts.", []


def asked(cases: Callable | Sequence[Case]) -> list:
    """The list of cases, or what the function of them returns. Raises Flaw."""
    if not callable(cases):
        return list(cases)
    try:
        found = cases()
    except NotImplementedError as error:
        raise Flaw(f"{not_filled_in(error)}.") from error
    except Exception as error:
        raise Flaw(f"the function of the cases raised {raised(error)}.") from error
    if not isinstance(found, (list, tuple)):
        raise Flaw("the function of the cases returns no list. Is the `return` missing?")
    return list(found)


def require_cases(cases: Sequence) -> None:
    """Raises Flaw unless all are (row, completion, reward), and not all rewards alike."""
    for number, case in enumerate(cases, start=1):
        if not _is_case(case):
            raise Flaw(f"case {number} is not of the form (row, completion, reward).")
        if not isinstance(case[0].get("prompt"), str):
            raise Flaw(f"the row of case {number} has no 'prompt'. Take a row of your data set.")
        if case[0].keys() != cases[0][0].keys():
            raise Flaw(f"the row of case {number} has other columns than that of case 1. Take rows of your data set.")
    if len({wanted for _, _, wanted in cases}) < 2:
        raise Flaw("your cases are all alike. Give good completions and bad ones, with different rewards.")


def _is_case(case: object) -> bool:
    if not (isinstance(case, tuple) and len(case) == 3):
        return False
    row, completion, wanted = case
    return isinstance(row, dict) and isinstance(completion, str) and isinstance(wanted, (int, float))


def _contradiction(cases: Sequence[Case]) -> str:
    """The same row and completion with two rewards, in words; "" when there is none."""
    known = {}
    for row, completion, wanted in cases:
        key = (repr(row), completion)
        if known.setdefault(key, wanted) != wanted:
            return f"completion {quoted(completion)} earns {known[key]:g} in one case and {wanted:g} in another."
    return ""
