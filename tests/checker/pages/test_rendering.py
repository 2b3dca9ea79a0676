"""The page: everything in it, nothing from elsewhere, nothing that runs."""

import re
import subprocess
from pathlib import Path

import pytest

from checker.checking.check import check
from checker.editions.assign import EXAMPLE_PRINTED, SHOULD_PRINT
from checker.pages import quarto, rendering
from checker.pages.body import Body
from checker.pages.rendering import index, render, render_all
from checker.points.rubric import RUBRIC
from checker.reading.inventory import Entry
from tests.checker.conftest import code, markdown

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="


def listed(text: str) -> list[tuple[str, str]]:
    """(anchor, heading) of a page's list of contents."""
    return re.findall(r'<li><a href="#([^"]+)">([^<]+)</a>', text.split("</nav>")[0])


def test_the_nine_cells_are_headings_and_listed(page):
    """Catches a contents list that knows Markdown headings only: Cell 1 and Cell 8, and nothing between."""
    text = page()
    contents = listed(text)
    assert [title[:6] for _, title in contents] == [*(f"Cell {n}" for n in range(9)), "Rubric"]
    headings = re.findall(r'<h2 id="([^"]+)">(Cell \d)', text)
    assert headings == [(f"section-{n}", f"Cell {n}") for n in range(9)]
    assert all(text.count(f'id="{anchor}"') == 1 for anchor, _ in contents)


FOLDS = {
    "# Cell 4: Reward function": "Code",
    "# Cell 4: Reward function\nx = 1  # one": "Code",
    "# Cell 4: Reward function\n\n# One for each dot": "Code: One for each dot",
    "# Stage two: fit a reward model": "Code: Stage two: fit a reward model",
    "#| label: fig-x\n# Cell 6: Training loop\n# PPO": "Code: PPO",
    "#| code-summary: What trains\n# Cell 6: Training loop": "What trains",
    "x = 1\n# Far below": "Code",
    "#": "Code",
}


@pytest.mark.parametrize("source", FOLDS)
def test_a_fold_says_what_is_in_it(page, source):
    assert f"<summary>{FOLDS[source]} <small>In [1]" in page(code(source))


def test_the_code_of_an_exercise_is_open(page):
    """Catches exercises that a reader of the page sees only after a click, and plumbing that is as loud as they are."""
    exercise = code("def f(x):\n    # student code here\n    # TODO: twice\n    return 2 * x\n    # end student code")
    text = page(code("import math"), exercise)
    folds = re.findall(r'<details class="fold"( open)?>.*?</details>', text, re.DOTALL)
    assert folds[-2:] == ["", " open"] and set(folds[:-1]) == {""}


def picture(source: str, pictures: int = 1) -> dict:
    """A code cell that shows pictures."""
    shown = {"output_type": "display_data", "metadata": {}, "data": {"image/png": PIXEL, "text/plain": "<Figure>"}}
    return code(source) | {"outputs": [shown] * pictures}


CAPTIONED = (
    '#| label: fig-reward\n#| fig-cap: "Reward over *steps*"\n#| fig-alt: "A curve & \\"more\\""\n# Cell 6: Loop'
)


def test_a_picture_has_its_caption_its_text_and_its_number(page):
    """Catches options that are shown as code, and `@fig-` that stays text outside of Quarto."""
    text = page(picture(CAPTIONED), markdown("See @fig-reward, not @fig-other or `@fig-reward`."))
    assert 'alt="A curve &amp; &quot;more&quot;"' in text
    assert "<figcaption>Figure 1: Reward over <em>steps</em></figcaption>" in text
    assert re.search(r'See <a href="#fig-reward"[^>]*>Figure 1</a>, not @fig-other or <code>@fig-reward</code>', text)
    assert text.count('id="fig-reward"') == 1 and "fig-cap" not in text


@pytest.mark.parametrize("options", ["#| fig-cap: [", "#| 3", "#| fig-cap: {a: 1}", "#| !!python/object:x y", "#| - a"])
def test_options_that_are_none_are_borne(page, options):
    assert "<summary>Code: by PPO <small>" in page(picture(f"{options}\n# Cell 6: Training loop\n# by PPO"))


