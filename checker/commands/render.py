"""`checker render`: pages of notebooks, without running them."""

import tempfile
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer
from rich.console import Console

from checker import inventory
from checker.commands.options import Engine, Engines, Ignored
from checker.findings import one_line
from checker.notebook import Unreadable
from checker.settings import silenced
from checker.summary import account
from checker.terminal import UNREADABLE, complain, remark


def render_command(
    paths: Annotated[list[Path], typer.Argument(help="Notebooks, folders, or a zip of notebooks.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder for the pages.")] = Path("build"),
    engine: Engines = Engine.auto,
    rubric: Annotated[Path | None, typer.Option(help="Another rubric than the handout's.")] = None,
    ignore: Ignored = (),
) -> None:
    """Make HTML pages, one file each, and for many notebooks an index. Nothing is fetched, nothing run."""
    from checker.files import write_beside
    from checker.pages.site import INDEX, index, render_all
    from checker.rubric import RUBRIC

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
    if len(rows) > 1 or any(not path.is_file() or path.suffix.lower() == ".zip" for path in paths):
        write_beside(output / INDEX, index(rows))
        print(one_line(str(output / INDEX)))
    account(found, Console(stderr=True, highlight=False, soft_wrap=True))
    raise typer.Exit(UNREADABLE if any(report.status == "unreadable" for report, _ in rows) else 0)
