"""`checker report`: run notebooks, check them and make their pages."""

import shutil
import tempfile
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from checker.checking.summary import account
from checker.checking.terminal import UNREADABLE, complain
from checker.commands.options import Engine, Engines, nothing_found
from checker.reading import inventory

TO_RUN = ("nbclient", "ipykernel")  # what `report` needs beside what the checker itself does
HELP = (
    "Run notebooks from top to bottom in a fresh kernel, check them and make their pages.\n\n"
    "What works for you may stop there: a cell was run out of order, or deleted after it was run. So, before you"
    " hand in:  [bold]checker report my_notebook.ipynb[/bold]\n\n"
    "The notebook itself is not written to, unless you say [bold]--in-place[/bold]. In build/ you find the executed"
    " copy (.ipynb), the text that is handed in (.md) and the page (.html). When a cell stops, its line and its error"
    " are named, and what ran before it is kept.\n\n"
    "Exits with 1 when a notebook stopped or does not pass, with 2 when a file cannot be read."
)


def report_command(
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="Notebooks, folders, or a zip of notebooks, that you trust: what is in them is executed.",
            readable=False,
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", "--out", help="The folder for the executed copy and the page.")
    ] = Path("build"),
    in_place: Annotated[
        bool, typer.Option("--in-place", help="Save the fresh outputs in the notebook when it ran to its end.")
    ] = False,
    require_claim: Annotated[
        bool,
        typer.Option(
            "--require-claim",
            help="Fail unless the outputs show what the header claims: a fine-tuned reward above the baseline, or, "
            "with `course: claim: measures`, a held-out comparison of methods. Fail too when the saved outputs are of "
            "other code: a key number of the fresh run is not where they allow it.",
        ),
    ] = False,
    engine: Engines = Engine.auto,
) -> None:
    missing = [name for name in TO_RUN if find_spec(name) is None]
    if missing:
        complain(
            f"To run notebooks, {' and '.join(missing)} must be installed, in the course's folder:"
            ' pip install -e ".[run]". The other commands work without.'
        )
        raise typer.Exit(UNREADABLE)
    from checker.running.report import run_all

    console = Console(highlight=False, soft_wrap=True)
    asked = {"in_place": in_place, "require_claim": require_claim, "engine": engine.value}
    with tempfile.TemporaryDirectory() as scratch:
        found = inventory.take(paths, Path(scratch))
        if in_place and not all(entry.beside for entry in found.entries):
            complain("A zip is not written to. Unpack it, or leave out --in-place.")
            raise typer.Exit(UNREADABLE)
        entries = [_under_its_name(entry, Path(scratch, "named", str(n))) for n, entry in enumerate(found.entries)]
        status = run_all(entries, output, console, **asked)
    account(found, console)
    if not entries:
        nothing_found(paths)
    raise typer.Exit(status)


def _under_its_name(entry: inventory.Entry, folder: Path) -> inventory.Entry:
    """The entry; of one out of a zip, which was unpacked under a number, a copy in `folder` with its own name."""
    if entry.beside or entry.error is not None:
        return entry
    folder.mkdir(parents=True)
    return replace(entry, file=Path(shutil.copy(entry.file, folder / entry.inside.name)))
