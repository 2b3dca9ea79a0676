"""`checker grades` and `checker challenge`: the filled forms of a class as one table, and the table of a challenge."""

import secrets
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from checker.checking.batch import cores
from checker.checking.terminal import INTERRUPTED, UNREADABLE, complain
from checker.commands.grade import IsolationKind
from checker.commands.options import in_a_clone
from checker.reading.notebook import Unreadable


def grades_command(
    folder: Annotated[Path, typer.Argument(help="Where the forms (*.grades.json) were saved.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Where to write the CSV; default: print.")
    ] = None,
) -> None:
    """Collect the forms that were filled in on the pages, rubric and points by hand, into one CSV."""
    from checker.points.forms import merged, read_forms, table
    from checker.reading.files import write_beside

    try:
        forms, chosen, damaged = read_forms(folder)
    except Unreadable as error:
        complain(str(error))
        raise typer.Exit(UNREADABLE) from None
    forms = merged(forms)
    for sentence in chosen:
        print(sentence, file=sys.stderr)
    for sentence in damaged:
        complain(sentence)
    if output is None:
        sys.stdout.write(table(forms))
    else:
        write_beside(output, table(forms))
        print(f"{output}: {len(forms)} notebooks")
    raise typer.Exit(UNREADABLE if damaged else 0)


def challenge_command(
    folder: Annotated[Path, typer.Argument(help="What was handed in: a file of --result for each, as ann.json.")],
    task: Annotated[str, typer.Option(help="A task of the course, or a file of Python that has a `RECIPE`.")],
    reward: Annotated[
        float, typer.Option(help="The goal: the 95 % interval of the held-out reward does not lie below it.")
    ],
    budget: Annotated[int, typer.Option(help="Completions of a run, at the most.", min=1)],
    every: Annotated[int, typer.Option(help="Completions between measurements, at the least.", min=1)] = 256,
    seeds: Annotated[int, typer.Option(help="Runs of each.", min=2)] = 5,
    seed: Annotated[int | None, typer.Option(help="What the seeds are drawn from; default: drawn now.")] = None,
    seconds: Annotated[float, typer.Option(help="Of computing for a run, at the most.", min=1)] = 240,
    output: Annotated[Path, typer.Option("-o", "--output", help="The table.")] = Path("challenge.csv"),
    isolation: Annotated[IsolationKind, typer.Option(help="What bounds a run.")] = IsolationKind.auto,
    workers: Annotated[int, typer.Option(help="Runs at once; default: one a core.")] = 0,
) -> None:
    """Train with the settings that each student handed in, on seeds that nobody has seen, and rank them: fewest
    completions to a held-out reward, ties told."""
    from checker.grading.box.isolation import BoxFailed
    from checker.grading.box.limits import Limits
    from checker.grading.box.selection import NoIsolation, choose
    from checker.grading.challenge import OWN, Challenge, Entry, handed_in, run_once, table
    from checker.grading.judge.scheduling import in_threads
    from checker.reading.files import write_beside

    in_a_clone()
    seed = secrets.randbelow(2**31) if seed is None else seed
    try:
        given: dict[str, str | None] = {OWN: None} | handed_in(folder)
        challenge = Challenge(task, reward, budget, every, tuple(range(seed, seed + seeds)))
        # The clock may run four times as long as the CPU: the machine is shared with other runs.
        limits = Limits(wall=4 * seconds, cpu=seconds)
        one = partial(run_once, challenge=challenge, isolation=choose(isolation.value), limits=limits)
        jobs = [(name, own) for name in given for own in challenge.seeds]
        runs = {}
        for job, run in in_threads(jobs, workers or cores(), lambda job: one(given[job[0]], job[1])):
            runs[job] = run
            print(f"{len(runs):4d}/{len(jobs)}  {job[0]}  {run.high:g}  {run.remark}".rstrip(), flush=True)
    except (Unreadable, NoIsolation, ValueError) as error:
        complain(str(error))
        raise typer.Exit(UNREADABLE) from None
    except BoxFailed as error:
        complain(f"{error} Nothing was ranked. The same command with --seed {seed} begins again.")
        raise typer.Exit(UNREADABLE) from None
    except KeyboardInterrupt:
        print("\nStopped. Nothing was ranked.")
        raise typer.Exit(INTERRUPTED) from None
    ranked = table([Entry(name, tuple(runs[name, own] for own in challenge.seeds)) for name in given])
    write_beside(output, ranked.to_csv(index=False))
    print(ranked.to_string(index=False))
    print(f"Two alike settings do not tie in {challenge.apart_by_chance:.1%} of cases at the most.")
    print(f"{output}. With --seed {seed} the same command gives the same table.")
