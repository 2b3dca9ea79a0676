"""`checker render`: pages of notebooks, without running them."""

import tempfile
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer
from rich.console import Console

from checker.checking.summary import account
from checker.checking.terminal import UNREADABLE, complain, remark
from checker.commands.options import Engine, Engines, Ignored, nothing_found, silenced
from checker.reading import inventory
from checker.reading.notebook import Unreadable
from checker.reading.text import one_line


def render_command(
    paths: Annotated[list[Path], typer.Argument(help="Notebooks, folders, or a zip of notebooks.", readable=False)],
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder for the pages.")] = Path("build"),
    engine: Engines = Engine.auto,
    rubric: Annotated[Path | None, typer.Option(help="Another rubric than the handout's.")] = None,
    ignore: Ignored = (),
) -> None:
    """Make HTML pages, one file each, and for many notebooks an index. Nothing is fetched, nothing run."""
    from checker.pages.rendering import INDEX, index, render_all
    from checker.points.rubric import RUBRIC
    from checker.reading.files import write_beside

    rows = []
    left_out = silenced(ignore)
    try:
        with tempfile.TemporaryDirectory() as scratch:
            found = inventory.take(paths, Path(scratch))
            pages = render_all(found.entries, output, engine.value, rubric or RUBRIC, say=remark, ignore=left_out)
            for report, page in pages:
                link = "" if page is None else quote(page.relative_to(output).as_posix())
                rows.append((report, link))
                if page is None:
                    complain(f"{report.name}: {report.findings[0].advice}")
                else:
                    print(one_line(str(page)))
    except Unreadable as error:
        complain(str(error))
        raise typer.Exit(UNREADABLE) from None
    if len(rows) > 1 or (rows and any(path.is_dir() or path.suffix.lower() == ".zip" for path in paths)):
        write_beside(output / INDEX, index(rows))
        print(one_line(str(output / INDEX)))
    account(found, Console(stderr=True, highlight=False, soft_wrap=True))
    if not rows:
        nothing_found(paths)
    raise typer.Exit(UNREADABLE if any(report.status == "unreadable" for report, _ in rows) else 0)
