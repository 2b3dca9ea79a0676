"""How strong and how fast the checks are: `.venv/bin/python -m benchmarks.checks`, or with names of exercises.

For each exercise: how many slips are known, the time of a verdict on the reference and on every slip (in the process that
asks, without the 0.1 s that a child costs), how many numbers and characters the smallest cases have, and how many of the
reference's mutants are rejected.
"""

import argparse
import importlib
import statistics
import time

import torch

from shared.exercises import catalogue
from shared.exercises.comparing import judged
from shared.exercises.exercise import Exercise
from shared.exercises.judging import judge_alone, smallest_case
from tests.exercises.mutants import mutants_of


def seconds(exercise: Exercise, function) -> float:
    """Of the processor, for one verdict."""
    start = time.process_time()
    judge_alone(exercise, function, end=time.monotonic() + 60)
    return time.process_time() - start


def report(name: str) -> dict:
    """The figures of one exercise."""
    exercise = catalogue.EXERCISES[name]
    about = importlib.import_module(f"tests.exercises.right.{name}")
    wrong = [exercise.reference((slip,)) for slip in exercise.steps.slips]
    mutants = [m for m in mutants_of(exercise) if m.change not in getattr(about, "EQUIVALENT", {})]
    rejected = [any(judged(exercise, m.function, case)[0] for case in exercise.cases()) for m in mutants]
    seconds(exercise, exercise.reference())  # what is only done once
    return {
        "slips": len(wrong),
        "right": seconds(exercise, exercise.reference()),
        "wrong": [seconds(exercise, function) for function in wrong],
        "sizes": [size for function in wrong if (size := smallest_size(exercise, function)) is not None],
        "mutants": len(mutants),
        "rejected": sum(rejected),
    }


def smallest_size(exercise: Exercise, function) -> int | None:
    """How many numbers and characters tell the function from the reference."""
    case = smallest_case(exercise, function)
    return None if case is None else exercise.size(case)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(catalogue.EXERCISES))
    torch.set_num_threads(1)
    print(f"{'exercise':28}{'slips':>6}{'right':>8}{'wrong, worst':>14}{'smallest case':>15}{'mutants rejected':>18}")
    known = 0
    for name in parser.parse_args().names:
        figures = report(name)
        known += figures["slips"]
        print(
            f"{name:28}{figures['slips']:6}{figures['right']:7.2f}s{max(figures['wrong']):13.2f}s"
            f"{statistics.median(figures['sizes']):15.0f}{figures['rejected']:10} of {figures['mutants']}",
            flush=True,
        )
    print(f"{known} slips are known")


if __name__ == "__main__":
    main()
