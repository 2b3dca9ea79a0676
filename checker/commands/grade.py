"""`checker grade`, `checker undo` and `checker forget`: the command line of grading. What takes long to import is imported when needed."""

from enum import StrEnum
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from checker.checking.batch import cores
from checker.checking.terminal import INTERRUPTED, UNREADABLE, complain, note, warn
from checker.commands.options import in_a_clone
from checker.reading.notebook import Unreadable

SHOWN_PARAGRAPHS = 5  # of a disputed mark, on the terminal: whose it is, the verdict, three cases
PACKAGES = ("cloudpickle", "ipykernel", "nbclient", "torch")  # in torch the worked solutions run, outside of the boxes


class IsolationKind(StrEnum):
    auto = "auto"
    bwrap = "bwrap"
    podman = "podman"
    none = "none"


HELP = (
    "Grade what a class handed in: run each notebook in isolation, check it with cases that nobody has seen, give points."
    "\n\nSubmissions are folders or zips as Canvas, Moodle and Gradescope export them. A second call grades only what is"
    " new or changed; corrections that you wrote into grades.csv stay.\n\nThe rules of the class (who is in it, what is"
    " assigned, when it was due, what a late day costs) stand in class.yml in the output folder. The first call writes"
    " it.\n\nIn the output folder you find grades.csv,"
    " pages/index.html, from which you judge by student or by question, feedback/ for the students, similar.html and"
    " not-graded.csv."
)


def grade_command(
    submissions: Annotated[list[Path], typer.Argument(help="What was handed in: folders, and zips of a platform.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The class's folder.")] = Path("graded"),
    student: Annotated[str, typer.Option(help="All of it is this student's, whatever its place says.")] = "",
    forms: Annotated[
        Path | None, typer.Option(help="The folder of forms that were saved on the pages: their points are added.")
    ] = None,
    gradebook: Annotated[
        list[Path],
        typer.Option(help="A gradebook that Canvas, Moodle or Gradescope exported: it is filled, into gradebooks/."),
    ] = (),
    again: Annotated[list[str], typer.Option(help="A student to grade anew. Repeatable.")] = (),
    exercise: Annotated[
        str,
        typer.Option(
            help="With --again: show the hidden cases of this exercise that the student failed, and change nothing."
            " Alone: judge this exercise anew for everybody, after its check was mended, and leave the rest."
        ),
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be graded, and write nothing but class.yml.")
    ] = False,
    isolation: Annotated[IsolationKind, typer.Option(help="What keeps submissions in.")] = IsolationKind.auto,
    workers: Annotated[int, typer.Option(help="Notebooks at once on this machine; default: one a core.")] = 0,
    gradescope: Annotated[Path | None, typer.Option(help="Write Gradescope's results.json there as well.")] = None,
    scheduler: Annotated[str, typer.Option(help="A dask scheduler whose workers grade: tls://host:8786.")] = "",
    certificates: Annotated[
        Path | None, typer.Option(help="The folder of those for tls://: ca.pem, cert.pem and key.pem.")
    ] = None,
) -> None:
    from checker.grading.box.selection import NoIsolation, choose
    from checker.grading.classes import class_of
    from checker.grading.disputes import require
    from checker.grading.results import graded, regraded
    from checker.grading.table.class_folder import RULES, WORKED, Folder
    from checker.grading.table.gradebooks import read_gradebooks
    from checker.grading.table.gradescope import results as gradescope_results
    from checker.grading.table.scratch import scratch_in
    from checker.grading.undo import come_to_its_end, keep_aside
    from checker.grading.work import collected, measure_limits, with_limits
    from checker.grading.writing import refuse_an_empty_class, write_class, write_similar
    from checker.reading.files import write_beside
    from checker.reading.markers import MarkerError

    in_a_clone()
    threads = workers or cores()
    run_jobs = partial(_run_jobs, workers=threads, scheduler=scheduler, certificates=certificates)
    disputing = bool(again and exercise)
    try:
        _require_installed()
        if dry_run and disputing:
            raise Unreadable("--again with --exercise grades nobody, so --dry-run has nothing to say: leave it out.")
        chosen = choose(isolation.value)
        if chosen.kind != "none":
            _require_seen()
        folder = Folder(output)
        folder.prepare()
        this_class = class_of(folder, chosen, student)
        if exercise:
            require(this_class.worked_notebooks, exercise)
        saved, remarks, damaged = _forms(folder, forms)
        gradebooks = read_gradebooks(gradebook, this_class.rules.columns)
        print(f"{folder.path / RULES}: {this_class.rules}")
        print(f"Isolation: {chosen.described()}. Seed of the hidden cases: {this_class.settings.seed}.")
        # Temporary files hold students' work, so they are made inside of the class's folder and deleted with it.
        with scratch_in(folder.path):
            work = collected(submissions, this_class)
            _require_students(again, work)
            if not (dry_run or disputing):
                measure_limits(work, this_class, folder.path / WORKED, threads)
            work = with_limits(work, this_class, folder.path / WORKED)
            outlook = _outlook(work, folder, again, exercise, threads)
            if dry_run:
                _foretell(work, folder, outlook)
                return
            if disputing:
                _show_disputed(work, folder, again, exercise)
                return
            refuse_an_empty_class(work, folder)
            print(outlook)
            keep_aside(folder.path)  # what is there now, for `checker undo`
            folder.keep_forms(saved)
            coming = regraded(work, folder, run_jobs, exercise) if exercise else graded(work, folder, run_jobs, again)
            results = _told_as_they_come(coming, len(work.jobs))
            # Forms that an earlier run was given count as well.
            remarks += write_class(this_class, work, results, folder.forms(), folder, gradebooks)
            alike = write_similar(this_class, work, folder)
            come_to_its_end(folder.path)
        for refused in damaged:
            warn(refused)
        for remark in remarks:
            note(remark)
        _sum_up(work, results, folder, alike, gradebooks)
        if gradescope is not None:
            write_beside(gradescope, gradescope_results([one.result for one in results], work.ungraded))
    except (Unreadable, NoIsolation, MarkerError, ValueError) as error:
        # Gradescope shows this file and no terminal, so it must say why nothing was graded.
        complain(str(error))
        if gradescope is not None:
            write_beside(gradescope, gradescope_results([], refused=str(error)))
        raise typer.Exit(UNREADABLE) from None
    except KeyboardInterrupt:
        print("\nStopped. What is graded is kept; the same command goes on.")
        raise typer.Exit(INTERRUPTED) from None


