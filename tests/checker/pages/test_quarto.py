"""Quarto: what it is given, what is done with what it returns, and the site with it and without."""

import base64
import html
import json
import os
import re
import sys
from itertools import takewhile
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from checker.__main__ import app
from checker.pages import quarto
from checker.pages.rendering import render
from checker.pages.sanitise import arranged, no_picture
from checker.reading.notebook import Unreadable
from checker.reading.website import website
from checker.site.finish import finish
from tests.checker.conftest import code, markdown
from tests.checker.pages.test_rendering import listed, picture

# Stands in for Quarto 1.7.34: it writes what it was given and the environment beside itself, and a page as Quarto does,
# with `<main>` around the cells. It shows nothing of how Quarto reads Markdown, options and shortcodes.
STAND_IN = f"""#!/bin/sh
exec '{sys.executable}' - "$0" "$*" <<'END'
import html, json, os, sys
beside, arguments = sys.argv[1:]
given = json.load(open("notebook.ipynb"))
json.dump({{"arguments": arguments, "given": given, "environment": dict(os.environ)}}, open(beside + ".json", "w"))
shown = ["<header id='title-block-header'></header>", "<script>alert(1)</script>"]
for cell in given["cells"][1:]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        shown.append(source.removeprefix("```{{=html}}").removesuffix("```"))
        continue
    shown.append("<div class=cell><details class=code-fold><summary>Code</summary>" + html.escape(source) + "</details>")
    shown += [output["data"].get("text/html", "") for output in cell["outputs"]]
    shown.append("</div>")
page = "<!DOCTYPE html><html><head></head><body><main>" + "\\n".join(shown) + "</main></body></html>"
open("notebook.html", "w").write(page)
END
"""


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Put a program called quarto first on the PATH."""

    def put(script: str):
        quarto = tmp_path / "bin" / "quarto"
        quarto.parent.mkdir()
        quarto.write_text(script)
        quarto.chmod(0o755)
        monkeypatch.setenv("PATH", f"{quarto.parent}{os.pathsep}{os.environ['PATH']}")

    return put


def seen(tmp_path) -> dict:
    """The arguments that the stand-in was called with."""
    return json.loads((tmp_path / "bin" / "quarto.json").read_text())


DANGEROUS = [
    "{{< env COURSE_SECRET >}}",
    "{{< include /etc/passwd >}}",
    "[x](&#123;&#123;< env COURSE_SECRET >}})",
    '<img src="/etc/passwd"><iframe src="file:///etc/passwd"></iframe>',
    "![x](http://127.0.0.1/x.png)",
    "---\nfilters: [evil.lua]\nexecute:\n  enabled: true\n---",
    "---\na line between two rules\n---",
    "::: {.content-hidden}\nhidden\n:::",
]


def test_a_picture_behind_a_text_keeps_its_caption(good, save, tmp_path, stand_in):
    """Catches words that are handed to the output before the picture: Quarto counts every output."""
    stand_in(STAND_IN)
    cell = picture('#| fig-cap: "Reward"\n#| fig-alt: "A curve"\n# Cell 6: Loop')
    cell["outputs"].insert(0, {"output_type": "stream", "name": "stdout", "text": "step 1"})
    good["cells"].append(cell)
    render(save(good), tmp_path / "out", "quarto")
    shown = [cell for cell in seen(tmp_path)["given"]["cells"] if len(cell.get("outputs", [])) == 2][-1]
    kinds = [set(output["data"]) for output in shown["outputs"]]
    assert kinds == [{"text/html"}, {"image/png"}]
    for name in ("fig-cap", "fig-alt"):
        (line,) = [line for line in shown["source"] if line.startswith(f"#| {name}: ")]
        before, of_picture = json.loads(line.partition(": ")[2])
        assert before == "" and of_picture


@pytest.mark.parametrize("text", DANGEROUS)
def test_quarto_sees_nothing_that_it_would_act_on(good, save, tmp_path, stand_in, text):
    """Catches a secret or a file that leaves while rendering: in Markdown, outputs, options, titles and code."""
    stand_in(STAND_IN)
    option = json.dumps(text)
    odd = picture(f"#| fig-cap: {option}\n#| output: asis\n# Cell 3: {text.splitlines()[0]}\n# | include: false")
    rich = code("show()", text)
    rich["outputs"] += [
        {"output_type": "display_data", "metadata": {}, "data": {"text/html": text}},
        {
            "output_type": "display_data",
            "metadata": {},
            "data": {"text/markdown": text, "application/javascript": text},
        },
        {"output_type": "error", "ename": text, "evalue": text, "traceback": [text]},
    ]
    good["metadata"]["widgets"] = {"x": text}
    good["cells"] += [markdown(text), markdown(f"# {text}"), odd, rich]
    render(save(good), tmp_path / "out", "quarto")
    given = seen(tmp_path)["given"]
    written = [cell for cell in given["cells"][1:] if cell["cell_type"] == "markdown"]
    assert all(
        re.fullmatch("```{=html}\n<div>\ue000\\d+\ue001</div>\n```", "".join(cell["source"])) for cell in written
    )
    sources = [cell["source"] for cell in given["cells"] if cell["cell_type"] == "code"]
    options = [line for lines in sources for line in takewhile(re.compile(r"\s*#\s*\|").match, lines)]
    assert all(
        re.fullmatch('#\\| (code-summary|fig-cap|fig-alt): [\\[", \ue000\ue001\\d\\]]+\n', line) for line in options
    )
    assert "{{<" not in json.dumps(sources)
    outputs = [output for cell in given["cells"] for output in cell.get("outputs", [])]
    assert {kind for output in outputs for kind in output["data"]} == {"text/html", "image/png"}
    assert all(
        re.fullmatch("<div>\ue000\\d+\ue001</div>", output["data"]["text/html"])
        for output in outputs
        if "text/html" in output["data"]
    )
    assert set(given["metadata"]) == {"kernelspec"}


def test_quarto_sees_no_environment_and_executes_nothing(good, save, tmp_path, stand_in, monkeypatch):
    monkeypatch.setenv("COURSE_SECRET", "x")
    stand_in(STAND_IN)
    path = save(good)
    before = path.read_bytes()
    render(path, tmp_path / "out", "quarto")
    assert seen(tmp_path)["arguments"] == "render notebook.ipynb --to html --no-execute"
    assert "COURSE_SECRET" not in seen(tmp_path)["environment"]
    assert path.read_bytes() == before


def test_the_header_keeps_its_lines(good, save, tmp_path, stand_in):
    """Catches a source that is one string: Quarto drops its line breaks, and prints the header on the page."""
    stand_in(STAND_IN)
    render(save(good), tmp_path / "out", "quarto")
    source = seen(tmp_path)["given"]["cells"][0]["source"]
    assert source[0] == "---\n" and source[-1] == "---" and len(source) == 3


def test_the_page_by_quarto_is_the_same_page(good, save, tmp_path, stand_in):
    """Catches a page by Quarto without verdict, findings, form and policy, or with what a notebook's HTML says."""
    stand_in(STAND_IN)
    path = save(good)
    text = render(path, tmp_path / "out", "quarto").read_text()
    plain = render(path, tmp_path / "plain", "builtin").read_text()
    assert listed(text) == listed(plain) and text.split("<main")[0] == plain.split("<main")[0]
    assert "reward 0.250 → 0.970" in text and text.count('id="save-grades"') == 1
    assert "alert(1)" not in text and text.count("<script>") == 1
    assert "baseline reward 0.250" in text and "\ue000" not in text and "\ue001" not in text


