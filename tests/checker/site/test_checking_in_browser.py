"""The page that checks notebooks: the same reports as the command line's, from a Python that runs in the page and that
nothing leaves.

Python for the browser is what `make site` gets; Node runs it as Chromium does.
"""

import base64
import io
import json
import re
import shutil
import subprocess
import threading
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from checker.reading.website import Website
from checker.site.finish import finish
from checker.site.loaded import pyodide
from checker.site.loaded.bundle import bundle
from checker.site.pieces import checking
from tests.checker.browser import CHROMIUM, DRIVER, browser
from tests.checker.command_line import checker
from tests.checker.conftest import GOOD, NOTEBOOKS, code
from tests.checker.looking import AXE, LOOKS, PROJECT, SERIOUS, assert_fits, served

NODE = shutil.which("node")
CHECKED = """
import fs from "node:fs";
const [folder, zip, ...notebooks] = process.argv.slice(2);
const { loadPyodide } = await import(`${folder}/pyodide.mjs`);
const python = await loadPyodide();
python.unpackArchive(new Uint8Array(fs.readFileSync(zip)), "zip", { extractDir: "/checker" });
python.runPython(`import sys; sys.path.insert(0, "/checker")`);
const { Dropped } = python.pyimport("checker.checking.in_browser");
for (const notebook of notebooks) {
  const dropped = Dropped(notebook.split("/").at(-1), python.toPy(new Uint8Array(fs.readFileSync(notebook))));
  console.log(JSON.stringify(JSON.parse(dropped.checked(0)).report));
  dropped.destroy();
}
"""


def needs_python_for_the_browser() -> None:
    if not pyodide.files(PROJECT):
        pytest.skip(f"no Python for the browser is here: {pyodide.COMMAND}")