def _require_installed() -> None:
    """Raises Unreadable where something is missing that grading needs."""
    if missing := [name for name in PACKAGES if find_spec(name) is None]:
        raise Unreadable(
            f"To grade, {' and '.join(missing)} must be installed, in the course's folder:"
            ' .venv/bin/pip install -e ".[grade]"'
        )


def _require_seen() -> None:
    """Raises Unreadable where a box sees no packages: every function would fail in it, and nobody would earn a point."""
    from checker.grading.box.packages import unseen

    if elsewhere := unseen():
        raise Unreadable(
            f"A box does not see {', '.join(elsewhere)}, found here in {next(iter(elsewhere.values()))}. Install what the"
            " course needs into an environment of its own (python -m checker setup), and grade with that one."
        )


def _require_students(students, work) -> None:
    """Raises Unreadable where one of them handed in no notebook."""
    if strangers := sorted(set(students) - work.students):
        raise Unreadable(
            f"--again {strangers[0]}: no notebook of this student is here. Give an id as grades.csv has it."
        )


def _run_jobs(jobs, workers: int, scheduler: str, certificates: Path | None):
    """The results of jobs as they come, from this machine or from a scheduler's workers."""
    from checker.grading.judge.scheduling import in_this_process, in_threads, on_workers

    if scheduler:
        return on_workers(jobs, scheduler, certificates)
    if workers == 1 or len(jobs) < 2:
        return in_this_process(jobs)
    return in_threads(jobs, workers)


def _outlook(work, folder, again, exercise, workers) -> str:
    """The number of notebooks that a run grades, and how long that takes, as far as notebooks before them tell."""
    from checker.grading.results import waiting

    new, seconds = waiting(work, folder, again, exercise)
    said = f"{_counted(len(work.jobs), 'notebook')} of {_counted(len(work.students), 'student')}"
    minutes = round(new * seconds / workers / 60)
    return f"{said}, {new} to be graded" + (f": about {_counted(minutes, 'minute')}." if minutes else ".")


def _foretell(work, folder, outlook: str) -> None:
    """Say what a run would grade, for whom, and what it would leave."""
    for submission, job in work.jobs:
        print(f"{submission.student}  {job.notebook}  {submission.place}")
    for one in work.ungraded:
        print(f"not graded: {one.place}. {one.reason}")
    for student in work.missing:
        print(f"{student}: {work.absence}")
    print(outlook)
    print(f"Nothing was graded or written but {folder.path / 'class.yml'}, whose rules you can change now.")


def _show_disputed(work, folder, students, exercise) -> None:
    """Write down, and show the beginning of, the hidden cases that students failed in an exercise."""
    from checker.grading.box.isolation import BoxFailed
    from checker.grading.disputes import FOLDER, dispute, of_students
    from checker.grading.table.class_folder import file_name

    for submission, job in of_students(work.jobs, students, exercise):
        try:
            text = dispute(job, exercise)
        except BoxFailed as error:
            raise Unreadable(f"{submission.student}: the box failed, by no fault of the function: {error}") from error
        name = file_name(f"{submission.student} {Path(job.notebook).stem} {exercise}")
        place = folder.write(f"{FOLDER}/{name}.txt", text)
        print("\n\n".join(text.split("\n\n")[:SHOWN_PARAGRAPHS]).rstrip())
        print(f"{place}: all of it. It holds hidden cases: do not hand it on while the assignment runs.")