def test_quarto_is_asked_for_folded_code_and_for_nothing_of_its_own(good, save, tmp_path, stand_in):
    """Catches a key that Quarto does not know: it says nothing, and makes a page with open code in a theme of its own."""
    stand_in(STAND_IN)
    render(save(good), tmp_path / "out", "quarto")
    given = seen(tmp_path)["given"]
    header = yaml.safe_load("".join(given["cells"][0]["source"]).strip("-"))
    asked = header["format"]["html"]
    assert asked["code-fold"] is True and asked["minimal"] is True
    assert not asked["toc"] and not asked["code-copy"] and not asked["fig-responsive"]
    assert asked["theme"] == asked["html-table-processing"] == "none"
    assert header["jupyter"] == given["metadata"]["kernelspec"]["name"]
    assert header["title"]  # else Quarto takes the name of the file, and warns


@pytest.mark.parametrize(
    "name", ["HOME", "TMPDIR", "TEMP", "LANG", "XDG_CACHE_HOME", "XDG_DATA_HOME", "DENO_DIR", "APPDATA", "COMSPEC"]
)
def test_quarto_finds_its_own_files(good, save, tmp_path, stand_in, monkeypatch, name):
    """Catches a Quarto that cannot keep what it compiles, or find its shell, where a system has them elsewhere."""
    monkeypatch.setenv(name, str(tmp_path))
    stand_in(STAND_IN)
    render(save(good), tmp_path / "out", "quarto")
    assert seen(tmp_path)["environment"][name] == str(tmp_path)


DRAWING = '<svg xmlns="http://www.w3.org/2000/svg"></svg>'