HEADER = """---
    title: Dots
    course:
      minutes: 3
      level: first & easy
      builds-on: [earlier, before]
      goals:
        - count <b>dots</b>
        - compare
---"""


def test_a_report_says_what_the_header_says(good, save, tmp_path):
    """Catches keys that only the course's own site shows, tags of a header that reach the page, and links to nowhere."""
    good["cells"][0]["source"] = HEADER
    text = render(save(good), tmp_path / "out", "builtin").read_text(encoding="utf-8")
    about = re.search('<div class="about">(.*?)</div>', text, re.DOTALL)[1]
    assert re.findall("<span>(.*?)</span>", about) == [
        "3 minutes to run",
        "first &amp; easy",
        "read before: earlier, before",
    ]
    assert "After it you can count &lt;b&gt;dots&lt;/b&gt;; compare." in about and "<a" not in about
    assert text.index("</h1>") < text.index('class="about"') < text.index('class="facts"')


@pytest.mark.parametrize("header", ["---\njupyter: python3\n---", "---\ncourse: dots\n---", "no header"])
def test_a_header_that_says_nothing_adds_nothing_to_a_report(good, save, tmp_path, header):
    good["cells"][0]["source"] = header
    assert 'class="about"' not in render(save(good), tmp_path / "out", "builtin").read_text(encoding="utf-8")


@pytest.mark.parametrize("words", [SHOULD_PRINT, EXAMPLE_PRINTED])
def test_what_an_exercise_should_print_is_folded_and_no_output(page, words):
    text = page(markdown(f"{words}\n\n```text\nstep 1\n```"))
    folded = re.search(r'<details class="expected"><summary>([^<]+)</summary>(.*?)</details>', text, re.DOTALL)
    assert folded[1] == words.removesuffix(":") and "step 1" in folded[2]


def test_mathematics_needs_no_network(page):
    text = page(markdown("Inline $x_1 < 2$ and\n\n$$\\frac{a}{b}$$\n\nbut not `$y$` or $5 and $6."))
    assert text.count("<math") == 2 and "<mfrac>" in text
    assert "$y$" in text and "$5 and $6" in text
    assert "mathjax" not in text.lower()


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
    text = page(markdown(text), markdown(f"# {text}"), code(f"# Cell 3: {text}"), rich)
    tags = re.findall(r"<[a-zA-Z][^>]*>", text)
    body = [tag for tag in tags if not tag.startswith("<meta")]
    assert body.count('<link rel="icon" href="data:,">') == 1
    body.remove('<link rel="icon" href="data:,">')
    assert not [tag for tag in body if re.match(r"<(iframe|svg|object|embed|form|input|base|link)\b", tag)]
    assert not [tag for tag in body if re.search(r"\son\w+\s*=", tag) or "javascript:" in tag]
    assert not [tag for tag in body if re.search(r"src=\"(?!data:image/)", tag) or "style=" in tag]
    assert body.count("<script>") == 1 and "script-src 'sha256-" in text
    assert [tag for tag in body if re.match(r"<(input|script)", tag)] == ["<script>"]
    assert text.count("<meta http-equiv") == 1 and "default-src 'none'" in text
    assert text.count("<style>") == 1 and "@import" not in text.split("</style>")[0]


def test_the_notebook_is_only_read(good, save, tmp_path):
    path = save(good)
    before = path.read_bytes()
    render(path, tmp_path, "builtin")
    assert path.read_bytes() == before


def test_a_page_that_stands_alone_links_to_no_file(page):
    """Catches links to other notebooks, which are not there where a report is."""
    text = page(markdown("See [gradients](gradients.ipynb), [above](#x) and [a paper](https://example.org/a)."))
    assert "See gradients, <a" in text and 'href="https://example.org/a"' in text
    assert "gradients.ipynb" not in text


