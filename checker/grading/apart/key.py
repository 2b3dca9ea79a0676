"""The side that knows what is right: draws hidden cases, and judges the values that functions gave. Never in a box.

    python -m checker.grading.apart.key SEED

Runs beside the boxes and may import torch. Answers requests, a JSON line each, until stdin ends:

    {"cases": ["kl", "loss"]}                   the cases of these checks, pickled for the box, and the modules they need
    {"judge": "kl", "outcomes": [...]}          the verdict on what came back, one outcome for each case, null for none
"""

import base64
import json
import os
import pickletools
import sys
import time
import traceback
from functools import cache
from types import ModuleType

import cloudpickle

from checker.grading.apart import exchange
from checker.grading.apart.partial import NO_ANSWER, by_one_answer, counted, share

TIME_TO_RECOGNISE = 2.0  # seconds for the known slips
PROJECT = "shared"


def main() -> None:
    seed = int(sys.argv[1])
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a library prints is no answer
    for line in sys.stdin:
        try:
            answer = _answer(json.loads(line), seed)
        except Exception:  # one submission's values must not end the judge of all
            answer = {"error": traceback.format_exc()}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _answer(request: dict, seed: int) -> dict:
    if "cases" in request:
        return cases(request["cases"], seed)
    return judged(request["judge"], request["outcomes"], seed)


def exercise(check: str):
    """What a check of `shared/check.py` is about: an exercise, or any task; None for what grading does not ask."""
    from shared.check import EXERCISES
    from shared.exercises.own_task.graded import BY_CHECK

    return EXERCISES.get(check) or BY_CHECK.get(check)


def has_reference(check: str) -> bool:
    """Whether it is known what is right; of a task of a student's own it is not."""
    return hasattr(exercise(check), "reference")


@cache
def hidden(check: str, seed: int) -> list[tuple[dict, dict | None, dict | None]]:
    """The cases of a check, each with two near by where a gradient is compared: at a tie a gradient is anyone's."""
    from checker.grading.apart.larger import larger_cases
    from shared.exercises.comparing import near_by

    of = exercise(check)
    drawn = [*of.cases(seed), *(larger_cases(of, seed) if has_reference(check) else ())]
    return [(case, *(near_by(case) if of.gradient else (None, None))) for case in drawn]


def asked_cases(check: str, seed: int) -> list[dict]:
    """All cases that the function is called on, in order: each, and those near it."""
    return [case for several in hidden(check, seed) for case in several if case is not None]


def cases(checks: list[str], seed: int) -> dict:
    """What the box needs to call functions: {"known": those with cases, "pickled": base64, "modules", "free"}.

    "free" are those without a reference, which are about a student's own task.
    """
    known = [check for check in checks if exercise(check) is not None]
    asked = {}
    for check in known:
        of = exercise(check)
        _by_value(of.call)
        asked[check] = {
            "cases": asked_cases(check, seed),
            "call": of.call,
            "result": of.result,
            "gradient": of.gradient,
            "relevant": of.relevant,
        }
    pickled = cloudpickle.dumps(asked)
    return {
        "known": known,
        "pickled": base64.b64encode(pickled).decode(),
        "modules": sorted(modules(pickled)),
        "free": [check for check in known if not has_reference(check)],
    }


def _by_value(function) -> None:
    """Have a function of the catalogue travel as its code: the catalogue itself, with the references, stays here."""
    module = sys.modules.get(getattr(function, "__module__", ""))
    if isinstance(module, ModuleType) and module.__name__.startswith(f"{PROJECT}.exercises.catalogue"):
        cloudpickle.register_pickle_by_value(module)


def modules(pickled: bytes) -> set[str]:
    """The project's modules that a pickle names."""
    texts = {argument for _, argument, _ in pickletools.genops(pickled) if isinstance(argument, str)}
    names = {text.split(" ")[0] for text in texts}
    return {name for name in names if name.startswith(f"{PROJECT}.") and name in sys.modules}


def judged(check: str, outcomes: list, seed: int) -> dict:
    """{"passed", "text", "cases", "right", "share", "finding"} of what a function gave. share: of the points, 0 to 1."""
    from checker.grading.apart.regardless import Tried, regardless
    from shared.exercises.comparing import WAYS, difference
    from shared.exercises.recognition import recognised
    from shared.exercises.wording import told

    of = exercise(check)
    found = [None if record is None else exchange.decoded(record) for record in outcomes]
    if not has_reference(check):
        return judged_without_reference(found)
    place = 0
    failures = []
    seen = []
    for number, several in enumerate(hidden(check, seed)):
        asked = [case for case in several if case is not None]
        given = found[place : place + len(asked)]
        place += len(asked)
        if not given or given[0] is None:
            continue
        expected = [expected_outcome(check, seed, number, which) for which in range(len(given))]
        if given[0].blank:
            return _verdict(False, given[0].raised or "it is not filled in yet.", number, 0, 0.0)
        ways = [
            difference(one, right, of.tolerance) if one is not None else "raised" for one, right in zip(given, expected)
        ]
        is_right = not ways[0] or (ways[0] == "gradient" and "" in ways[1:])
        seen.append(Tried(given[0], expected[0], is_right))
        if not is_right:
            failures.append((WAYS.index(ways[0]), number, ways[0], asked[0], given[0], expected[0]))
    total = len(hidden(check, seed))
    right = len(seen) - len(failures)
    free = free_cases(check, seed)
    part = share(right, total, free)
    if not failures and right == total:
        return _verdict(True, f"right in all {total} hidden cases.", total, right, 1.0)
    ways = [failure[2] for failure in failures] + [NO_ANSWER] * (total - len(seen))
    count = counted(ways, total, free)
    if not failures:
        return _verdict(False, f"it gave {len(seen)} of {total} answers.\n{count}", total, right, part)
    _, _, way, case, one, expected_one = min(failures, key=lambda failure: failure[:2])
    end = time.monotonic() + TIME_TO_RECOGNISE
    wrong = [(failure[3], failure[4]) for failure in failures]
    slips = ()
    if way not in ("harm", "type"):
        slips = recognised(of, [c for c, _ in wrong], [o for _, o in wrong], lambda: time.monotonic() < end)
    said = regardless(seen)
    text = "\n".join(filter(None, (told(of, way, slips, case, one, expected_one), count, said)))
    return _verdict(False, text, total, right, part, bool(said))


def judged_without_reference(found: list) -> dict:
    """As `judged`, of a part of a student's own task: what was said of it, "" for nothing."""
    outcome = found[0] if found else None
    if outcome is None:
        return _verdict(False, "it gave no answer.", 1, 0, 0.0)
    said = outcome.raised or outcome.harm or outcome.complaint or outcome.value
    text = str(said) if said else "well made, as far as can be told of any task."
    return _verdict(not said, text, 1, int(not said), float(not said))


def _verdict(passed: bool, text: str, cases: int, right: int, share: float, finding: bool = False) -> dict:
    return {"passed": passed, "text": text, "cases": cases, "right": right, "share": share, "finding": finding}


@cache
def free_cases(check: str, seed: int) -> int:
    """How many cases count for nobody, since one answer alone would be right in them."""
    return by_one_answer(expected_outcome(check, seed, number, 0).value for number in range(len(hidden(check, seed))))


@cache
def expected_outcome(check: str, seed: int, number: int, which: int):
    """What the reference gives in a case, or in one near it."""
    from shared.exercises.calling import call

    of = exercise(check)
    return call(of, of.reference(), hidden(check, seed)[number][which])


if __name__ == "__main__":
    main()
