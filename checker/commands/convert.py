"""`checker convert`: the Markdown that is handed in."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from checker.checking.terminal import UNREADABLE, complain
from checker.commands.options import MaxOutput
from checker.reading.convert import MAX_OUTPUT
from checker.reading.notebook import Unreadable
from checker.reading.text import one_line


def convert_command(
    notebook: Annotated[Path, typer.Argument(help="The notebook.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Where to write; default: print.")] = None,
    max_output: MaxOutput = MAX_OUTPUT,
) -> None:
    """Turn a notebook into the Markdown that is handed in."""
    from checker.reading.convert import to_markdown
    from checker.reading.files import write_beside
    from checker.reading.notebook import read

    try:
        text = to_markdown(read(notebook), max_output)
    except Unreadable as error:
        complain(f"{one_line(str(notebook))}: {error}")
        raise typer.Exit(UNREADABLE) from None
    if output is None:
        sys.stdout.write(text)
        return
    if output.exists() and output.samefile(notebook):
        complain(f"{output} is the notebook itself. Give another name.")
        raise typer.Exit(UNREADABLE)
    write_beside(output, text)
    print(f"{output}: {len(text):,} characters")
