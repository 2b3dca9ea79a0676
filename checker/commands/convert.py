"""`checker convert` and `checker slides`: a notebook as the Markdown that is handed in, several as slides."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from checker.checking.terminal import UNREADABLE, complain
from checker.commands.options import MaxOutput
from checker.reading.convert import MAX_OUTPUT
from checker.reading.notebook import Notebook, Unreadable, read
from checker.reading.text import one_line

PICTURES = "slides_files"  # the folder beside the slides


def convert_command(
    notebook: Annotated[Path, typer.Argument(help="The notebook.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Where to write; default: print.")] = None,
    max_output: MaxOutput = MAX_OUTPUT,
) -> None:
    """Turn a notebook into the Markdown that is handed in."""
    from checker.reading.convert import to_markdown
    from checker.reading.files import write_beside

    text = to_markdown(_read(notebook), max_output)
    if output is None:
        sys.stdout.write(text)
        return
    if output.exists() and output.samefile(notebook):
        complain(f"{output} is the notebook itself. Give another name.")
        raise typer.Exit(UNREADABLE)
    write_beside(output, text)
    print(f"{output}: {len(text):,} characters")


def slides_command(
    notebooks: Annotated[list[Path], typer.Argument(help="Worked notebooks, in the order of the lecture.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder.")] = Path("build/slides"),
    title: Annotated[str, typer.Option(help="The title of the first slide.")] = "Tiny GRPO",
) -> None:
    """Make slides of each question that notebooks ask before a result, of what came out, and of the answer.

    The page to show is what `quarto render build/slides/slides.qmd` makes of them.
    """
    from checker.editions.slides import slides
    from checker.reading.files import write_beside

    text, pictures = slides([_read(notebook) for notebook in notebooks], title, PICTURES)
    for name, content in pictures.items():
        write_beside(output / PICTURES / name, content)
    write_beside(output / "slides.qmd", text)
    print(f"{output / 'slides.qmd'}: {text.count(chr(10) + '## ')} slides. quarto render {output / 'slides.qmd'}")


def _read(notebook: Path) -> Notebook:
    """The notebook in a file. One that cannot be read ends the command with a sentence."""
    try:
        return read(notebook)
    except Unreadable as error:
        complain(f"{one_line(str(notebook))}: {error}")
        raise typer.Exit(UNREADABLE) from None
