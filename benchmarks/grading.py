"""What grading costs, and what attacks on it achieve.

    python -m benchmarks.grading > benchmarks/grading.md                  attacks and the cost of a box
    python -m benchmarks.grading --class 8 > benchmarks/grading.md        and the throughput of such a class

The cost of a box is the same small job with and without one, in turns. A class is copies of the worked notebooks, each
graded whole, on one worker and on two; a larger one is reckoned from it. Prints Markdown. Needs bubblewrap.
"""

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.attacks import ATTACKS, LIMITS, held, job
from checker.environment import ROOT
from checker.grading.boxes import Isolation, box
from checker.grading.choosing import PROJECT, choose
from checker.grading.isolation import run
from checker.grading.limits import Limits
from checker.grading.one import Job, Settings
from checker.grading.scheduling import on_workers
from checker.grading.sheets import read_sheets

TURNS = 20
STUDENTS, EACH = 300, 7  # of the class on paper


def cost(isolation: Isolation) -> list[float]:
    """Seconds of a job that does nothing, once for each turn."""
    seconds = []
    for _ in range(TURNS):
        start = time.perf_counter()
        run(box(isolation, PROJECT, LIMITS), job("attack = None"))
        seconds.append(time.perf_counter() - start)
    return seconds


def overhead(isolation: Isolation) -> str:
    """A sentence on what a box adds."""
    with_box = statistics.median(cost(isolation))
    without = statistics.median(cost(Isolation("none")))
    return (
        f"A job in a box takes {with_box:.2f} s, the same job without one {without:.2f} s (medians of {TURNS}); the box"
        f" adds {max(0.0, with_box - without):.2f} s. A submission needs two boxes, or three."
    )


def attacks(isolation: Isolation) -> str:
    """The table of attacks."""
    lines = ["| attack | what it got | how it ended | the grader | seconds |", "|---|---|---|---|---|"]
    for attack in ATTACKS:
        seen = held(attack, isolation)
        ended = "by itself" if "cannot be defined" in seen.ended or not seen.ended else seen.ended
        cells = (attack.name, seen.got or "nothing", ended, seen.outside or "unharmed", f"{seen.seconds:.1f}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def throughput(isolation: Isolation, students: int) -> str:
    """Seconds of a class on one worker and on two, and what follows for a large one."""
    sheets = read_sheets([ROOT / "notebooks"])
    settings = Settings(1, isolation, Limits())
    lines = ["| workers | notebooks | seconds | seconds a notebook |", "|---|---|---|---|"]
    for workers in (1, 2):
        jobs = []
        for number in range(students):
            sheet = sheets[number % len(sheets)]
            text = (ROOT / "notebooks" / sheet.name).read_text(encoding="utf-8")
            jobs.append(Job(f"student {number}", sheet.name, text, sheet, settings))
        start = time.perf_counter()
        done = list(on_workers(jobs, workers))
        seconds = time.perf_counter() - start
        lines.append(f"| {workers} | {len(done)} | {seconds:.0f} | {seconds / len(done):.1f} |")
    return "\n".join([*lines, "", on_paper(seconds / students)])


def on_paper(seconds: float) -> str:
    """Hours of a course on several machines like this one, two workers each, from the seconds of a notebook there."""
    lines = [f"Reckoned from the last line, not run: {STUDENTS} students with {EACH} notebooks each.", ""]
    lines += ["| machines with two workers | hours |", "|---|---|"]
    lines += [f"| {machines} | {STUDENTS * EACH * seconds / machines / 3600:.1f} |" for machines in (1, 8, 64)]
    return "\n".join(lines)


def main() -> None:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    isolation = choose()
    load = os.getloadavg()[0]
    print("# Grading\n\nMade by `python -m benchmarks.grading`.\n")
    print(f"Isolation: {isolation.described()}. {os.cpu_count()} cores, load {load:.1f} at the start.\n")
    print(f"## A box\n\n{overhead(isolation)}\n\n## Attacks\n\n{attacks(isolation)}")
    if "--class" in sys.argv:
        students = int(sys.argv[sys.argv.index("--class") + 1])
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            sys.path.insert(0, str(Path(ROOT)))
            print(f"\n## A class\n\n{throughput(isolation, students)}")


if __name__ == "__main__":
    main()
