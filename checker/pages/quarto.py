"""Pages made by Quarto, safe to open and with the same form at their end.

Quarto gets a copy: its header is ours (a header can name files and programs), each section has an anchor,
nothing is executed. A content security policy then lets no script run but the form's, and lets the page fetch
nothing.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from checker.layout import heading_of, is_header
from checker.notebook import Unreadable, parse, read

POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline' data:; font-src data:; script-src"
    " '{script_hash}'; base-uri 'none'; form-action 'none'"
)
OPTIONS = {
    "html": {
        "code-fold": True,
        "toc": True,
        "embed-resources": True,
        "html-math-method": "mathml",
        "theme": "cosmo",
    }
}
STRAY_LINK = r'(<)(link(?!\s+(?:rel="stylesheet"\s+)?href="data:))'
PATIENCE = 300  # seconds


def program() -> str | None:
    """Where Quarto is: on the PATH, else beside this Python, where `pip install quarto-cli` puts it; None without.

    The virtual environment need not be active, so its programs need not be on the PATH.
    """
    return shutil.which("quarto") or shutil.which("quarto", path=str(Path(sys.executable).parent))


def page(quarto: str, path: Path, title: str, form: str, *, script: str, script_hash: str) -> str:
    """The page of a notebook, with a form at its end that the script saves.

    Raises:
        Unreadable: Quarto fails, or takes more than five minutes.
    """
    with tempfile.TemporaryDirectory() as scratch:
        notebook = Path(scratch, "notebook.ipynb")
        try:
            notebook.write_text(json.dumps(_copy(path, title)), encoding="utf-8")
            done = subprocess.run(
                [quarto, "render", notebook.name, "--to", "html", "--no-execute"],
                cwd=scratch, capture_output=True, text=True, errors="replace", timeout=PATIENCE,
            )  # fmt: skip
        except (OSError, RecursionError, subprocess.TimeoutExpired) as error:
            raise Unreadable(f"Quarto could not render it: {error}") from error
        made = notebook.with_suffix(".html")
        if done.returncode or not made.is_file():
            raise Unreadable(f"Quarto could not render it: {done.stderr.strip()[-500:]}")
        return _secured(made.read_text(encoding="utf-8"), form, script, script_hash)


def _copy(path: Path, title: str) -> dict:
    """The notebook with a header of ours, an anchor before each cell, a heading for a labelled code cell."""
    content = parse(path)
    header = {"title": title, "format": OPTIONS, "jupyter": "python3"}
    cells = [_markdown("---\n" + json.dumps(header) + "\n---")]
    for cell, raw in zip(read(path).cells, content["cells"], strict=True):
        if cell.number == 0 and is_header(cell):
            continue
        heading = re.sub(r"[\\`*_{}\[\]<>$]", "", heading_of(cell)) if cell.is_code else ""
        anchor = f"## {heading} {{#cell-{cell.number}}}" if heading else f"[]{{#cell-{cell.number}}}"
        cells += [_markdown(anchor), raw]
    return {**content, "cells": cells}


def _markdown(source: str) -> dict:
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def _secured(html: str, form: str, script: str, script_hash: str) -> str:
    """The page under its policy, and without what a policy does not reach.

    `http-equiv` goes elsewhere; links and frames make a browser connect, even to what it then may not fetch.
    The names of tags and attributes cannot be spelled otherwise, so what is renamed does nothing. A link
    stays where it begins as Quarto writes those to style sheets inside the page.
    """
    for reaching_out in (r"()(http-equiv)", STRAY_LINK, r"(<)((?:i?frame|object|embed)\b)"):
        html = re.sub(reaching_out, r"\1data-\2", html, flags=re.IGNORECASE)
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY.format(script_hash=script_hash)}">'
    html, found = re.subn(r"<head[^>]*>", lambda head: head[0] + policy, html, count=1)
    if not found:
        raise Unreadable("Quarto made a page without a head.")
    body, end, rest = html.rpartition("</body>")
    return f'{body}<main class="container">{form}</main><script>{script}</script>{end}{rest}'
