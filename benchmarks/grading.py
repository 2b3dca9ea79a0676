"""The cost of grading, and the success of attacks on it.

    python -m benchmarks.grading > benchmarks/grading.md                                  a box and attacks on it
    python -m benchmarks.grading --isolation podman --further >> benchmarks/grading.md    another box, on the same page
    python -m benchmarks.grading --isolation none --further >> benchmarks/grading.md      attacks that only look

The cost of a box is the same small job with and without one, in turns. Prints Markdown. Root and an ordinary user get
different boxes: call it as each. `--patient 40` is for a machine that is so many times slower, an emulated one, say:
attacks and boxes may take that much longer.
"""

import argparse
import os
import platform
import shlex
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import replace

from benchmarks.attacks import ATTACKS, LIMITS, SECONDS, Attack, held, job
from checker.grading.box import selection
from checker.grading.box.isolation import run
from checker.grading.box.limits import Limits
from checker.grading.box.selection import KINDS, PROJECT, choose
from checker.grading.box.walls import Isolation, box


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


def made_by(isolation: Isolation) -> str:
    """Sentences on where a section comes from."""
    command = shlex.join(["python", "-m", "benchmarks.grading", *sys.argv[1:]])
    machine = f"{platform.platform()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start."
    return f"Made by `{command}`.\nIsolation: {isolation.described()}.\n{machine}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--isolation", choices=("auto", *KINDS), default="auto")
    parser.add_argument(
        "--turns", type=int, default=20, help="how often the cost of a box is measured; 0 for not at all"
    )
    parser.add_argument("--further", action="store_true", help="without a title: for the end of a page that is there")
    parser.add_argument("--only", action="append", help="the attacks with these words in their names; repeatable")
    parser.add_argument("--patient", type=float, default=1.0, help="how many times slower this machine is")
    chosen = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    limits = replace(LIMITS, wall=LIMITS.wall * chosen.patient, cpu=LIMITS.cpu * chosen.patient)
    selection.PROBE_LIMITS = replace(selection.PROBE_LIMITS, wall=selection.PROBE_LIMITS.wall * chosen.patient)
    isolation = choose(chosen.isolation)
    title = "" if chosen.further else "# Grading\n\n"
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
