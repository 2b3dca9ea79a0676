"""The parts that several commands share: options, and the steps around them."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from checker.checking.terminal import UNREADABLE, complain
from checker.rules import RULES
from checker.setup.environment import SetupError, require_clone

Ignored = Annotated[list[str], typer.Option(help="A code to leave out, for instance H002. Repeatable.")]
MaxOutput = Annotated[int, typer.Option(help="Characters of output kept for each cell.", min=0)]


def silenced(codes: Sequence[str]) -> list[str]:
    """The codes of findings that are left out, in capitals. One that does not exist ends the command."""
    known = {rule.code for rule in RULES}
    for code in codes:
        if code.upper() not in known:
            complain(f"There is no finding {code} to ignore. There are {', '.join(sorted(known))}.")
            raise typer.Exit(UNREADABLE)
    return [code.upper() for code in codes]


class Engine(StrEnum):
    auto = "auto"
    quarto = "quarto"
    builtin = "builtin"


Engines = Annotated[
    Engine, typer.Option(help="auto: Quarto, where it is installed, for the notebooks of this course; else built in.")
]


def nothing_found(paths: Sequence[Path]) -> NoReturn:
    """Ends a command that found no notebook."""
    complain(f"There is no notebook in {', '.join(map(str, paths))}: give .ipynb files, or a folder or a zip of them.")
    raise typer.Exit(UNREADABLE)


def in_a_clone() -> None:
    """Ends a command with a sentence where only the checker is installed: what it hands on are the course's files."""
    try:
        require_clone()
    except SetupError as error:
        complain(str(error))
        raise typer.Exit(UNREADABLE) from None
