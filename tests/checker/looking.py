"""Demands on every page of the course in a browser, whichever engine made it."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.checker.browser import Browser

PROJECT = Path(__file__).parents[2]
# Where `npm install axe-core` puts it; AXE names the file where it lies elsewhere.
AXE = Path(os.environ.get("AXE", PROJECT / "node_modules" / "axe-core" / "axe.min.js"))
LOOKS = [(width, dark) for width in (390, 1280) for dark in (False, True)]
HEAVIEST = 1_000_000  # bytes that a page loads, fonts aside
FONTS = (".woff", ".woff2")
SECTIONS = [f"Cell {number}" for number in range(9)]
# What is wider than its own box, at most by a rounding; the whole page is `html`.
WIDER = """
return [...document.querySelectorAll("html, main pre, main table, main p, main .highlight")]
  .filter((one) => one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1)
  .map((one) => one.tagName + " " + one.scrollWidth + " > " + one.clientWidth + ": " + one.textContent.slice(0, 60));
"""
MOST_WIDER = 0.07  # of the outputs of a page, on a phone
# How many outputs a notebook's page has, and those that are wider than their box or hold something that is.
WIDER_OUTPUTS = """
const isWider = (one) => one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1;
const shown = [...document.querySelectorAll("main .output, main .cell-output")].filter((one) => one.clientWidth > 0);
const wider = shown.filter((one) => [one, ...one.querySelectorAll("*")].some(isWider));
return [shown.length, wider.map((one) => one.textContent.trim().slice(0, 60))];
"""
LISTED = """
return [...document.querySelectorAll("nav a[href*='#section-']:not(.found a)")]
  .filter((link) => link.pathname === location.pathname)
  .map((link) => [link.textContent.trim().slice(0, 6), document.querySelectorAll(link.hash).length]);
"""
OPENED = "for (const fold of document.querySelectorAll('main details')) fold.open = true;"
# How light the words of a page are, 0 to 255, that say more than a link: the lightest paragraph.
LIGHTEST = """
const light = (one) => Math.min(...getComputedStyle(one).color.match(/\\d+/g).slice(0, 3).map(Number));
return Math.max(...[...document.querySelectorAll("main p, main li, main h2, main code")].map(light));
"""
# How dark the boxes of text and code are, 0 to 255: the darkest; what is transparent has the colour of the paper.
DARKEST = """
const ground = (one) => getComputedStyle(one).backgroundColor.match(/[\\d.]+/g).map(Number);
const boxes = [...document.querySelectorAll("body, main, main pre, main code, main :is(.sourceCode, .highlight)")];
return Math.min(255, ...boxes.map(ground).filter(([, , , seen = 1]) => seen > 0).map((colour) => Math.max(...colour.slice(0, 3))));
"""
READABLE_ON_WHITE = 130  # grey of that lightness has a contrast of 4 to white paper
SERIOUS = """
return axe.run(document, { resultTypes: ["violations"] }).then((found) => found.violations
  .filter((one) => ["serious", "critical"].includes(one.impact))
  .map((one) => one.id + ": " + one.nodes[0].html.slice(0, 200)));
"""


def assert_fits(shown: Browser, address: str, width: int, dark: bool) -> list[str]:
    """Nothing of a page is wider than the screen, and it complains of nothing. Returns the addresses it asked for."""
    shown.show(address, width=width, dark=dark)
    shown.run(OPENED)
    wider = shown.run(WIDER)
    assert not [line for line in wider if width >= 1280 or line.startswith("HTML")], (address, width, wider)
    assert not shown.complaints(), address
    return shown.requests()


def assert_outputs_fit_a_phone(shown: Browser, address: str) -> None:
    """At most a few outputs of a notebook's page have to be scrolled sideways on a phone, tables included."""
    shown.show(address, width=390)
    shown.run(OPENED)
    outputs, wider = shown.run(WIDER_OUTPUTS)
    assert outputs > 10 and len(wider) <= MOST_WIDER * outputs, (address, outputs, wider)


def assert_nobody_is_left_out(shown: Browser, address: str, width: int, dark: bool) -> None:
    """axe-core finds nothing serious on a page with all folds open."""
    shown.show(address, width=width, dark=dark)
    shown.run(OPENED)
    shown.run(f"{AXE.read_text(encoding='utf-8')}; return 1;")
    assert shown.run(SERIOUS) == [], (address, width, dark)


def assert_paper_can_be_read(shown: Browser, address: str) -> None:
    """Assert that a page shown in the dark is not printed in pale letters on white, nor in dark ones on dark boxes."""
    shown.show(address, dark=True)
    assert shown.run(LIGHTEST) > READABLE_ON_WHITE > shown.run(DARKEST)
    shown.show(address, dark=True, media="print")
    assert shown.run(LIGHTEST) < READABLE_ON_WHITE, address
    assert shown.run(DARKEST) > 220, address


def weight(folder: Path, asked: list[str]) -> int:
    """The bytes of the files of a served folder that a page asked for, each once, without fonts."""
    paths = {unquote(urlsplit(address).path).lstrip("/") for address in asked}
    return sum((folder / path).stat().st_size for path in paths if not path.endswith(FONTS))


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address at which a folder is served."""
    quiet = type("Quiet", (SimpleHTTPRequestHandler,), {"log_message": lambda *arguments: None})
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(quiet, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