def _forms(folder, place: Path | None) -> tuple[list, list[str], list[str]]:
    """The forms in a folder, sentences on what was chosen of them, and on those that are none."""
    from checker.grading.table.class_folder import RULES
    from checker.points.forms import read_forms

    unmarked = folder.of_an_earlier_version
    given, chosen, damaged = read_forms(place, folder.secret(), unmarked) if place else ([], [], [])
    if unmarked:
        chosen.append(
            f"An earlier version graded this class. Look whether {folder.path / RULES} has the rules of then."
        )
    return given, chosen, damaged


def _told_as_they_come(coming, count: int) -> list:
    """All results, by student and notebook, whatever an earlier run kept; a line for each, as soon as it is graded."""
    results = []
    for one in coming:
        results.append(one)
        if not one.kept:
            print(f"{len(results):4d}/{count}  {one.submission.student}  {one.result['notebook']}  {_told(one.result)}")
    return sorted(results, key=lambda one: (one.submission.student, one.result["notebook"]))


def _sum_up(work, results, folder, alike: int, gradebooks) -> None:
    """Tell what a run came to, and where it is written."""
    for one in results:
        if one.changed:
            print(one.changed)
    said = f"{_counted(len(results), 'notebook')}, {sum(one.kept for one in results)} graded before"
    absence = f" {work.absence}" if work.missing else ""
    print(f"{said}. {_counted(len(work.missing), 'student')} without one.{absence}")
    if ungraded := [one.result["ungraded"] for one in results if one.result["ungraded"]]:
        warn(
            f"{_counted(len(ungraded), 'notebook')} not graded, by no fault of the student's, so without a number in the"
            f" table. The first: {ungraded[0]}"
        )
    if work.ungraded:
        print(f"Not graded: {_counted(len(work.ungraded), 'file')}. {folder.path / 'not-graded.csv'} says why.")
    if alike:
        print(f"Alike: {_counted(alike, 'pair')} of notebooks. Read {folder.path / 'similar.html'} before you judge.")
    for gradebook in gradebooks:
        print(f"{folder.path / 'gradebooks' / gradebook.path.name}: to be imported into {gradebook.platform.name}.")
    print(f"{folder.path / 'grades.csv'}  (`checker undo {folder.path}` takes this run back)")


def _told(result: dict) -> str:
    """The result of a notebook, for the line of the run."""
    if result["ungraded"]:
        return f"not graded: {result['ungraded']}"
    return f"{result['earned']:g} of {result['possible']:g}  {result['stopped']}".rstrip()


def _counted(number: int, what: str) -> str:
    """ "1 file", "2 files"."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def autograder_command(
    output: Annotated[Path, typer.Option("-o", "--output", help="The zip.")] = Path("autograder.zip"),
    seed: Annotated[int | None, typer.Option(help="Of the hidden cases; default: a new one.")] = None,
) -> None:
    """Make the zip that Gradescope's autograder asks for: the course, its key included, and how to run it there."""
    import secrets

    from checker.grading.table.gradescope import autograder
    from checker.reading.files import write_beside

    in_a_clone()
    try:
        packed = autograder(secrets.randbelow(2**31) if seed is None else seed)
    except Unreadable as error:
        complain(str(error))
        raise typer.Exit(UNREADABLE) from None
    write_beside(output, packed)
    print(f"{output}: upload it to the assignment's autograder, and keep it: it holds the worked notebooks.")


def undo_command(
    folder: Annotated[Path, typer.Argument(help="The folder that `checker grade` made.")] = Path("graded"),
) -> None:
    """Undo the last run of `checker grade`: table, pages, feedback, forms and class.yml become what they were."""
    from checker.grading.undo import BEFORE, undo

    try:
        undo(folder)
    except Unreadable as error:
        complain(str(error))
        raise typer.Exit(UNREADABLE) from None
    print(f"{folder}: as it was before the last run, which lies in {folder / BEFORE}. The same command brings it back.")


def forget_command(
    folder: Annotated[Path, typer.Argument(help="The folder that `checker grade` made.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete a graded class, all of it: results, pages, feedback, grades and corrections."""
    from checker.grading.table.class_folder import forget

    if not yes and not typer.confirm(f"Delete {folder} with every grade in it?"):
        raise typer.Exit(1)
    try:
        print(f"{folder}: {forget(folder)} files deleted.")
    except Unreadable as error:
        complain(str(error))
        raise typer.Exit(UNREADABLE) from None
