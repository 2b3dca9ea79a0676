""" "Try it": the embedded model before and after its training on dots, run in the page.

What runs is made by `python -m benchmarks.tryit` and loaded only when it is asked for. Where it was not made, and
without scripts, the page shows a group that was recorded.
"""

import shutil
from pathlib import Path

from checker.pages.templates import style, template
from checker.site.pieces.recorded import RECORD, read_record

MADE = Path("build") / "try"
LOADED = ("ort.wasm.bundle.min.mjs", "ort-wasm-simd-threaded.wasm", "before.onnx", "after.onnx", "facts.json")
COMMAND = "python -m benchmarks.tryit"


def still(project: Path, sources: list[Path]) -> str:
    """The page's still, and the button that loads the model where it was made."""
    record = read_record(project, RECORD, "python -m benchmarks.watch")
    files = made(project)
    megabytes = round(sum(file.stat().st_size for file in files) / 1e6)
    return template("try.html.j2").render(
        record=record, prompt=record["prompts"][2], megabytes=megabytes, command=COMMAND, css=style("try.css")
    )  # fmt: skip


def made(project: Path) -> list[Path]:
    """The files that the page loads; none where one of them is missing."""
    files = [project / MADE / name for name in LOADED]
    return files if all(file.is_file() for file in files) else []


def put_beside(page: Path, project: Path) -> None:
    """Copy what the page loads into the folder `try` beside it; nothing where it was not made."""
    for file in made(project):
        target = page.parent / "try" / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
