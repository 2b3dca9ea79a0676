"""The engine that shows code and pictures as Quarto does; the page around them is ours.

Quarto acts on what it reads: `{{< env NAME >}}` prints the environment, a picture's address is opened, fetched and put
into the page, an option names a file, and all of that while rendering, before any policy of a page can forbid it. So
it gets nothing of a notebook but what it is for: code, with its folds' titles and captions kept aside, and pictures.
For every other thing it gets a place (`parts`), into which goes what the built-in engine makes of it. What Quarto
returns is sanitised, too.
"""

import base64
import html
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from checker.pages import builtin, cells
from checker.pages.body import Body, Outline, attached, beside, cut, rest, text
from checker.pages.parts import CLOSE, Parts, without_places
from checker.pages.sanitise import arranged
from checker.reading.convert import plain
from checker.reading.notebook import Cell, Notebook
from checker.reading.options import OPTION
from checker.reading.text import one_line

HEADER = {
    "title": "page",
    "format": {
        "html": {
            "minimal": True,
            "theme": "none",
            "toc": False,
            "code-fold": True,
            "code-copy": False,
            "html-table-processing": "none",
            "fig-responsive": False,
        }
    },
    "jupyter": "python3",
}
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
# What Quarto may know of the environment: where programs and a place for its own files are.
ENVIRONMENT = (
    "PATH", "HOME", "USERPROFILE", "LOCALAPPDATA", "APPDATA", "SYSTEMROOT", "COMSPEC", "PATHEXT", "TMPDIR", "TEMP",
    "TMP", "LANG", "LC_ALL", "XDG_CACHE_HOME", "XDG_DATA_HOME", "DENO_DIR",
)  # fmt: skip
PATIENCE = 120  # seconds
MAIN = re.compile(r"<main\b[^>]*>(.*)</main>|<body\b[^>]*>(.*)</body>", re.DOTALL)
LINE = re.compile(r'<a href="#cb\d+-\d+" aria-hidden="true" tabindex="-1"></a>')  # before each line of code
TITLE = re.compile(r'<header id="title-block-header".*?</header>', re.DOTALL)
PICTURE = re.compile(r"notebook_files/figure-html/([\w.-]+\.(png|jpe?g|gif|webp))")
SAID = re.compile(r"^\s*(?:\[?ERROR\]?:?|error:)\s*", re.IGNORECASE)
NOISE = re.compile(r"^\s*(?:at |Stack trace|\d+: |$)")
LONGEST_CAUSE = 300  # characters


class Failed(Exception):
    """Quarto made no page; the message says why in a line."""


def program() -> str | None:
    """The path of Quarto: on the PATH, else beside this Python, where `pip install quarto-cli` puts it, else None.

    The virtual environment need not be active, so its programs need not be on the PATH.
    """
    return shutil.which("quarto") or shutil.which("quarto", path=str(Path(sys.executable).parent))


def body(quarto: str, notebook: Notebook) -> Body:
    """The cells of a notebook with code and pictures by Quarto.

    Raises:
        Failed: Quarto fails, takes more than two minutes, or makes no page.
    """
    parts = Parts()
    outline = Outline(notebook)
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch, "notebook.ipynb")
        file.write_text(json.dumps(_copy(notebook, outline, parts)), encoding="utf-8")
        _render(quarto, Path(scratch))
        made = file.with_suffix(".html")
        if not made.is_file():
            raise Failed("it made no page")
        found = MAIN.search(made.read_text(encoding="utf-8", errors="replace"))
        if found is None:
            raise Failed("it made a page without content")
        content = LINE.sub("", TITLE.sub("", found[1] or found[2], count=1))
        shown = arranged(content, lambda address: _picture(Path(scratch), address))
    return Body(without_places(parts.fill(shown)), outline.contents)


