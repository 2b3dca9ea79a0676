"""Every term of the course is explained where a reader of a notebook first meets it.

Explained is a term that stands in italics or bold at its first place, which is how the texts introduce words, or that
is linked to the glossary there. A notebook may also use what one of those explains on which it builds. On the site the
first place is a link besides.
"""

import re
from functools import cache
from pathlib import Path

import pytest

from checker.outputs.claims import header_of
from checker.reading.notebook import Notebook, read
from checker.site.terms import glossary_entries

PROJECT = Path(__file__).parents[1]
NOTEBOOKS = {path.stem: path for path in (PROJECT / "notebooks").glob("*.ipynb")}
FOLDERS = {"worked": PROJECT / "notebooks", "blank": PROJECT / "notebooks" / "student"}
TERMS = {
    "nats": r"nats?",
    "greedy": r"[Gg]reed(?:y|ily)",
    "entropy": r"[Ee]ntrop(?:y|ies)",
    "KL": r"KL",
    "ratio": r"[Rr]atios?",
    "LoRA": r"LoRA",
    "reference": r"[Rr]eferences?",
    "on-policy": r"[Oo](?:n|ff)-policy",
    "padding": r"[Pp]add(?:ing|ed)",
    "EOS": r"EOS",
    "AdamW": r"AdamW",
}
EXPLAINED = re.compile(r"\*\*?[^*\n]{1,80}\*\*?|\[[^\]]+\]\([^)]*glossary[^)]*\)")
NO_PROSE = re.compile(r"```.*?```|`[^`\n]*`|\$\$.*?\$\$|\$[^$\n]+\$|\]\([^)]*\)|<!--.*?-->", re.DOTALL)


def prose(notebook: Notebook) -> str:
    """The Markdown below the header, without code, formulas and addresses, all in their places."""
    cells = [cell.source for cell in notebook.cells[1:] if cell.kind == "markdown"]
    text = "\n\n".join(cells)
    return NO_PROSE.sub(lambda match: match[0] if "glossary" in match[0] else " " * len(match[0]), text)


def first_place(term: str, text: str) -> re.Match | None:
    return re.search(rf"(?<![\w-])(?:{TERMS[term]})(?![\w-])", text)


def explains(term: str, text: str) -> bool:
    """True if the text tells what the term means where it first says it."""
    place = first_place(term, text)
    return place is not None and any(
        match.start() < place.start() and place.end() < match.end() for match in EXPLAINED.finditer(text)
    )


@cache
def builds_on(name: str) -> frozenset[str]:
    """A notebook and all that its header says it builds on, and what these build on."""
    direct = header_of(read(NOTEBOOKS[name]))["course"]["builds-on"]
    return frozenset({name}).union(*map(builds_on, direct))


@pytest.mark.parametrize("edition", FOLDERS)
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_term_is_explained_where_it_is_first_met(name, edition):
    """A second-year student who meets "entropy" in a log, and nobody ever said what that is, or only in an answer."""
    texts = {one: prose(read(FOLDERS[edition] / f"{one}.ipynb")) for one in builds_on(name)}
    used = [term for term in TERMS if first_place(term, texts[name])]
    unexplained = [term for term in used if not any(explains(term, one) for one in texts.values())]
    assert unexplained == [], f"{name} uses these; explain each in italics at its first place, or link the glossary"


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_the_site_links_its_first_place_to_the_glossary(name):
    """A term without an entry, and a form of it ("a nat", "greedily") that the site does not recognise."""
    text = prose(read(NOTEBOOKS[name]))
    linked = [match for entry in glossary_entries(PROJECT, "g") for match in re.finditer(entry.words, text)]
    for term in TERMS:
        place = first_place(term, text)
        assert place is None or any(m.start() <= place.start() and place.end() <= m.end() for m in linked), term


@pytest.mark.parametrize(
    ("text", "explained"),
    [
        ("the *entropy*, how undecided it is", True),
        ("**The entropy** of a policy", True),
        ("the [entropy](../docs/glossary.qmd#entropy)", True),
        ("the entropy falls", False),
        ("the entropy falls; *entropy* is how undecided it is", False),
        ("the [entropy](gradients.ipynb)", False),
        ("nothing of the kind", False),
    ],
)
def test_what_counts_as_an_explanation(text, explained):
    """A test that any text passes."""
    notebook = read(NOTEBOOKS["dots"])
    cell = next(cell for cell in notebook.cells if cell.kind == "markdown")
    one = Notebook(notebook.path, (cell, type(cell)(1, "markdown", text)))
    assert explains("entropy", prose(one)) == explained
