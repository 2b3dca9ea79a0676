"""How strong and how fast the checks are: `.venv/bin/python -m benchmarks.checks --write`, or with names of exercises.

For each exercise: how many slips are known, the time of a verdict on the reference and on every slip (in the process that
asks, without the 0.1 s that a child costs), how many of the slips are named, how many numbers and characters the smallest
cases have, how many of the reference's mutants are rejected by the cases of each seed, and of a sample of pairs of slips
how many are named or told apart. `--write` puts the table into `benchmarks/checks.md`.
"""

import argparse
import importlib
import random
import statistics
import time
from pathlib import Path

import torch

from shared.exercises import catalogue
from shared.exercises.comparing import judged
from shared.exercises.exercise import Exercise
from shared.exercises.judging import Verdict, judge, smallest_case
from tests.exercises.mutants import mutants_of

TABLE = Path(__file__).with_suffix(".md")
HEAD = (
    "| exercise | slips | named | right, s | wrong, median s | wrong, worst s | smallest case, median "
    "| mutants | rejected, worst seed | pairs told |"
)


def timed(exercise: Exercise, function) -> tuple[float, Verdict]:
    """A verdict, and the seconds of the processor that it took."""
    start = time.process_time()
    verdict = judge(exercise, function)
    return time.process_time() - start, verdict


def rejected(exercise: Exercise, mutants: list, seed: int) -> int:
    """How many mutants a case of this seed tells from the reference."""
    cases = exercise.cases(seed)
    return sum(any(judged(exercise, mutant.function, case)[0] for case in cases) for mutant in mutants)


def pairs_told(exercise: Exercise, most: int, untold: dict) -> str:
    """Of a sample of pairs, how many get a verdict that names slips: these two, or others that explain every case."""
    pairs = [slips for slips in exercise.steps.combinations() if len(slips) == 2]
    pairs = [pair for pair in pairs if (pair[0].name, pair[1].name) not in untold]
    sample = random.Random(0).sample(pairs, min(most, len(pairs)))
    told = sum(bool(judge(exercise, exercise.reference(pair)).slips) for pair in sample)
    return f"{told} of {len(sample)}"


def row(name: str, exercise: Exercise, seeds: int, pairs: int) -> str:
    """The figures of one exercise, as a row of the table."""
    about = importlib.import_module(f"tests.exercises.right.{name}")
    mutants = [m for m in mutants_of(exercise) if m.change not in getattr(about, "EQUIVALENT", {})]
    slips = exercise.steps.slips
    timed(exercise, exercise.reference())  # what is only done once
    right, _ = timed(exercise, exercise.reference())
    wrong = [timed(exercise, exercise.reference((slip,))) for slip in slips]
    seconds = [time for time, _ in wrong]
    named = sum(verdict.slips == (slip.name,) for slip, (_, verdict) in zip(slips, wrong))
    smallest = [smallest_case(exercise, exercise.reference((slip,))) for slip in slips]
    size = statistics.median(exercise.size(case) for case in smallest if case is not None)
    fewest = min(rejected(exercise, mutants, seed) for seed in range(seeds))
    told = pairs_told(exercise, pairs, getattr(about, "UNTOLD", {}))
    return (
        f"| {name} | {len(slips)} | {named} | {right:.2f} | {statistics.median(seconds):.2f} | {max(seconds):.2f} "
        f"| {size:.0f} | {len(mutants)} | {fewest} | {told} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(catalogue.exercise_modules()))
    parser.add_argument("--seeds", type=int, default=1, help="seeds of the drawn cases that mutants are tried on")
    parser.add_argument("--pairs", type=int, default=10, help="pairs of slips that are tried")
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.name}")
    options = parser.parse_args()
    torch.set_num_threads(1)
    lines = [HEAD, "|" + " --- |" * HEAD.count(" | ") + " --- |"]
    print(*lines, sep="\n")
    for name in options.names:
        line = row(name, catalogue.exercise_modules()[name].EXERCISE, options.seeds, options.pairs)
        print(line, flush=True)
        lines.append(line)
    if options.write:
        command = f"`.venv/bin/python -m benchmarks.checks --write --seeds {options.seeds} --pairs {options.pairs}`"
        TABLE.write_text(
            f"# How strong and how fast the checks are\n\nWritten by {command}; seconds are the processor's, for one "
            "verdict without the child process.\n\n" + "\n".join(lines) + "\n",
            encoding="utf-8",
        )


if __name__ == "__main__":
    main()
