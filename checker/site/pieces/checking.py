""" "Check your notebook": the checker itself, run in the page on files that stay there.

Python for the browser is gotten by `python -m checker.site.loaded.pyodide`. Where that was not done, the page says so,
and how to have the checker.
"""

import shutil
from pathlib import Path

from checker.pages.templates import HERE, style, template
from checker.reading.files import write_beside
from checker.site.loaded import pyodide
from checker.site.loaded.bundle import bundle

SECONDS = 30  # for one notebook, beside the loading
# What the page may do, the engine's own scripts and styles among it: nothing from elsewhere, nothing to elsewhere.
POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline';"
    " font-src 'self' data:; img-src 'self' data:; connect-src 'self'; worker-src blob:; base-uri 'none';"
    " form-action 'none'"
)


def place(project: Path, sources: list[Path]) -> str:
    """The place where notebooks are dropped, where Python for the browser is there."""
    megabytes = round(sum(file.stat().st_size for file in pyodide.files(project)) / 1e6)
    return template("check.html.j2").render(
        megabytes=megabytes, command=pyodide.COMMAND, seconds=SECONDS, css=style("check.css")
    )  # fmt: skip


def put_beside(page: Path, project: Path) -> None:
    """Copy what the page loads into the folder `check` beside it; nothing without Python for the browser."""
    files = pyodide.files(project)
    if not files:
        return
    folder = page.parent / "check"
    write_beside(folder / "checker.zip", bundle())
    write_beside(folder / "worker.js", (HERE / "check_worker.js").read_bytes())
    for file in files:
        shutil.copyfile(file, folder / file.name)
