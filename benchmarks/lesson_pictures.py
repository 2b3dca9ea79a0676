"""Drawings of the course as pictures inside of its notebooks: attachments, which every notebook editor shows.

    python -m benchmarks.lesson_pictures dots    draws what notebooks/dots.ipynb names, and attaches it

A cell of text that says `![what is drawn](attachment:drawing-clipping.png)` gets that drawing of `checker/site/pieces/drawings.py`.
JupyterLab refuses SVG as an attachment, so Chromium makes a PNG of it, on white as all figures are.
"""

import argparse
import base64
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from PIL import Image

from checker.pages.templates import style
from checker.reading.notebook import dump, joined
from checker.site.pieces.drawings import DRAWINGS, WIDTH

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
NAMED = re.compile(r"\]\(attachment:(drawing-\w+)\.png\)")
MARGIN = 16
PAGE = """<!doctype html><meta charset="utf-8"><style>{css}
body {{ margin: {margin}px; background: #fff; color: #1c2024; }} .drawing svg {{ width: {width}px; }}
</style><div class="drawing"><svg viewBox="0 0 {width} {height}">{drawn}</svg></div>"""


def png(name: str) -> bytes:
    """A drawing, by its name, as a PNG of 32 colours."""
    drawn, height, _, _ = DRAWINGS[name]()
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise FileNotFoundError("Chromium makes the pictures, and there is none: install it first.")
    with tempfile.TemporaryDirectory() as folder:
        page, made = Path(folder, "page.html"), Path(folder, "made.png")
        html = PAGE.format(css=style("drawing.css"), margin=MARGIN, width=WIDTH, height=height, drawn=drawn)
        page.write_text(html, encoding="utf-8")
        size = f"--window-size={WIDTH + 2 * MARGIN},{height + 2 * MARGIN}"
        options = ("--headless=new", "--no-sandbox", "--hide-scrollbars", "--force-device-scale-factor=1.25")
        subprocess.run(
            [browser, *options, size, f"--screenshot={made}", page.as_uri()], check=True, capture_output=True
        )
        Image.open(made).convert("RGB").quantize(32).save(made, optimize=True)
        return made.read_bytes()


def attach(path: Path) -> list[str]:
    """Attach to each cell of a notebook the drawings that it names, and nothing else; their names."""
    content = json.loads(path.read_text(encoding="utf-8"))
    found = []
    for cell in content["cells"]:
        cell.pop("attachments", None)
        names = NAMED.findall(joined(cell["source"])) if cell["cell_type"] == "markdown" else []
        if names:
            pictures = {name: base64.b64encode(png(name)).decode() for name in names}
            cell["attachments"] = {f"{name}.png": {"image/png": picture} for name, picture in pictures.items()}
            found += names
    path.write_text(dump(content), encoding="utf-8")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lesson_pictures", description=__doc__.split("\n\n")[0])
    parser.add_argument("chapter")
    path = NOTEBOOKS / f"{parser.parse_args().chapter}.ipynb"
    print(f"{path.name}: {', '.join(attach(path)) or 'no drawing is named'}")


if __name__ == "__main__":
    main()