def test_findings_that_are_alike_stand_together(good, save, tmp_path):
    """Catches a page that begins with twenty lines that say the same, and places of the others that are lost."""
    for cell in good["cells"][2:5]:
        cell["source"] += "\nraise NotImplementedError"
    text = render(save(good), tmp_path / "out", "builtin").read_text(encoding="utf-8")
    found = text.partition('<details class="findings"')[2].partition("</header>")[0]
    assert found.count("F001") == 1 and "and 2 others like it" in found
    assert re.findall(r'<li><a href="#(cell-\d)">', found) == ["cell-3", "cell-4"]
    count = re.match(r" open><summary>(\d+) findings", found)[1]
    assert int(count) == len([one for one in check(save(good)).findings if one.level != "question"])


@pytest.fixture
def by_quarto(monkeypatch):
    """Quarto is there, and shows every notebook with one word."""
    monkeypatch.setattr(quarto, "program", lambda: "quarto")
    monkeypatch.setattr(quarto, "body", lambda program, notebook: Body("by quarto"))


@pytest.fixture
def git(monkeypatch, tmp_path):
    """Put a git on the PATH that knows no notebook but one called ours.ipynb, in the folder that holds the checker."""
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\n[ "$1" = -C ] && cd "$2" && [ -e checker/pages/rendering.py ] || exit 128\n'
        f'[ "$3 $4 $5" = "ls-files --error-unmatch --" ] && [ "$6" = {tmp_path}/ours.ipynb ]\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")


@pytest.mark.parametrize(("name", "is_ours"), [("ours.ipynb", True), ("theirs.ipynb", False)])
def test_quarto_shows_what_git_tracks_in_the_course_and_nothing_else(
    good, save, tmp_path, by_quarto, git, name, is_ours
):
    """Catches a stranger's notebook that goes to Quarto unasked, and the course's own that never does."""
    text = render(save(good, name), tmp_path / "out").read_text(encoding="utf-8")
    assert ("by quarto" in text) == is_ours


def test_without_quarto_all_pages_are_built_in(good, save, tmp_path, git, monkeypatch):
    """Catches a page that is refused although nobody asked for Quarto."""
    monkeypatch.setattr(quarto, "program", lambda: None)
    assert "Cell 8" in render(save(good, "ours.ipynb"), tmp_path / "out").read_text(encoding="utf-8")


def test_a_git_that_does_not_answer_is_not_waited_for(good, save, tmp_path, by_quarto, monkeypatch):
    """Catches a report that hangs where the course lies on a drive that does not answer."""

    def run(command, timeout=None, **options):
        assert timeout, "this waits for ever"
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(rendering.subprocess, "run", run)
    assert "by quarto" not in render(save(good), tmp_path / "out").read_text(encoding="utf-8")


def entries(save, good, *inside: str) -> list[Entry]:
    """The same notebook, handed in under several names."""
    path = save(good)
    return [Entry(place, path, Path(place)) for place in inside]


def test_pages_lie_in_the_tree_of_their_notebooks_and_none_is_lost(good, save, tmp_path):
    """Catches a page written over another's, or over the index, and a name that no file system takes."""
    long = "ä" * 300
    names = ["a/x.ipynb", "A/X.ipynb", "a/x.html.ipynb", "index.ipynb", "a/x.ipynb", f"{long}/{long}.ipynb"]
    made = list(render_all(entries(save, good, *names), tmp_path / "out", "builtin", RUBRIC))
    short = "ä" * 100
    assert [page.relative_to(tmp_path / "out").as_posix() for _, page in made] == [
        "a/x.html", "A/X-2.html", "a/x.html.html", "index-2.html", "a/x-3.html", f"{short}/{short}.html"
    ]  # fmt: skip
    assert [(report.name, report.status) for report, _ in made] == [(name, "pass") for name in names]
    assert all(page.is_file() for _, page in made)


