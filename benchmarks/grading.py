"""The cost of grading, and the success of attacks on it.

    python -m benchmarks.grading > benchmarks/grading.md                                  a box and attacks on it
    python -m benchmarks.grading --isolation podman --further >> benchmarks/grading.md    another box, on the same page
    python -m benchmarks.grading --isolation none --further >> benchmarks/grading.md      attacks that only look
    python -m benchmarks.grading --class 4 --further >> benchmarks/grading.md             throughput of a class
    python -m benchmarks.grading --functions --further >> benchmarks/grading.md           boxes and seconds of functions

The cost of a box is the same small job with and without one, in turns. A class is copies of the worked notebooks, each
graded whole, in one thread and in two; a larger one is reckoned from it. Prints Markdown. Root and an ordinary user get
different boxes: call it as each. `--patient 40` is for a machine that is so many times slower, an emulated one, say:
attacks and boxes may take that much longer.
"""

import argparse
import os
import platform
import shlex
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest.mock import patch

from benchmarks.attacks import ATTACKS, LIMITS, SECONDS, Attack, held, job
from checker.grading.box import selection, usage
from checker.grading.box.isolation import Outcome, run, run_submission
from checker.grading.box.limits import Limits
from checker.grading.box.selection import KINDS, PROJECT, choose
from checker.grading.box.walls import Box, Isolation, box
from checker.grading.judge import boxed_functions, hidden_cases
from checker.grading.judge.reference_process import ReferenceProcess
from checker.grading.judge.scheduling import in_threads
from checker.grading.judge.sheets import read_sheet, read_sheets
from checker.grading.judge.submission import Job, Settings
from checker.reading.notebook import read
from checker.reading.syntax.statements import definitions
from checker.setup.environment import ROOT

STUDENTS, EACH = 300, 7  # of the class on paper
SEED = 1  # of the hidden cases


def cost(isolation: Isolation, limits: Limits, turns: int) -> list[float]:
    """Seconds of a job that does nothing, once for each turn."""
    seconds = []
    for _ in range(turns):
        start = time.perf_counter()
        run(box(isolation, PROJECT, limits), job("attack = None"))
        seconds.append(time.perf_counter() - start)
    return seconds


def overhead(isolation: Isolation, limits: Limits, turns: int) -> str:
    """A sentence on what a box adds, and its cgroup where it has one."""
    with_box = statistics.median(cost(isolation, limits, turns))
    without = statistics.median(cost(Isolation("none"), limits, turns))
    found = (
        f"A job in a box takes {with_box:.2f} s, the same job without one {without:.2f} s (medians of {turns}); the box"
        f" adds {max(0.0, with_box - without):.2f} s. A submission needs two boxes, or three."
    )
    if isolation.controllers:
        uncounted = statistics.median(cost(replace(isolation, controllers=()), limits, turns))
        found += f" In a box without a cgroup of its own it takes {uncounted:.2f} s."
    return found


def attacks(tried: list[Attack], isolation: Isolation, limits: Limits, seconds: float) -> Iterator[str]:
    """The rows of the table of attacks, each as soon as it is known."""
    yield "| attack | what it got | how it ended | the grader | seconds |"
    yield "|---|---|---|---|---|"
    for attack in tried:
        seen = held(attack, isolation, limits, seconds)
        ended = "by itself" if "cannot be defined" in seen.ended or not seen.ended else seen.ended
        cells = (attack.name, seen.got or "nothing", ended, seen.outside or "unharmed", f"{seen.seconds:.1f}")
        yield f"| {' | '.join(cells)} |"


def throughput(isolation: Isolation, students: int) -> str:
    """Seconds of a class in one thread and in two, and what follows for a large one."""
    sheets = read_sheets([ROOT / "notebooks"])
    settings = Settings(1, isolation, Limits())
    lines = ["| threads | notebooks | seconds | seconds a notebook |", "|---|---|---|---|"]
    for threads in (1, 2):
        jobs = []
        for number in range(students):
            sheet = sheets[number % len(sheets)]
            text = (ROOT / "notebooks" / sheet.name).read_text(encoding="utf-8")
            jobs.append(Job(f"student {number}", sheet.name, text, sheet, settings))
        start = time.perf_counter()
        done = list(in_threads(jobs, threads))
        seconds = time.perf_counter() - start
        lines.append(f"| {threads} | {len(done)} | {seconds:.0f} | {seconds / len(done):.1f} |")
    return "\n".join([*lines, "", on_paper(seconds / students)])


