"""`checker grade`, `checker undo` and `checker forget`: the command line of grading. What takes long to import is imported when needed."""

import tempfile
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

SHOWN_CASES = 5  # pieces of a disputed mark on the terminal: whose it is, the verdict, three cases
NEEDED = ("cloudpickle", "ipykernel", "nbclient", "torch")  # the last for the references, beside the boxes


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
    column: Annotated[
        list[str],
        typer.Option(
            help="The gradebook's column for the total: 'Dots (4711)'; of one notebook: 'dots.ipynb=Dots (4711)'."
            " Of several gradebooks, for those that have it."
        ),
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
    tls_ca: Annotated[Path | None, typer.Option(help="The authority's certificate, for tls://.")] = None,
    tls_cert: Annotated[Path | None, typer.Option(help="This machine's certificate.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="Its key.")] = None,
) -> None:
    from checker.grading.box.limits import Limits
    from checker.grading.box.packages import unseen
    from checker.grading.box.selection import NoIsolation, choose
    from checker.grading.box.walls import Isolation
    from checker.grading.classes import Class
    from checker.grading.collect.roster import Roster, read_roster
    from checker.grading.disputes import require
    from checker.grading.judge.sheets import read_sheets
    from checker.grading.judge.submission import Settings
    from checker.grading.table.class_folder import RULES, Folder
    from checker.grading.table.gradebooks import read_gradebooks
    from checker.grading.table.gradescope import results as gradescope_results
    from checker.grading.table.rules import require_assigned, rules_of
    from checker.grading.table.scratch import scratch_in
    from checker.reading.files import write_beside
    from checker.reading.markers import MarkerError

    in_a_clone()
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        complain(
            f"To grade, {' and '.join(missing)} must be installed, in the course's folder:"
            ' .venv/bin/pip install -e ".[grade]"'
        )
        raise typer.Exit(UNREADABLE)
    tls = {"ca": tls_ca, "cert": tls_cert, "key": tls_key}
    tls = {name: str(path) for name, path in tls.items() if path is not None}
    if tls and len(tls) < 3:
        complain("For tls:// all three are needed: --tls-ca, --tls-cert and --tls-key.")
        raise typer.Exit(UNREADABLE)
    try:
        chosen: Isolation = choose(isolation.value)
        # Otherwise every function would fail in its box, and nobody would earn a point.
        if chosen.kind != "none" and (elsewhere := unseen()):
            raise Unreadable(
                f"A box does not see {', '.join(elsewhere)}, found here in {next(iter(elsewhere.values()))}. Install what the"
                " course needs into an environment of its own (python -m checker setup), and grade with that one."
            )
        folder = Folder(output)
        folder.prepare()
        rules = rules_of(folder)
        sheets = read_sheets(rules.worked)
        require_assigned(rules, sheets)
        if exercise:
            require(sheets, exercise)
        settings = Settings(rules.seed, chosen, Limits(), rules.whole)
        gradebooks = read_gradebooks(gradebook, column)
        this_class = Class(
            sheets,
            settings,
            read_roster(rules.roster) if rules.roster else Roster(),
            rules.pattern,
            rules.due,
            student,
            rules.anonymous,
            rules.late,
            rules.notebooks,
            str(rules),
            rules.seconds,
            rules.megabytes,
        )
        print(f"{folder.path / RULES}: {rules}")
        print(f"Isolation: {chosen.described()}. Seed of the hidden cases: {settings.seed}.")
        grader = partial(_grader, workers=workers or cores(), scheduler=scheduler, tls=tls)
        # Temporary files hold students' work: below the class's folder none outlives it.
        with scratch_in(folder.path):
            if exercise and again:
                _show_disputed(submissions, this_class, folder, again, exercise)
                return
            if dry_run:
                _foretell(submissions, this_class, folder, again, workers or cores())
                return
            results, aside = _grade(
                submissions, this_class, folder, grader, again, exercise, forms, gradebooks, workers or cores()
            )
        if gradescope is not None:
            write_beside(gradescope, gradescope_results(results, aside))
    except (Unreadable, NoIsolation, MarkerError, ValueError) as error:
        # Gradescope shows this file and no terminal, so it must say why nothing was graded.
        complain(str(error))
        if gradescope is not None:
            write_beside(gradescope, gradescope_results([], refused=str(error)))
        raise typer.Exit(UNREADABLE) from None
    except KeyboardInterrupt:
        print("\nStopped. What is graded is kept; the same command goes on.")
        raise typer.Exit(INTERRUPTED) from None


def _grader(jobs, workers: int, scheduler: str, tls: dict):
    from checker.grading.judge.scheduling import in_this_process, in_threads, on_workers

    if scheduler:
        return on_workers(jobs, scheduler, tls)
    if workers == 1 or len(jobs) < 2:
        return in_this_process(jobs)
    return in_threads(jobs, workers)


def _foretell(submissions, this_class, folder, again, workers) -> None:
    """Say what a run would grade, for whom, and what it would leave."""
    with tempfile.TemporaryDirectory() as scratch:
        work = _work(submissions, scratch, this_class, folder)
    for handed, job in work.jobs.values():
        print(f"{handed.student}  {job.sheet.name}  {handed.place}")
    for aside in work.aside:
        print(f"not graded: {aside.place}. {aside.reason}")
    for student in work.missing:
        print(f"{student}: {work.absence}")
    print(_outlook(work, folder, again, workers))
    print(f"Nothing was graded or written but {folder.path / 'class.yml'}, whose rules you can change now.")


def _work(submissions, scratch, this_class, folder, threads=None):
    """The work of a class within its limits. threads: how many worked notebooks to run at once for these; None for none."""
    from checker.grading.classes import plan, within
    from checker.grading.judge.worked_run import kept, taken_by
    from checker.grading.table.class_folder import WORKED

    work = plan(submissions, Path(scratch), this_class)
    sheets = {job.sheet.digest: job.sheet for _, job in work.jobs.values()}.values()
    place = folder.path / WORKED
    settings = this_class.settings
    if None not in (this_class.seconds, this_class.megabytes) or not settings.whole:
        taken = {}
    elif threads is None:
        taken = kept(sheets, settings, place)
    else:
        taken = taken_by(sheets, settings, place, threads, tell=print)
    return within(work, this_class, taken)


def _outlook(work, folder, again, workers) -> str:
    """The number of notebooks that a run grades, and how long that takes, as far as notebooks before them tell."""
    from checker.grading.results import waiting

    new, seconds = waiting(work, folder, again)
    students = {handed.student for handed, _ in work.jobs.values()}
    said = f"{_counted(len(work.jobs), 'notebook')} of {_counted(len(students), 'student')}, {len(new)} to be graded"
    minutes = len(new) * seconds / workers / 60
    return f"{said}: about {minutes:.0f} minutes." if minutes >= 1 else f"{said}."


def _show_disputed(submissions, this_class, folder, students, exercise) -> None:
    """Write down, and show the beginning of, the hidden cases that students failed in an exercise."""
    from checker.grading.box.isolation import BoxFailed
    from checker.grading.disputes import FOLDER, dispute, of_students
    from checker.grading.table.class_folder import file_name

    with tempfile.TemporaryDirectory() as scratch:
        work = _work(submissions, scratch, this_class, folder)
        _require_students(students, work)
        for handed, job in of_students(work.jobs.values(), students, exercise):
            try:
                text = dispute(job, exercise)
            except BoxFailed as error:
                raise Unreadable(f"{handed.student}: the box failed, by no fault of the function: {error}") from error
            name = file_name(f"{handed.student} {Path(job.sheet.name).stem} {exercise}")
            place = folder.write(f"{FOLDER}/{name}.txt", text)
            pieces = text.split("\n\n")
            print("\n\n".join(pieces[:SHOWN_CASES]).rstrip())
            print(f"{place}: all of it. It holds hidden cases: do not hand it on while the assignment runs.")


def _require_students(students, work) -> None:
    """Raises Unreadable where one of them handed in no notebook."""
    if strangers := sorted(set(students) - {handed.student for handed, _ in work.jobs.values()}):
        raise Unreadable(
            f"--again {strangers[0]}: no notebook of this student is here. Give an id as grades.csv has it."
        )


def _grade(
    submissions, this_class, folder, grader, again, exercise, forms_folder, gradebooks, workers
) -> tuple[list[dict], list]:
    """Grade, write down and tell; the results, and what was set aside."""
    from checker.grading.results import graded, regraded
    from checker.grading.table.class_folder import RULES
    from checker.grading.undo import come_to_its_end, keep_aside
    from checker.grading.writing import write_class, write_similar
    from checker.points.forms import read_forms

    unmarked = folder.of_an_earlier_version
    secret = folder.secret()
    given, chosen, damaged = read_forms(forms_folder, secret, unmarked) if forms_folder else ([], [], [])
    if unmarked:
        chosen.append(f"An earlier version graded this class. Are the rules in {folder.path / RULES} those of then?")
    with tempfile.TemporaryDirectory() as scratch:
        work = _work(submissions, scratch, this_class, folder, workers)
        _require_students(again, work)
        keep_aside(folder.path)
        # Forms that an earlier run was given count as well, so they are kept before all are read.
        folder.keep_forms(given)
        forms = folder.forms()
        print(_outlook(work, folder, again, workers))
        changed = []
        found = regraded(work, folder, grader, exercise, changed) if exercise else graded(work, folder, grader, again)
        results = []
        kept = 0
        for handed, result, was_there in found:
            results.append((handed, result))
            kept += was_there
            if not was_there:
                print(f"{len(results):4d}/{len(work.jobs)}  {handed.student}  {result['notebook']}  {_told(result)}")
        remarks = write_class(this_class, work, results, forms, folder, gradebooks)
        alike = write_similar(this_class, work, folder)
        come_to_its_end(folder.path)
    for refused in damaged:
        warn(refused)
    for remark in [*chosen, *remarks]:
        note(remark)
    for sentence in changed:
        print(sentence)
    said = f"{_counted(len(results), 'notebook')}, {kept} graded before"
    print(
        f"{said}. {_counted(len(work.missing), 'student')} without one." + (f" {work.absence}" if work.missing else "")
    )
    if ungraded := [result["ungraded"] for _, result in results if result["ungraded"]]:
        warn(
            f"{_counted(len(ungraded), 'notebook')} not graded, by no fault of the student's, so without a number in the"
            f" table. The first: {ungraded[0]}"
        )
    if work.aside:
        print(f"Not graded: {_counted(len(work.aside), 'file')}. {folder.path / 'not-graded.csv'} says why.")
    if alike:
        print(f"Alike: {_counted(alike, 'pair')} of notebooks. Read {folder.path / 'similar.html'} before you judge.")
    for gradebook in gradebooks:
        print(f"{folder.path / 'gradebooks' / gradebook.path.name}: to be imported into {gradebook.platform.name}.")
    print(f"{folder.path / 'grades.csv'}  (`checker undo {folder.path}` takes this run back)")
    return [result for _, result in results], work.aside


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
