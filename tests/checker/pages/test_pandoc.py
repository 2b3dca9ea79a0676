"""The built-in engine beside Pandoc, which Quarto reads Markdown with: the same formulas, words and tables."""

import json
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

from checker.pages.markdown import to_html
from checker.reading.notebook import read
from checker.reading.prose.parser import read as parsed
from checker.reading.prose.tex import Names
from tests.checker.conftest import NOTEBOOKS

pytestmark = pytest.mark.slow
PANDOC = shutil.which("pandoc")
# GitHub's tables, links without brackets and fences; what Jupyter has and Quarto's dialect has not stays out.
DIALECT = "markdown-smart-raw_tex-auto_identifiers-citations+autolink_bare_uris+lists_without_preceding_blankline"
SAMPLES = [
    "the $k$th, $x$s, 2$^{nd}$ and 10$\\times$ of it",
    "It costs $5 and $6; $a + b$ does not, and \\$c$ is none",
    "over a line end $a\n= b$ and on",
    "$f(x) = \\text{if $x$ is}$ and $y$",
    "$5-$6 and x$y",
    "`$a$` and ``b ` $c$``",
    "$$\na\n= b\n$$\n\nand $$c$$ in a line",
    "> a $b\n> = c$ d\n\n- e $f$\n- g",
    "| a | b |\n|:--|--:|\n| `x|y` | $|z|$ |\n| 1 | |",
    "- item\n\n  | a | b |\n  |---|---|\n  | 1 | 2 |\n\n- next",
    "A note[^1] and one in a line^[of *words*].\n\n[^1]: The note, $n$.\n\n    Its second paragraph.",
    "::: {.callout-note}\nWords, $x$.\n\n- one\n:::\n\nBehind.",
    "term\n:   what it means",
    "~~gone~~ *a* **b** `c`",
    "<div dir='rtl'>\n\n*a* $b$\n\n</div>",
]


class Seen(HTMLParser):
    """The words of HTML and its tables by their cells; formulas and what leads back from a footnote are left out."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.cells: list[str] = []
        self.closed = 0
        self.feed(page)

    def handle_starttag(self, tag, attributes) -> None:
        self.closed += tag == "math"
        self.cells += ["td"] * (tag in ("td", "th"))

    def handle_endtag(self, tag) -> None:
        self.closed -= tag == "math"

    def handle_data(self, data) -> None:
        self.words += [] if self.closed else data.replace("↩︎", "").split()


def pandoc(source: str, *options: str) -> str:
    if PANDOC is None:
        pytest.skip("no pandoc is installed")
    command = [PANDOC, "-f", DIALECT, *options]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout


def formulas_of(content) -> list[str]:
    """The TeX in Pandoc's tree of a text, in its order."""
    if isinstance(content, dict):
        return (
            [" ".join(content["c"][1].split())] if content.get("t") == "Math" else formulas_of(list(content.values()))
        )
    return [tex for part in content for tex in formulas_of(part)] if isinstance(content, list) else []


def ours(source: str) -> list[str]:
    tokens = parsed(source, Names()).tokens
    return [" ".join(one.content.split()) for token in tokens for one in token.children or () if one.type == "formula"]


@pytest.mark.parametrize("source", SAMPLES)
def test_formulas_words_and_tables_are_pandocs(source):
    """Catches a formula more or fewer, a word that is lost or stays a mark, and a cell in another table."""
    assert sorted(ours(source)) == sorted(formulas_of(json.loads(pandoc(source, "-t", "json"))["blocks"]))
    theirs = Seen(pandoc(source, "-t", "html", "--mathml"))
    made = Seen(to_html(source)[0])
    marks = {"[1]", "[2]", "1", "2", "Note"}  # of footnotes, which differ; a callout's title
    assert [word for word in made.words if word not in marks] == [word for word in theirs.words if word not in marks]
    assert made.cells == theirs.cells


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_formulas_of_the_course_are_pandocs(path):
    """Catches a formula of a notebook that Quarto's page has and ours has not, or the other way round."""
    for cell in read(path).cells[1:]:
        if cell.kind == "markdown":
            assert ours(cell.source) == formulas_of(json.loads(pandoc(cell.source, "-t", "json"))["blocks"])