@pytest.mark.slow
@pytest.mark.skipif(NODE is None, reason="no Node is installed")
def test_python_in_web_assembly_gives_the_reports_of_the_command_line(tmp_path):
    """Catches what another version of Python and a system without processes, locks and links read otherwise."""
    needs_python_for_the_browser()
    (tmp_path / "checked.mjs").write_text(CHECKED, encoding="utf-8")
    (tmp_path / "checker.zip").write_bytes(bundle())
    arguments = [tmp_path / "checked.mjs", PROJECT / pyodide.MADE, tmp_path / "checker.zip", *NOTEBOOKS]
    ran = subprocess.run([NODE, *map(str, arguments)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-2000:]
    reports = [json.loads(line) for line in ran.stdout.splitlines()]
    told = json.loads(checker(*NOTEBOOKS, "--format", "json").stdout)
    assert len(reports) >= 30
    assert reports == [report | {"name": Path(report["name"]).name} for report in told]


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """A running browser."""
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed")
    if DRIVER is None:
        pytest.skip("no chromedriver is installed")
    with browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture(scope="module")
def site(course_pages) -> Path:
    """The folder of the site, with Python for the browser."""
    needs_python_for_the_browser()
    return course_pages[0].parent


# Drops files, given as (name, bytes in base64), on the page, or chooses them; what it says when it is done.
HANDED = """
const [files, how] = arguments;
const handed = new DataTransfer();
for (const [name, text] of files) {
  handed.items.add(new File([Uint8Array.from(atob(text), (one) => one.charCodeAt(0))], name));
}
const form = document.querySelector(".check form");
const said = document.querySelector(".check .said");
said.textContent = "";
if (how === "drop") {
  form.dispatchEvent(new DragEvent("drop", { dataTransfer: handed, bubbles: true, cancelable: true }));
} else {
  form.elements.chosen.files = handed.files;
  form.elements.chosen.dispatchEvent(new Event("change"));
}
return new Promise((done) => {
  const look = setInterval(() => {
    if (!/(computer|below)\\.$/.test(said.textContent)) return;
    clearInterval(look);
    done(said.textContent);
  }, 50);
});
"""
REPORTS = """
return [...document.querySelectorAll(".check .report")].map((report) => ({
  name: report.querySelector("h2").lastChild.textContent,
  status: report.querySelector("h2 b").className,
  text: report.textContent,
  findings: [...report.querySelectorAll(".found > li > b")].map((one) => one.textContent),
  results: [...report.querySelectorAll(".results li")].map((one) => [one.className, one.querySelector("code").textContent]),
  sections: [...report.querySelectorAll(".report > .characters li")].map((one) => ({
    place: one.querySelector(".place").textContent,
    sizes: one.querySelector(".sizes").textContent,
    width: one.querySelector(".of-source").getBoundingClientRect().width,
  })),
}));
"""


def handed(shown, files: dict[str, bytes], how: str = "drop") -> str:
    return shown.run(HANDED, [[name, base64.b64encode(content).decode()] for name, content in files.items()], how)


def notebook(*added: dict) -> bytes:
    return json.dumps(GOOD | {"cells": [*GOOD["cells"], *added]}).encode()


TOO_LONG = notebook(code(f"x = '{'x' * 45_000}'"))
DEADLY = notebook(code("y = " + " + ".join(f"x{number}" for number in range(1200))))  # to the interpreter's stack


@pytest.mark.slow
def test_notebooks_are_checked_where_they_are_dropped(shown, site, tmp_path):
    """Catches a report that says other than the command line, a file that takes those after it along, a request."""
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.write(PROJECT / "notebooks" / "dots.ipynb", "class/dots.ipynb")
        archive.writestr("class/plot.png", b"x")
    blank = (PROJECT / "notebooks" / "student" / "dots.ipynb").read_bytes()
    files = {"class.zip": zipped.getvalue(), "broken.ipynb": b'{"cells": [', "long.ipynb": TOO_LONG}
    files |= {"deadly.ipynb": DEADLY, "<b>blank.ipynb": blank}
    with served(site) as address:
        shown.show(f"{address}/docs/check.html")
        said = handed(shown, files)
        assert said.startswith("1 of 5 notebooks passes. Checked in this page by checker"), said
        assert all(asked.removeprefix("blob:").startswith(address) for asked in shown.requests())
    good, broken, long, deadly, blank_one = shown.run(REPORTS)
    assert [(one["name"].strip(), one["status"]) for one in (good, broken, long, deadly, blank_one)] == [
        ("class.zip:class/dots.ipynb", "pass"),
        ("broken.ipynb", "unreadable"),
        ("long.ipynb", "fail"),
        ("deadly.ipynb", "unchecked"),
        ("<b>blank.ipynb", "fail"),
    ]
    (told,) = json.loads(checker("notebooks/dots.ipynb", "--format", "json", cwd=PROJECT).stdout)
    assert [kind for kind, _ in good["results"]] == ["right"] * told["checks_passed"]
    assert [section["place"].partition(":")[0] for section in good["sections"]] == [f"Cell {n}" for n in range(9)]
    widest = max(good["sections"], key=lambda section: section["width"])
    assert widest["place"].startswith("Cell 5") and widest["width"] > 20
    (tmp_path / "long.ipynb").write_bytes(TOO_LONG)
    (told,) = json.loads(checker("long.ipynb", "--format", "json", cwd=tmp_path).stdout)
    assert "error L001" in long["findings"] and f"{told['characters']:,} of 40,000" in long["text"]
    assert 'python -m checker "deadly.ipynb"' in deadly["text"]
    assert blank_one["findings"][0] == "error F001" and "and 4 others like it" in blank_one["text"]
    assert "class.zip:class/plot.png: not a notebook" in shown.run(
        "return document.querySelector('.reports').innerText;"
    )


@pytest.mark.slow
def test_what_takes_too_long_is_given_up(shown, site):
    """Catches a page that waits for ever, and one that has no interpreter afterwards."""
    with served(site) as address:
        shown.show(f"{address}/docs/check.html")
        shown.run("document.querySelector('.check').dataset.seconds = 0.001;")
        assert handed(shown, {"a.ipynb": notebook()}, "choose").startswith("The notebook was not checked.")
        (late,) = shown.run(REPORTS)
        assert "it took more than 0.001 seconds" in late["text"] and 'python -m checker "a.ipynb"' in late["text"]
        shown.run("document.querySelector('.check').dataset.seconds = 30;")
        assert handed(shown, {"a.ipynb": notebook()}, "choose").startswith("The notebook passes.")


@contextmanager
def elsewhere() -> Iterator[tuple[str, list[str]]]:
    """The address of another origin, and the paths that it was asked for."""
    asked = []

    class Counting(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.end_headers()

        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Counting) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


FETCHED = "return fetch(arguments[0]).then(() => 'sent', () => 'refused');"
# Put behind the worker's own script: what the worker tries, and Python inside it, is told on a channel.
PROBE = """
started.then(async ({ python }) => {
  const worker = await fetch("%(outside)s/worker").then(() => "sent", () => "refused");
  const code = "from pyodide.http import pyfetch\\ntry:\\n  await pyfetch('%(outside)s/python')\\n  told = 'sent'\\n"
    + "except Exception as error:\\n  told = 'refused'\\ntold";
  const inside = await python.runPythonAsync(code);
  const other = await new Promise((done) => {
    try {
      const made = new Worker(new URL("other.js", import.meta.url), { type: "module" });
      made.onmessage = () => done("sent");
      made.onerror = () => done("refused");
    } catch { done("refused"); }
  });
  new BroadcastChannel("probe").postMessage({ worker, python: inside, other });
});
"""
PROBED = """
const channel = new BroadcastChannel("probe");
return new Promise((done) => {
  channel.onmessage = ({ data }) => done(data);
  const handed = new DataTransfer();
  handed.items.add(new File(["{"], "x.ipynb"));
  document.querySelector(".check form").dispatchEvent(new DragEvent("drop", { dataTransfer: handed, bubbles: true, cancelable: true }));
});
"""


@pytest.mark.slow
def test_nothing_leaves_the_page(shown, site, tmp_path):
    """Catches a policy that the worker does not have: from page, worker, Python and a worker of the worker's own."""
    docs = tmp_path / "docs"
    shutil.copytree(site / "docs" / "check", docs / "check")
    shutil.copyfile(site / "docs" / "check.html", docs / "check.html")
    (tmp_path / "plain.html").write_text("<p>Without a policy.</p>", encoding="utf-8")
    worker = docs / "check" / "worker.js"
    with elsewhere() as (outside, asked), served(tmp_path) as address:
        worker.write_text(worker.read_text(encoding="utf-8") + PROBE % {"outside": outside}, encoding="utf-8")
        other = f"fetch('{outside}/other').then(() => postMessage(1));"
        (docs / "check" / "other.js").write_text(other, encoding="utf-8")
        shown.show(f"{address}/plain.html")
        assert shown.run(FETCHED, f"{outside}/plain") == "sent"  # so that a refusal is the policy's
        assert urllib.request.urlopen(f"{outside}/control").status == 200
        shown.show(f"{address}/docs/check.html")
        assert shown.run(FETCHED, f"{outside}/page") == "refused"
        assert shown.run(PROBED) == {"worker": "refused", "python": "refused", "other": "refused"}
        assert asked == ["/plain", "/control"]


def test_the_page_is_whole_without_python_for_the_browser(tmp_path, monkeypatch):
    """Catches a place to drop files on that can only fail, and a page that does not say what to do instead."""
    assert pyodide.files(tmp_path) == []
    text = checking.place(tmp_path, [])
    assert "<form" not in text and pyodide.COMMAND in text and "#on-your-own-computer" in text
    checking.put_beside(tmp_path / "check.html", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_page_of_quartos_gets_the_policy(tmp_path):
    """Catches the one engine under which a notebook's text could leave: its pages bring no policy of their own."""
    source = Path("docs") / "check.qmd"
    page = tmp_path / "docs" / "check.html"
    page.parent.mkdir()
    page.write_text("<html><head><title>x</title></head><body></body></html>", encoding="utf-8")
    finish(tmp_path, tmp_path, Website("x", "", [source]))
    (policy,) = re.findall('<head>\n<meta http-equiv="Content-Security-Policy" content="(.*?)">', page.read_text())
    assert policy.startswith("default-src 'none';") and "connect-src 'self'; worker-src blob:;" in policy


@pytest.mark.slow
def test_from_disk_the_page_says_that_it_needs_a_server(shown, site):
    """Catches a place to drop files on that can only fail."""
    shown.show((site / "docs" / "check.html").as_uri())
    said = "return [document.querySelector('.check .said').textContent, document.querySelector('.check form').hidden];"
    sentence, hidden = shown.run(said)
    assert hidden and "http.server" in sentence


@pytest.mark.slow
def test_reports_fit_every_screen_and_leave_nobody_out(shown, site):
    """Catches a bar wider than a phone, words too pale in the dark."""
    blank = (PROJECT / "notebooks" / "student" / "dots.ipynb").read_bytes()
    with served(site) as address:
        for width, dark in LOOKS:
            page = f"{address}/docs/check.html"
            assert_fits(shown, page, width, dark)
            handed(shown, {"blank.ipynb": blank, "long.ipynb": TOO_LONG})
            shown.run("for (const fold of document.querySelectorAll('.check details')) fold.open = true;")
            assert shown.run("return document.documentElement.scrollWidth <= innerWidth;"), width
            if AXE.is_file():
                shown.run(f"{AXE.read_text(encoding='utf-8')}; return 1;")
                assert shown.run(SERIOUS) == [], (width, dark)
