"""The strength and the speed of the checks: `.venv/bin/python -m benchmarks.checks`, or with names of exercises.

Four things are measured of each exercise (`--only` chooses some of them):

- verdicts: the time of a verdict on the reference and on each of its slips, in the process that asks (a child costs about
  0.1 s more); which slips are not named; how many numbers and texts a verdict shows of the smallest case;
- right: whether right functions in other styles pass;
- pairs: which pairs of slips pass, and which of `--pairs` of them get a verdict that names neither them nor others that
  do the same in every case;
- mutants: which wrong versions of the reference the cases of each of `--seeds` seeds accept.

What is measured is kept in `checks.json`, so that one exercise can be measured again, and `checks.md` tells what all of
them come to. `--hostile` measures how long a verdict takes on functions that loop, leave, crash or print a megabyte.
"""

import argparse
import importlib
import json
import random
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from types import ModuleType

import torch

from benchmarks.checks_report import report
from shared.exercises.catalogue import EXERCISES, PLACES
from shared.exercises.exercise import Case, Exercise
from shared.exercises.judging import Explanation, explain
from shared.exercises.process import verdict_on
from tests.exercises.mutants import accepted, mutants_of
from tests.exercises.pairs import pairs_not_told, pairs_of, pairs_that_pass

MEASURED = Path(__file__).with_suffix(".json")
REPORT = Path(__file__).with_suffix(".md")


def timed(exercise: Exercise, function: Callable) -> tuple[float, Explanation | None]:
    """The seconds of the processor that a verdict takes, and what it tells."""
    start = time.process_time()
    told = explain(exercise, function)
    return round(time.process_time() - start, 3), told


def leaves(value) -> Iterator:
    """The values that stand in lists and dicts within each other."""
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, (list, tuple)):
        yield value
        return
    for item in value:
        yield from leaves(item)


def to_read(exercise: Exercise, case: Case) -> tuple[int, int]:
    """The number of numbers and texts that a verdict shows of a case, and of characters in these texts."""
    things = 0
    characters = 0
    for name, kind in exercise.arguments.items():
        value = case[name]
        if kind.is_plain(value):
            continue
        if kind.in_words(value):
            things += kind.amount(value)
            continue
        found = list(leaves(value))
        texts = [leaf for leaf in found if isinstance(leaf, str)]
        things += sum(1 if isinstance(leaf, (str, int, float)) else kind.amount(leaf) for leaf in found)
        characters += sum(map(len, texts))
    return things, characters


def of_verdicts(exercise: Exercise, about: ModuleType, options: argparse.Namespace) -> dict:
    timed(exercise, exercise.reference())  # what is only done once
    right, _ = timed(exercise, exercise.reference())
    wrong = {}
    things = {}
    characters = {}
    not_named = []
    for slip in exercise.steps.slips:
        wrong[slip.name], told = timed(exercise, exercise.reference((slip,)))
        things[slip.name], characters[slip.name] = to_read(exercise, told.smallest)
        if told.slips != [(slip,)]:
            not_named.append(slip.name)
    return {"right": right, "wrong": wrong, "things": things, "characters": characters, "not named": not_named}


def of_right(exercise: Exercise, about: ModuleType, options: argparse.Namespace) -> dict:
    from tests.exercises.bank.holding import function_of
    from tests.exercises.bank.reading import LITERAL, blocks_of

    blocks = [block for path in sorted(LITERAL.glob("*.txt")) for block in blocks_of(path)]
    right = {block.name: function_of(block) for block in blocks if EXERCISES[block.check] is exercise}
    right |= {function.__name__: function for function in getattr(about, "RIGHT", [])}
    rejected = [name for name, function in right.items() if explain(exercise, function)]
    return {"tried": len(right), "rejected": rejected}


def of_pairs(exercise: Exercise, about: ModuleType, options: argparse.Namespace) -> dict:
    pairs = pairs_of(exercise)
    untold = getattr(about, "UNTOLD", {})
    drawn = random.Random(0).sample(pairs, min(options.pairs, len(pairs)))
    return {
        "tried": len(pairs) - len(untold),
        "passing": pairs_that_pass(exercise, pairs, untold),
        "judged": len(drawn),
        "not told": [[*names, why] for names, why in pairs_not_told(exercise, drawn, untold).items()],
        "untold": [[*names, reason] for names, reason in untold.items()],
    }


def of_mutants(exercise: Exercise, about: ModuleType, options: argparse.Namespace) -> dict:
    equivalent = getattr(about, "EQUIVALENT", {})
    tried = [mutant for mutant in mutants_of(exercise) if mutant.change not in equivalent]
    passing = {seed: [mutant.change for mutant in accepted(exercise, tried, seed)] for seed in range(options.seeds)}
    return {
        "tried": len(tried),
        "seeds": options.seeds,
        "accepted": {str(seed): changes for seed, changes in passing.items() if changes},
        "equivalent": equivalent,
    }


MEASURES = {"verdicts": of_verdicts, "right": of_right, "pairs": of_pairs, "mutants": of_mutants}


def of_hostile() -> dict[str, float]:
    """Seconds on the clock until there is a verdict, with the child process, by the hostile function's name."""
    from tests.exercises.test_process import FEW, HOSTILE

    seconds = {}
    for function, *_ in HOSTILE:
        start = time.monotonic()
        verdict_on(FEW, function)
        seconds[function.__name__] = round(time.monotonic() - start, 2)
    return seconds


def of_banks(names: list[str]) -> dict[str, dict]:
    """The verdicts on functions of readers who saw only the blank editions, counted, by the bank in which they lie."""
    from tests.exercises.bank.holding import held, tally
    from tests.exercises.bank.reading import banks

    found = banks()
    return {bank: tally([held(block) for block in found[bank]]) for bank in names or found}


def save(measured: dict) -> None:
    """Keep what was measured of today's exercises, in the order of the catalogue, and tell it."""
    found = measured["exercises"]
    measured["exercises"] = {name: found[name] for name in EXERCISES if name in found}
    MEASURED.write_text(json.dumps(measured, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    REPORT.write_text(report(measured), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "names", nargs="*", help="exercises, such as per_token_kl and slopes; all of them if none is named"
    )
    parser.add_argument("--only", nargs="+", choices=MEASURES, default=list(MEASURES), help="what is measured")
    parser.add_argument("--seeds", type=int, default=20, help="seeds of the drawn cases that mutants are tried on")
    parser.add_argument("--pairs", type=int, default=30, help="pairs of slips, of each exercise, that get a verdict")
    parser.add_argument("--hostile", action="store_true", help="measure the hostile functions, and nothing else")
    parser.add_argument(
        "--bank",
        nargs="*",
        metavar="BANK",
        help="measure the banks of readers' functions, all or these, and nothing else",
    )
    options = parser.parse_args()
    torch.set_num_threads(1)
    measured = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {"exercises": {}}
    if options.hostile:
        measured["hostile"] = of_hostile()
        save(measured)
        return
    if options.bank is not None:
        measured["bank"]["now"] |= of_banks(options.bank)
        measured["bank"]["date"] = str(date.today())
        save(measured)
        return
    for name in options.names or EXERCISES:
        about = importlib.import_module(f"tests.exercises.right.{PLACES[name]}")
        of_exercise = measured["exercises"].setdefault(name, {})
        for what in options.only:
            start = time.process_time()
            of_exercise[what] = MEASURES[what](EXERCISES[name], about, options)
            print(f"{name}, {what}: {time.process_time() - start:.0f} s", flush=True)
        save(measured)


if __name__ == "__main__":
    main()
