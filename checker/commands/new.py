"""`checker new`: a chapter to be written."""

from pathlib import Path
from typing import Annotated

import typer

from checker.checking.terminal import UNREADABLE, complain
from checker.reading.notebook import Unreadable

NEXT = """
Next:
  1. write it: task, reward, exercise, analysis; then save its outputs, checked
       python -m checker report --in-place {notebook}
  2. make its blank edition
       python -m checker assign {notebook}
  3. complete its entry in notebooks/chapters.yml, and make the lists of chapters again
       python -m checker.editions.lists
  4. run the tests, which ask for the form of a chapter
       make test
"How to add a notebook" in CONTRIBUTING.md has the marks of exercises, answers and points."""


def new_command(
    name: Annotated[str, typer.Argument(help="The chapter's name: lower-case words with _ between them.")],
) -> None:
    """Begin a chapter: a notebook of nine cells that runs and passes, and its places in the course.

    Call it in the course's folder. Its task is a small one that works; write yours over it.
    """
    from checker.editions.chapter import ChapterError, new_chapter

    try:
        made = new_chapter(Path(), name)
    except (ChapterError, Unreadable) as error:
        complain(str(error))
        raise typer.Exit(UNREADABLE) from None
    for file in made:
        print(file.as_posix())
    print(NEXT.format(notebook=made[0].as_posix()))
