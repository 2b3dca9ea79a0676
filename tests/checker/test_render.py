"""The page: everything in it, nothing from elsewhere, nothing that runs."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from checker.notebook import Unreadable
from checker.pages import quarto
from checker.pages.site import render
from tests.checker.conftest import code, markdown

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="


@pytest.fixture
def page(good, save, tmp_path):
    def make(*extra_cells) -> str:
        good["cells"] += extra_cells
        return render(save(good), tmp_path / "out", "builtin").read_text()

    return make


def test_code_is_folded_and_sections_are_listed(page):
    text = page()
    assert text.count("<details><summary>Code") == 6
    contents = re.findall(r'<li><a href="#([^"]+)">([^<]+)</a>', text.split("</nav>")[0])
    assert [title[:6] for _, title in contents] == [*(f"Cell {n}" for n in range(1, 9)), "Rubric"]
    assert all(f'id="{anchor}"' in text for anchor, _ in contents)


def test_mathematics_needs_no_network(page):
    text = page(markdown("Inline $x_1 < 2$ and\n\n$$\\frac{a}{b}$$\n\nbut not `$y$` or $5 and $6."))
    assert text.count("<math") == 2 and "<mfrac>" in text
    assert "$y$" in text and "$5 and $6" in text
    assert "mathjax" not in text.lower()


def test_figures_are_in_the_page(page):
    cell = code("plot()")
    cell["outputs"] = [
        {
            "output_type": "display_data",
            "metadata": {},
            "data": {"image/png": PIXEL, "text/plain": "<Figure>"},
        }
    ]
    assert f'src="data:image/png;base64,{PIXEL}"' in page(cell)


def test_the_verdict_and_the_rewards_are_on_the_page(page):
    text = page()
    assert "of 40,000 characters" in text and "reward 0.250 → 0.970" in text


HOSTILE = [
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    '<img src="https://example.com/track.png">',
    '<iframe src="https://example.com"></iframe>',
    '<a href="javascript:alert(1)">click</a>',
    "<svg onload=alert(1)></svg>",
    "<style>@import 'https://example.com/x.css';</style>",
    '<form action="https://example.com"><input></form>',
    "<math><mtext><img src=x onerror=alert(1)></mtext></math>",
    '<object data="https://example.com"></object><embed src="https://example.com">',
    '<div style="background:url(https://example.com)">x</div>',
    "$\\text{<script>alert(1)</script>}$",
    '<meta http-equiv="refresh" content="0;url=https://example.com">',
    '<base href="https://example.com">',
]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_notebook_holds_cannot_act(page, text):
    """In Markdown, in HTML and text output, in an error, in a title, in a heading."""
    rich = code("show()")
    rich["outputs"] = [
        {"output_type": "display_data", "metadata": {}, "data": {"text/html": text, "text/plain": text}},
        {"output_type": "display_data", "metadata": {}, "data": {"text/markdown": text}},
        {"output_type": "display_data", "metadata": {}, "data": {"image/png": f'x" onerror="{text}'}},
        {"output_type": "stream", "name": "stdout", "text": text},
        {"output_type": "error", "ename": text, "evalue": text, "traceback": [text]},
    ]
    html = page(markdown(text), markdown(f"# {text}"), code(f"# Cell 3: {text}"), rich)
    tags = re.findall(r"<[a-zA-Z][^>]*>", html)
    body = [tag for tag in tags if not tag.startswith("<meta")]
    assert not [tag for tag in body if re.match(r"<(iframe|svg|object|embed|form|input|base|link)\b", tag)]
    assert not [tag for tag in body if re.search(r"\son\w+\s*=", tag) or "javascript:" in tag]
    assert not [tag for tag in body if re.search(r"src=\"(?!data:image/)", tag) or "style=" in tag]
    assert body.count("<script>") == 1 and "script-src 'sha256-" in html
    assert [tag for tag in body if re.match(r"<(input|script)", tag)] == ["<script>"]
    assert html.count("<meta http-equiv") == 1 and "default-src 'none'" in html
    assert html.count("<style>") == 1 and "@import" not in html.split("</style>")[0]


def test_the_notebook_is_only_read(good, save, tmp_path):
    path = save(good)
    before = path.read_bytes()
    render(path, tmp_path, "builtin")
    assert path.read_bytes() == before


STAND_IN = """#!/bin/sh
printf '%s' "<html><head><title>x</title></head><body>$*" > notebook.html
cat notebook.ipynb >> notebook.html
echo '<meta HTTP-EQUIV="refresh" content="0;url=https://example.com"></body></html>' >> notebook.html
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


def test_quarto_gets_a_copy_and_does_not_execute_it(good, save, tmp_path, stand_in):
    """A stand-in for Quarto whose page shows how it was called and what it was given."""
    good["cells"][0]["source"] = (
        "---\nfilters: [evil.lua]\nformat:\n  html:\n    code-fold: true\njupyter: python3\n---"
    )
    stand_in(STAND_IN)
    path = save(good)
    before = path.read_bytes()
    text = render(path, tmp_path / "out", "auto").read_text()
    assert "render notebook.ipynb --to html --no-execute" in text
    assert "evil.lua" not in text and "mathml" in text and "embed-resources" in text
    assert "## Cell 4: Reward function {#cell-4}" in text
    assert path.read_bytes() == before


def test_a_page_of_quartos_is_under_our_policy_and_ends_with_the_rubric(good, save, tmp_path, stand_in):
    """Its scripts and a notebook's own do not run, it cannot fetch or go elsewhere, and the form is at its
    end.
    """
    stand_in(STAND_IN)
    text = render(save(good), tmp_path / "out", "quarto").read_text()
    assert re.match(r"<html><head><meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'", text)
    assert len(re.findall(r"(?<!data-)http-equiv", text, re.IGNORECASE)) == 1
    assert text.index('id="save-grades"') < text.index("<script>") < text.index("</body>")


def test_a_quarto_that_fails_is_quoted(good, save, tmp_path, stand_in):
    stand_in("#!/bin/sh\necho 'no such format' >&2\nexit 1\n")
    with pytest.raises(Unreadable, match="no such format"):
        render(save(good), tmp_path / "out", "quarto")


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


def test_the_site_is_made_by_a_quarto_that_pip_installed(tmp_path):
    """Catches `make site` looking on the PATH alone, and so never seeing what the README says to install."""
    shutil.copy(Path(__file__).parents[2] / "Makefile", tmp_path)
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "quarto").write_text('#!/bin/sh\necho "quarto $*"\n')
    (programs / "quarto").chmod(0o755)
    for name in ("requirements.txt", "pyproject.toml", ".venv/installed"):
        (tmp_path / name).touch()
    command = [shutil.which("make"), "-C", str(tmp_path), "--no-print-directory", "site"]
    elsewhere = os.environ | {"PATH": str(tmp_path / "nothing here")}
    done = subprocess.run(command, capture_output=True, text=True, env=elsewhere)
    assert done.stdout == "quarto render\n", done.stderr