def functions_of(path: Path, key: ReferenceProcess, isolation: Isolation) -> str:
    """The row of a worked notebook: how many boxes its functions take, and how long."""
    sheet = read_sheet(path)
    student = definitions(read(path))
    programs_for = partial(hidden_cases.programs, student, sheet, key.cases(check.name for check in sheet.checks))
    grader = boxed_functions.Grader(key, isolation, Limits())
    hidden_cases.verdicts(programs_for, grader)  # so that the key knows what is right
    in_boxes = []

    def run_and_keep(a_box: Box, job: dict) -> Outcome:
        in_boxes.append(run_submission(a_box, job))
        return in_boxes[-1]

    with patch.object(boxed_functions, "run_submission", run_and_keep):
        start = time.perf_counter()
        beside = usage.tree(os.getpid())
        found = hidden_cases.verdicts(programs_for, grader)
        beside = sum(process.cpu for process in usage.tree(os.getpid())) - sum(process.cpu for process in beside)
        seconds = time.perf_counter() - start
    right = sum(verdict.passed for verdict in found.values())
    computing = sum(outcome.cpu for outcome in in_boxes)
    return (
        f"| {path.stem} | {len(found)} | {right} | {len(in_boxes)} | {seconds:.1f} | {computing:.1f} | {beside:.1f} |"
    )


def functions(isolation: Isolation, names: list[str]) -> Iterator[str]:
    """The rows of the table of functions, those of worked notebooks, each as soon as it is known."""
    yield "| notebook | functions | right | boxes | seconds | of CPU in boxes | and beside them |"
    yield "|---|---|---|---|---|---|---|"
    key = ReferenceProcess(SEED)
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        if any(name in path.stem for name in names):
            yield functions_of(path, key, isolation)
    key.close()


def on_paper(seconds: float) -> str:
    """Hours of a course on several machines like this one, two threads each, from the seconds of a notebook there."""
    lines = [f"Reckoned from the last line, not run: {STUDENTS} students with {EACH} notebooks each.", ""]
    lines += ["| machines with two threads | hours |", "|---|---|"]
    lines += [f"| {machines} | {STUDENTS * EACH * seconds / machines / 3600:.1f} |" for machines in (1, 8, 64)]
    return "\n".join(lines)


def made_by(isolation: Isolation) -> str:
    """Sentences on where a section comes from."""
    command = shlex.join(["python", "-m", "benchmarks.grading", *sys.argv[1:]])
    machine = f"{platform.platform()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start."
    return f"Made by `{command}`.\nIsolation: {isolation.described()}.\n{machine}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--isolation", choices=("auto", *KINDS), default="auto")
    parser.add_argument("--class", dest="students", type=int, default=0, help="grade so many notebooks instead")
    parser.add_argument("--functions", action="store_true", help="judge the functions of the worked notebooks instead")
    parser.add_argument(
        "--turns", type=int, default=20, help="how often the cost of a box is measured; 0 for not at all"
    )
    parser.add_argument("--further", action="store_true", help="without a title: for the end of a page that is there")
    parser.add_argument(
        "--only", action="append", help="the attacks, or notebooks, with these words in their names; repeatable"
    )
    parser.add_argument("--patient", type=float, default=1.0, help="how many times slower this machine is")
    chosen = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    limits = replace(LIMITS, wall=LIMITS.wall * chosen.patient, cpu=LIMITS.cpu * chosen.patient)
    selection.PROBE_LIMITS = replace(selection.PROBE_LIMITS, wall=selection.PROBE_LIMITS.wall * chosen.patient)
    isolation = choose(chosen.isolation)
    title = "" if chosen.further else "# Grading\n\n"
    if chosen.students:
        print(f"{title}## A class\n\n{made_by(isolation)}\n")
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            sys.path.insert(0, str(Path(ROOT)))
            print(throughput(isolation, chosen.students))
        return
    if chosen.functions:
        print(f"{title}## The functions of a notebook\n\n{made_by(isolation)}\n")
        print("The key's process has begun, and knows the cases.\n")
        for row in functions(isolation, chosen.only or [""]):
            print(row, flush=True)
        return
    user = "root" if os.geteuid() == 0 else "an ordinary user"
    print(f"{title}## {isolation.kind}, started by {user}\n\n{made_by(isolation)}\n")
    tried = [attack for attack in ATTACKS if any(words in attack.name for words in chosen.only or [""])]
    if isolation.kind == "none":
        tried = [attack for attack in tried if attack.harmless]
    elif chosen.turns:
        print(f"{overhead(isolation, limits, chosen.turns)}\n")
    for row in attacks(tried, isolation, limits, SECONDS * chosen.patient):
        print(row, flush=True)


if __name__ == "__main__":
    main()