def _render(quarto: str, scratch: Path) -> None:
    """Call Quarto in a process group of its own, so that at the end all that it started ends."""
    known = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
    command = [quarto, "render", "notebook.ipynb", "--to", "html", "--no-execute"]
    with open(scratch / "said", "w+b") as said:
        try:
            process = subprocess.Popen(
                command, cwd=scratch, env=known, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise Failed(f"it cannot be started: {error.strerror}") from error
        try:
            status = process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired as error:
            raise Failed(f"it took longer than {PATIENCE} s") from error
        finally:
            _end(process)
        if status:
            said.seek(0)
            raise Failed(cause(said.read(100_000).decode("utf-8", "replace")) or f"it ended with status {status}")


def _end(process: subprocess.Popen) -> None:
    """End a process and what it started, as far as the system knows groups of processes."""
    try:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except (ProcessLookupError, PermissionError):
        pass
    process.wait()


def cause(said: str) -> str:
    """The first words of an error of Quarto's, in one line; the stack below them says nothing to a reader."""
    lines = plain(said).splitlines()
    begun = next((number for number, line in enumerate(lines) if SAID.match(line)), None)
    if begun is None:
        told = [line for line in lines if not NOISE.match(line)][:1]
    else:
        told = [SAID.sub("", lines[begun])]
        for line in lines[begun + 1 :]:
            if NOISE.match(line) or len(told) == 3:
                break
            told.append(line)
    return one_line(" ".join(" ".join(told).split()))[:LONGEST_CAUSE]


def _copy(notebook: Notebook, outline: Outline, parts: Parts) -> dict:
    """The notebook for Quarto: our header, places for what it must not read, and its code and pictures."""
    limits = outline.limits
    copied = [_markdown("---\n" + json.dumps(HEADER) + "\n---")]
    shown = 0
    for cell in notebook.cells:
        if not limits.allow(cell):
            break
        above = f'<a id="cell-{cell.number}"></a>'
        if cell.is_code:
            above += builtin.heading(cell, outline) + builtin.place(cell)
            made = [_place(parts.put(above)), _code(cell, outline, parts)]
        else:
            made = [_place(parts.put(above + text(cell, outline, attached(cell))))]
        if not limits.take(json.dumps(made) + parts.held[-1]):
            break
        copied += made
        shown += 1
    copied.append(_place(parts.put(rest(notebook, shown, limits.reason))))
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": KERNEL, "cells": copied}


def _code(cell: Cell, outline: Outline, parts: Parts) -> dict:
    """A code cell for Quarto, with options of ours."""
    outputs = []
    pictures = []
    for output in cell.outputs:
        mime, _, encoded = builtin.picture_of(output).removeprefix("data:").partition(";base64,")
        if mime in builtin.RASTER:
            pictures.append(len(outputs))
            outputs.append(_output({mime: encoded}))
        elif mime:
            outputs.append(_kept(builtin.figure(cell, len(pictures), builtin.picture_of(output), outline), parts))
        else:
            outputs.append(_kept(builtin.without_picture(output), parts))
    options: dict[str, object] = {
        "code-summary": parts.put(f"{html.escape(cells.fold(cell))} <small>{beside(cell)}</small>")
    }
    if cells.is_exercise(cell):
        options["code-fold"] = "show"
    if pictures:
        options |= _of_pictures(cell, pictures, len(outputs), outline, parts)
    above = "".join(f"#| {name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in options.items())
    return {
        "cell_type": "code",
        "id": f"n{cell.number}",
        "metadata": {},
        "execution_count": cell.count,
        "source": (above + _inert(cut(cells.code_of(cell)))).splitlines(True),
        "outputs": outputs,
    }


def _of_pictures(cell: Cell, pictures: list[int], count: int, outline: Outline, parts: Parts) -> dict[str, list[str]]:
    """The options that say what a cell's pictures show: places for their captions and for what is read aloud.

    pictures: where they stand among the cell's `count` outputs. Quarto hands a caption to every output, text too.
    """
    alternatives = [""] * count
    captions = [""] * count
    for number, place in enumerate(pictures):
        alternatives[place] = parts.put(html.escape(cells.alternative(cell, number)))
        if caption := builtin.caption(cell, number, outline):
            captions[place] = parts.put(caption)
    options = {"fig-alt": alternatives}
    if any(captions):
        options["fig-cap"] = captions
    return options


def _kept(shown: str, parts: Parts) -> dict:
    """An output that Quarto does not see: a place for it."""
    return _output({"text/html": f"<div>{parts.put(shown)}</div>"})


def _output(data: dict[str, str]) -> dict:
    return {"output_type": "display_data", "metadata": {}, "data": data}


def _markdown(source: str) -> dict:
    return {"cell_type": "markdown", "metadata": {}, "source": source.splitlines(True)}


def _place(place: str) -> dict:
    return _markdown(f"```{{=html}}\n<div>{place}</div>\n```")


def _inert(source: str) -> str:
    """Code that asks Quarto for nothing: what begins a shortcode, and what looks like an option, is broken up.

    The character that breaks it up is gone when the places are filled.
    """
    source = without_places(source).replace("{{<", f"{{{{{CLOSE}<")
    return CLOSE + source if OPTION.match(source) else source


def _picture(scratch: Path, address: str) -> str | None:
    """A picture that Quarto wrote beside its page, as a `data:` address."""
    found = PICTURE.fullmatch(address)
    file = scratch / address
    if found is None or file.is_symlink() or not file.is_file():
        return None
    kind = found[2].replace("jpg", "jpeg")
    return f"data:image/{kind};base64," + base64.b64encode(file.read_bytes()).decode()
