"""The words of the glossary and the papers of the references: their lists are true of the course's texts."""

import re
from pathlib import Path

import pytest

from checker.reading.notebook import Unreadable
from checker.site import terms
from checker.site.terms import Paper, anchor, glossary_entries, headings, paper_entries, papers

PROJECT = Path(__file__).parents[3]


def leads(words: str, page: Path | None = None) -> set[str]:
    """The places of the glossary to which words lead on a page."""
    entries = glossary_entries(PROJECT, "g.html", page)
    return {entry.address for entry in entries if re.fullmatch(entry.words, words)}


@pytest.fixture(scope="module")
def texts() -> str:
    """All that the course's pages and notebooks say."""
    files = [*PROJECT.glob("docs/*.qmd"), *PROJECT.glob("notebooks/*.ipynb"), PROJECT / "index.qmd"]
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def test_another_way_to_say_a_heading_leads_to_it_and_is_used(texts):
    """Catches a way of saying it that no text has, or has in other capitals, and one of a heading that was renamed."""
    assert set(terms.ALSO) <= set(headings(PROJECT))
    texts = texts.replace("\\n", " ")
    for heading, names in terms.ALSO.items():
        for name in names:
            assert leads(name) == {f"g.html#{anchor(heading)}"}, name
            assert re.search(terms._pattern(name), texts), f"no text says {name}"


def test_a_word_in_another_sense_is_one_that_the_page_says():
    """Catches an exception for a page that was renamed, or for a word that it no longer says."""
    for page, others in terms.IN_ANOTHER_SENSE.items():
        text = (PROJECT / page).read_text(encoding="utf-8")
        for word in others:
            assert word in headings(PROJECT) and re.search(terms._pattern(word), text), (page, word)
            assert leads(word) and not leads(word, page), (page, word)


def test_an_everyday_word_is_linked_on_the_pages_that_mean_it():
    """Catches a page that was renamed, and a word that is linked everywhere or nowhere."""
    for word, pages in terms.MEANT_ON.items():
        assert word in headings(PROJECT)
        assert leads(word) and not leads(word, Path("docs") / "start.qmd")
        for page in pages:
            assert (PROJECT / page).is_file() and leads(word, page) == {f"g.html#{anchor(word)}"}, (page, word)


@pytest.fixture
def project(tmp_path) -> Path:
    """A glossary with three headings, and references to three papers, in no order."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "glossary.qmd").write_text(
        "# Reward  \nx\n# Reward hacking, größer\n## No\n# KL\n", encoding="utf-8"
    )
    (tmp_path / "references.yaml").write_text(
        "references:\n"
        "  - {id: b2, author: [{family: B, given: Ü}, {family: C}], issued: {year: 2002}, title: T, URL: 'https://b'}\n"
        "  - {id: b1, author: [{family: B}], issued: {year: 2001}, title: U, container-title: 12}\n"
        "  - {id: a, author: [{family: A}, {family: D}, {family: E}], issued: {year: 2003}, title: V}\n",
        encoding="utf-8",
    )
    return tmp_path


def test_papers_are_listed_by_their_first_author_and_year(project):
    """Catches a key, a place or an address that is lost, and the order of the file."""
    assert papers(project) == [
        Paper("a", [("A", ""), ("D", ""), ("E", "")], 2003, "V"),
        Paper("b1", [("B", "")], 2001, "U", "12"),
        Paper("b2", [("B", "Ü"), ("C", "")], 2002, "T", "", "https://b"),
    ]


def test_a_paper_is_called_by_its_shortest_name(project):
    assert [paper.short for paper in papers(project)] == ["A et al. 2003", "B 2001", "B and C 2002"]
    three = Paper("k", [("Ng", ""), ("Harada", ""), ("Russell", "")], 1999, "T")
    assert three.cited == {"Ng, Harada and Russell", "Ng et al."}


@pytest.mark.parametrize("text", ["references: 1", "no: []", "- {", "references:\n  - id: a"])
def test_references_that_cannot_be_read_are_named(project, text):
    """Catches a traceback in place of the file's name and of the key that is missing."""
    (project / "references.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(Unreadable, match=r"^references\.yaml is not a list of references.*Error"):
        papers(project)


def test_a_glossary_that_is_missing_is_named(tmp_path):
    with pytest.raises(Unreadable, match=r"docs/glossary\.qmd cannot be read: \w"):
        headings(tmp_path)
    with pytest.raises(Unreadable, match=r"references\.yaml"):
        papers(tmp_path)


def test_entries_are_the_headings_and_the_parts_of_them_longest_first(project):
    """Catches a heading of a lower level, blanks at its end, and a shorter word that is found before a longer one."""
    assert headings(project) == ["Reward", "Reward hacking, größer", "KL"]
    entries = glossary_entries(project, "g")
    assert [entry.address for entry in entries] == ["g#reward-hacking-größer", "g#reward", "g#kl"]
    assert {entry.kind for entry in entries} == {"term"}
    for words in ("reward hacking", "Reward\nhackings", "größer", "Größers"):
        assert re.fullmatch(entries[0].words, words), words
    assert re.search(entries[2].words, "the KL") and not re.search(entries[2].words, "KLs kl a-KL KL-a")


def test_an_entry_of_a_paper_leads_to_its_place():
    paper = Paper("key", [("Ng", "")], 1999, "T")
    (entry,) = paper_entries([paper], "r.html")
    assert (entry.address, entry.kind) == ("r.html#key", "cited") and re.search(entry.words, "by Ng (1999)")
    assert not re.search(entry.words, "by Ng 19990") and not re.search(entry.words, "by Wang 1999")


@pytest.mark.parametrize(
    ("heading", "place"),
    [
        ("Equal group", "equal-group"),
        ("Dr. GRPO", "dr.-grpo"),
        ("k1, k2,  k3?", "k1-k2-k3"),
        ("On-policy!", "on-policy"),
    ],
)
def test_a_place_is_named_as_quarto_names_it(heading, place):
    assert anchor(heading) == place
