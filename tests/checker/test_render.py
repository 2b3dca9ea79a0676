"""The page: everything in it, nothing from elsewhere, nothing that runs."""

import os
import re

import pytest

from checker import render as renderer
from checker.notebook import Unreadable
from checker.render import render
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
    assert [title[:6] for _, title in contents] == [f"Cell {n}" for n in range(1, 9)]
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


def test_quarto_gets_a_copy_and_does_not_execute_it(good, save, tmp_path, monkeypatch):
    """A stand-in for Quarto that writes down how it was called."""
    quarto = tmp_path / "bin" / "quarto"
    quarto.parent.mkdir()
    quarto.write_text(
        '#!/bin/sh\necho "$@" > ../called.txt 2>/dev/null || true\necho "<html>$@</html>" > notebook.html\n'
    )
    quarto.chmod(0o755)
    monkeypatch.setenv("PATH", f"{quarto.parent}{os.pathsep}{os.environ['PATH']}")
    path = save(good)
    made = render(path, tmp_path / "out", "auto")
    assert made.name == "notebook.html"
    assert "render notebook.ipynb --to html --no-execute" in made.read_text()
    assert "html-math-method:mathml" in made.read_text()


def test_a_quarto_that_fails_is_quoted(good, save, tmp_path, monkeypatch):
    quarto = tmp_path / "quarto"
    quarto.write_text("#!/bin/sh\necho 'no such format' >&2\nexit 1\n")
    quarto.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(Unreadable, match="no such format"):
        render(save(good), tmp_path / "out", "quarto")


def test_without_quarto_asking_for_it_is_answered(good, save, tmp_path, monkeypatch):
    monkeypatch.setattr(renderer, "quarto_command", lambda: None)
    with pytest.raises(Unreadable, match="Quarto is not installed"):
        render(save(good), tmp_path / "out", "quarto")