def test_a_notebook_without_a_page_is_told_under_its_name(good, save, tmp_path, monkeypatch):
    """Catches a run that ends at the first page that cannot be made, and a sentence that does not say which it was."""
    (tmp_path / "out" / "taken.html").mkdir(parents=True)
    found = entries(save, good, "taken.ipynb", "free.ipynb")
    (first, no_page), (second, page) = render_all(found, tmp_path / "out", "builtin", RUBRIC)
    assert (first.name, first.status, no_page) == ("taken.ipynb", "unreadable", None)
    assert str(tmp_path / "out" / "taken.html") in str(first.findings[0].found) + first.findings[0].advice
    assert (second.name, second.status) == ("free.ipynb", "pass") and page == tmp_path / "out" / "free.html"
    monkeypatch.setattr(quarto, "program", lambda: None)
    for entry, (report, page) in zip(found, render_all(found, tmp_path / "out", "quarto", RUBRIC), strict=True):
        assert (report.name, report.status, page) == (entry.name, "unreadable", None)
        assert "Quarto is not installed" in str(report.findings[0])


def test_what_is_said_of_a_page_names_its_notebook(good, save, tmp_path, monkeypatch):
    """Catches a list of sentences on Quarto of which nobody knows what they are about."""
    monkeypatch.setattr(quarto, "program", lambda: "quarto")

    def body(program, notebook):
        raise quarto.Failed("it made no page")

    monkeypatch.setattr(quarto, "body", body)
    said = []
    list(render_all(entries(save, good, "a/x.ipynb"), tmp_path / "out", "quarto", RUBRIC, say=said.append))
    assert len(said) == 1 and said[0].startswith("a/x.ipynb: ") and "it made no page" in said[0]


def test_the_index_lists_every_notebook_and_links_to_those_that_have_a_page(good, save):
    """Catches an index without rows, without its script, or that counts the wrong ones as passed."""
    passing = check(save(good))
    failing = check(save({**good, "cells": good["cells"][:3]}, "short.ipynb"))
    text = index([(passing, "x.html"), (failing, "")])
    assert "<title>Notebooks</title>" in text and "aria-sort" in text.partition("<script>")[2]
    assert "2 checked" in text and "1 pass<" in text and "1 to look at" in text
    assert re.findall(r'<td data-value="(\S+\.ipynb)">(<a href="x.html">)?', text) == [
        (passing.name, '<a href="x.html">'),
        (failing.name, ""),
    ]


def test_a_report_has_all_its_scripts(page):
    """Catches a picture that cannot be enlarged, a draft that is not kept, and points that cannot be saved."""
    script = page().partition("<script>")[2]
    places = [script.find((rendering.PROJECT / "checker/pages" / f"{name}.js").read_text(encoding="utf-8"))
              for name in ("page", "enlarge", "drafts", "form")]  # fmt: skip
    assert -1 not in places


def test_questions_stand_apart_from_findings(good, save, tmp_path):
    """Catches a question to the reader among what a notebook has wrong, or the other way round."""
    good["cells"][5]["source"] += (
        "\nstd = rewards.view(-1, G).std(dim=1)\nadv = (rewards - rewards.mean()) / rewards.std()"
    )
    text = render(save(good), tmp_path / "out", "builtin").read_text(encoding="utf-8")
    listed = [re.findall(r"<b class=\"(\w+)\">", part) for part in text.split('<details class="findings"')[1:]]
    assert listed == [["warning"], ["question"]]
    assert "<summary>1 finding</summary>" in text
    assert '<details class="findings"><summary>1 question</summary>' in text, "it stays folded"


def test_the_form_asks_points_for_what_no_check_is_about(good, save, tmp_path):
    """Catches an exercise of two points that nobody can give points for, and a report that knows no cells."""
    good["cells"][4]["source"] += (
        "\ndef f():\n    # student code here\n    # TODO: do it (2 points)\n    return 7\n    # end student code"
    )
    path = save(good)
    asked = r'max="([^"]*)" step="any" data-criterion="([^"]*)"'
    text = render(path, tmp_path / "out", "builtin").read_text(encoding="utf-8")
    assert re.findall(asked, text) == [("2", "Exercise: f")]
    assert "9 of 9 cells" in text
    without = render(path, tmp_path / "out", "builtin", by_hand=[]).read_text(encoding="utf-8")
    assert re.findall(asked, without) == []