def test_what_quarto_does_not_see_is_on_its_page_nevertheless(good, save, tmp_path, stand_in):
    """Catches headings, places of figures, drawings and text outputs that are lost on the way through Quarto."""
    stand_in(STAND_IN)
    drawn = code("#| label: fig-a\n#| fig-cap: Drawn\n# Cell 7: Evaluation\nplot()", "before\n")
    shown = {"output_type": "display_data", "metadata": {}, "data": {"image/svg+xml": DRAWING, "text/plain": "x"}}
    good["cells"][7] = drawn | {"outputs": [*drawn["outputs"], shown]}
    text = render(save(good), tmp_path / "out", "quarto").read_text(encoding="utf-8").partition("<main")[2]
    encoded = base64.b64encode(DRAWING.encode()).decode()
    assert re.findall('<h2 id="section-(\\d)"', text) == [str(number) for number in range(9)]
    assert re.findall('<a id="cell-(\\d)"', text) == [str(number) for number in range(9)]
    assert '<pre class="stream">before</pre>' in text
    assert f'src="data:image/svg+xml;base64,{encoded}"' in text and 'alt="Drawn"' in text
    assert "<figcaption>Figure 1: Drawn</figcaption>" in text and text.count('id="fig-a"') == 1


# Writes a page with pictures: one of its own, one elsewhere, one that is a link, one that is not there, of bytes that
# are no UTF-8 among them.
WITH_PICTURES = """#!/bin/sh
mkdir -p notebook_files/figure-html
printf PIXEL > notebook_files/figure-html/a.png
printf PIXEL > notebook_files/figure-html/b.jpg
printf SECRET > secret.png
ln -s ../../secret.png notebook_files/figure-html/c.png
mkdir notebook_files/figure-html/d.png
printf '<body><main>\\377<p>whole</p>' > notebook.html
for name in a.png b.jpg c.png d.png e.png ../../secret.png; do
  printf '<img src="notebook_files/figure-html/%s">' $name >> notebook.html
done
printf '<img src="secret.png"></main></body>' >> notebook.html
"""


def test_only_pictures_that_quarto_made_are_on_its_page(good, save, tmp_path, stand_in):
    """Catches a file of the machine that is put into a page as a picture, and a picture of Quarto's that is not."""
    stand_in(WITH_PICTURES)
    text = render(save(good), tmp_path / "out", "quarto").read_text(encoding="utf-8").partition("<main")[2]
    pixel = base64.b64encode(b"PIXEL").decode()
    shown = re.findall("<img[^>]*>", text)
    assert shown == [f'<img src="data:image/{kind};base64,{pixel}">' for kind in ("png", "jpeg")] + ["<img>"] * 5
    assert "<p>whole</p>" in text


# As Quarto 1.7.34 writes it for a header that is not YAML.
YAML_ERROR = """
\x1b[91mERROR: YAMLException: a multiline key may not be an implicit key (5:1)

 2 | title: x
-----^

Stack trace:
    at generateError (file:///quarto/js-yaml.js:928:10)\x1b[39m
"""


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (
            f"cat >&2 <<'END'\n{YAML_ERROR}\nEND\nexit 1",
            "YAMLException: a multiline key may not be an implicit key (5:1)",
        ),
        ("echo 'pandoc' >&2\necho 'ERROR (x.lua:3) no such file' >&2\nexit 83", "(x.lua:3) no such file"),
        ("exit 3", "it ended with status 3"),
        ("kill -SEGV $$", "it ended with status -11"),
        ("exit 0", "it made no page"),
        ("echo '<p>x</p>' > notebook.html", "it made a page without content"),
    ],
)
def test_where_quarto_fails_there_is_the_built_in_page_and_why(good, save, tmp_path, stand_in, script, said):
    """Catches a report that is lost with Quarto, and the tail of a stack trace in place of the cause."""
    stand_in(f"#!/bin/sh\n{script}\n")
    notes = []
    text = render(save(good), tmp_path / "out", "quarto", say=notes.append).read_text()
    assert notes == [f"Quarto could not show this notebook: {said}. This is the built-in page."]
    assert html.escape(notes[0]) in text and "<summary>Code <small>" in text


def test_a_quarto_that_takes_for_ever_ends_with_its_children(good, save, tmp_path, stand_in, monkeypatch):
    """Catches a time-out that ends the shell script and leaves the program below it running."""
    monkeypatch.setattr(quarto, "PATIENCE", 1)
    stand_in(f"#!/bin/sh\nsleep 600 &\necho $! > '{tmp_path}/child'\nwait\n")
    text = render(save(good), tmp_path / "out", "quarto").read_text()
    assert "it took longer than 1 s" in text
    child = int((tmp_path / "child").read_text())
    status = Path(f"/proc/{child}/stat")
    assert not status.exists() or status.read_text().split(") ")[1].startswith("Z")


def test_only_the_courses_own_notebooks_go_to_quarto_unasked(good, save, tmp_path, stand_in):
    stand_in(STAND_IN)
    path = save(good)
    render(path, tmp_path / "out")
    assert not (tmp_path / "bin" / "quarto.json").exists()
    ours = Path(__file__).parents[3] / "notebooks" / "dots.ipynb"
    render(path, tmp_path / "out", origin=ours)
    assert (tmp_path / "bin" / "quarto.json").exists()


