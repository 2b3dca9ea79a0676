"""Pages of hostile notebooks in a real browser: no script of theirs runs, and nothing connects anywhere.

What hostile ones try to reach is a port of this machine at which the test listens, so that a connection is seen even
when nothing is asked for. A page without any protection shows that both kinds of harm would be noticed.
"""

import json
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from checker.checking.check import check
from checker.pages.rendering import index, render
from tests.checker.browser import CHROMIUM
from tests.checker.conftest import code, markdown

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")]

RAN = "it-ran"
ACT = f"document.documentElement.className='{RAN}';new Image().src='URL/script';fetch('URL/fetch')"
HOSTILE = [
    f"<script>{ACT}</script>",
    f'<img src="x" onerror="{ACT}">',
    (f'<svg xmlns="http://www.w3.org/2000/svg" onload="{ACT}"><script>{ACT}</script><image href="URL/svg"/></svg>'),
    f'<a href="javascript:{ACT}" id="target" autofocus onfocus="{ACT}">click</a>',
    f'<details open ontoggle="{ACT}"><summary>x</summary></details>',
    f'<iframe src="javascript:{ACT}"></iframe>',
    f'<iframe srcdoc="<script>parent.{ACT}</script>"></iframe>',
    f"<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=x onerror={ACT}&gt;'>",
    f"<noscript><p title='</noscript><img src=x onerror={ACT}>'>",
    f'<object data="data:text/html,<script>{ACT}</script>"></object>',
    '<img src="URL/picture"><img srcset="URL/set 1x"><picture><source srcset="URL/source"></picture>',
    ('<link rel="stylesheet" href="URL/link"><link rel="preconnect" href="URL"><link rel="prefetch" href="URL/pre">'),
    (
        "<style>@import 'URL/import'; @font-face{font-family:f;src:url(URL/font)}"
        " *{font-family:f;background:url(URL/bg)}</style>"
    ),
    ('<div style="background:url(URL/style);width:9px;height:9px">x</div><table background="URL/table"><td>x</table>'),
    ('<meta http-equiv="refresh" content="0;url=URL/refresh"><META HTTP-EQUIV=refresh content="0;url=URL/refresh">'),
    '<form action="URL/form" id="f"><input name="x" autofocus></form><base href="URL/">',
    '<iframe src="URL/frame"></iframe><embed src="URL/embed"><object data="URL/object"></object>',
    '<video src="URL/video" poster="URL/poster" autoplay></video><audio src="URL/audio" autoplay></audio>',
    "![picture](URL/markdown) [link](javascript:alert(1)) [data](data:text/html,x)",
    "$\\text{<img src=URL/formula>}$",
]


@pytest.fixture
def listener():
    """(an address of this machine, the first bytes of each connection to it)."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def listen():
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.settimeout(1)
                    try:
                        heard.append(connection.recv(200))
                    except OSError:
                        heard.append(b"a connection only")

        threading.Thread(target=listen, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}", heard
        server.shutdown(socket.SHUT_RDWR)


def opened(page: Path, profile: Path) -> str:
    """The document as it is after a browser has shown the page for five seconds of the page's own time."""
    done = subprocess.run(
        [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
            f"--user-data-dir={profile}", "--virtual-time-budget=5000", "--dump-dom", page.as_uri(),
        ],
        capture_output=True, text=True, errors="replace", timeout=120,
    )  # fmt: skip
    assert "</html>" in done.stdout, done.stderr[-500:]
    return done.stdout


@pytest.fixture
def hostile(good, tmp_path, listener):
    """A notebook that tries everything, everywhere; its name too."""
    texts = [text.replace("URL", listener[0]) for text in HOSTILE]
    for text in texts:
        rich = code("show()")
        rich["outputs"] = [
            {"output_type": "display_data", "metadata": {}, "data": {"text/html": text, "text/plain": text}},
            {"output_type": "display_data", "metadata": {}, "data": {"text/markdown": text}},
            {"output_type": "display_data", "metadata": {}, "data": {"image/svg+xml": text}},
            {"output_type": "display_data", "metadata": {}, "data": {"application/javascript": text}},
            {"output_type": "stream", "name": "stdout", "text": text},
            {"output_type": "error", "ename": text, "evalue": text, "traceback": [text]},
        ]
        good["cells"] += [markdown(text), markdown(f"# {text}"), code(f"# Cell 3: {text}"), rich]
    good["cells"].insert(1, markdown(f"title: {texts[0]}"))
    path = tmp_path / '"><img src=x onerror=alert(1)>.ipynb'
    path.write_text(json.dumps(good), encoding="utf-8")
    return path


def harm(page: Path, listener, tmp_path: Path) -> set[str]:
    """The harm that the page did: "script", "network", or none."""
    dom = opened(page, tmp_path / "profile")
    said = {"network"} if listener[1] else set()
    return said | ({"script"} if f'class="{RAN}"' in dom.split("<head", 1)[0] else set())


def test_both_kinds_of_harm_would_be_noticed(tmp_path, listener):
    page = tmp_path / "bare.html"
    page.write_text(f"<!DOCTYPE html><html><body>{HOSTILE[0].replace('URL', listener[0])}</body></html>")
    assert harm(page, listener, tmp_path) == {"script", "network"}


def test_a_connection_alone_would_be_noticed(tmp_path, listener):
    page = tmp_path / "bare.html"
    page.write_text(f'<!DOCTYPE html><html><head><link rel="preconnect" href="{listener[0]}"></head></html>')
    assert harm(page, listener, tmp_path) == {"network"}


def test_a_page_does_no_harm(hostile, tmp_path, listener):
    page = render(hostile, tmp_path / "out", "builtin")
    assert harm(page, listener, tmp_path) == set(), listener[1]


def test_the_index_does_no_harm(hostile, tmp_path, listener):
    page = tmp_path / "index.html"
    page.write_text(index([(check(hostile), f"{listener[0]}/x.html")]), encoding="utf-8")
    assert harm(page, listener, tmp_path) == set(), listener[1]


# A line of a script that names an interpreter cannot hold a space, as the path of this one may: hence the shell.
CARELESS = f"""#!/bin/sh
exec '{sys.executable}' - <<'END'
# Stands in for a Quarto that lets through what it is given, and adds what a notebook might have made it write.
import json
held = HELD
for cell in json.load(open("notebook.ipynb"))["cells"]:
    held.append("".join(cell["source"]))
    for output in cell.get("outputs", []):
        held += map("".join, output.get("data", {{}}).values())
page = "<!DOCTYPE html><html><head><title>x</title></head><body><main>" + "\\n".join(held) + "</main></body></html>"
open("notebook.html", "w").write(page)
END
"""


def test_a_page_that_quarto_made_carelessly_does_no_harm(hostile, tmp_path, listener, monkeypatch):
    """Catches trust in what Quarto returns: whatever it lets through, sanitising and the page's policy hold."""
    quarto = tmp_path / "bin" / "quarto"
    quarto.parent.mkdir()
    quarto.write_text(CARELESS.replace("HELD", repr([text.replace("URL", listener[0]) for text in HOSTILE])))
    quarto.chmod(0o755)
    monkeypatch.setattr("checker.pages.quarto.program", lambda: str(quarto))
    page = render(hostile, tmp_path / "out", "quarto")
    assert "Quarto could not show" not in page.read_text(encoding="utf-8")
    assert harm(page, listener, tmp_path) == set(), listener[1]