def test_without_quarto_asking_for_it_is_answered(good, save, tmp_path, monkeypatch):
    monkeypatch.setattr(quarto, "program", lambda: None)
    with pytest.raises(Unreadable, match="Quarto is not installed"):
        render(save(good), tmp_path / "out", "quarto")


def test_a_quarto_that_pip_installed_is_found(tmp_path, monkeypatch):
    """Catches the module `quarto_cli` being run, which has no `__main__`, and an environment that must be active."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    monkeypatch.setenv("PATH", str(tmp_path / "nothing here"))
    assert quarto.program() is None
    beside = tmp_path / "bin" / "quarto"
    beside.parent.mkdir()
    beside.write_text(STAND_IN)
    beside.chmod(0o755)
    assert quarto.program() == str(beside)


def test_the_site_is_made_by_a_quarto_that_pip_installed(tmp_path, stand_in, monkeypatch):
    """Catches `make site` that never sees what the README says to install, or ends without Quarto's search."""
    stand_in(f'#!/bin/sh\necho "quarto $*" > "{tmp_path}/called"\n')
    project = tmp_path / "course"
    project.mkdir()
    (project / "_quarto.yml").write_text("website: {title: Course, sidebar: {contents: [index.qmd]}}\n")
    (project / "index.qmd").write_text("# Course\n")
    monkeypatch.chdir(project)
    for written in ("pieces", "cell_words"):  # what they write is of the course's own pages
        monkeypatch.setattr(f"checker.site.{written}.write_for_quarto", lambda *_: None)
    found = CliRunner().invoke(app, ["site"])
    assert found.exit_code == 0, found.output
    assert (tmp_path / "called").read_text() == "quarto render\n"
    makefile = (Path(__file__).parents[3] / "Makefile").read_text()
    assert "\n\t@$(RUN) -m checker site\n" in makefile


def test_quarto_finds_nothing_to_add_to_what_git_ignores():
    """Catches `quarto render` changing a tracked file: it appends the lines that it does not find word for word."""
    ignored = (Path(__file__).parents[3] / ".gitignore").read_text().splitlines()
    assert {"/.quarto/", "**/*.quarto_ipynb"} <= set(ignored)


def test_notebooks_of_the_site_keep_their_lines_apart():
    """Catches a source saved as one string: Quarto drops its line breaks, and prints the header on the page."""
    for path in sorted((Path(__file__).parents[3] / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        whole = [number for number, cell in enumerate(cells) if isinstance(cell["source"], str)]
        assert not whole, f"{path.name}, cells {whole}: save it from JupyterLab, or by `checker report --in-place`"


def test_no_theme_of_the_site_asks_for_a_font():
    """Catches a theme without the line that keeps it from importing fonts from elsewhere."""
    project = Path(__file__).parents[3]
    settings = yaml.safe_load((project / "_quarto.yml").read_text())
    for layers in settings["format"]["html"]["theme"].values():
        styles = "".join((project / layer).read_text() for layer in layers if layer.endswith(".scss"))
        assert "$web-font-path: false;" in styles


def test_a_page_of_quartos_site_is_finished_as_ours_are(tmp_path):
    """Catches scripts from elsewhere that Quarto adds, and Quarto's pages without links, openings and files."""
    project = Path(__file__).parents[3]
    page = tmp_path / "notebooks" / "dots.html"
    page.parent.mkdir()
    page.write_text(
        '<html><head><script src="https://example.org/require.min.js" integrity="x"></script>'
        """<script type="application/javascript">define('jquery', [],function() {return window.jQuery;})</script>"""
        '<script src="../site_libs/quarto.js"></script></head><body>'
        '<main class="content" id="quarto-document-content"><header id="title-block-header"><h1>Dots</h1></header><p>An advantage.</p></main></body></html>',
        encoding="utf-8",
    )
    finish(project, tmp_path, website(project))
    made = page.read_text(encoding="utf-8")
    assert "example.org" not in made and "define(" not in made and "site_libs/quarto.js" in made
    assert '<a class="term" href="../docs/glossary.html#advantage">advantage</a>' in made
    assert made.index("</header>") < made.index("Open it:") < made.index("An <a")
    assert (tmp_path / "files" / "dots-blank.ipynb").is_file()


def test_an_id_that_comes_through_quarto_is_none_of_the_pages_own():
    """Catches a stranger's heading, of which Quarto makes an id, in the place of the form or of a button of the page."""
    shown = arranged('<p id="cell-3">a</p><h2 id="rubric">b</h2><p id="cell-x">c</p>', no_picture)
    assert 'id="cell-3"' in shown and "rubric" not in shown and "cell-x" not in shown
