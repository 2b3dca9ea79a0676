"""Links that are put into finished pages: in running text, once, and nowhere else."""

import pytest

from checker.site.linking import Entry, linked
from checker.site.terms import Paper, glossary_entries
from tests.checker.site.test_site import PROJECT

ENTRIES = [Entry(r"reward hacking", "g#hacking", "term"), Entry(r"(?i:rewards?)", "g#reward", "term")]


def page(body: str) -> str:
    return f"<html><head><title>reward</title></head><body><nav>reward</nav><main>{body}</main></body></html>"


def test_the_first_place_in_running_text_becomes_a_link():
    """Catches links in the head or the sidebar, and a second link for the same word."""
    made = linked(page("<p>A reward, then rewards.</p>"), ENTRIES)
    assert made == page('<p>A <a class="term" href="g#reward">reward</a>, then rewards.</p>')


@pytest.mark.parametrize(
    "body",
    [
        "<h2>Reward</h2>", "<pre>reward</pre>", "<p><code>reward</code></p>", '<a href="x">a reward</a>',
        "<script>reward</script>", "<!-- reward -->", '<img alt="a > reward">', '<div class="output"><p>reward</p></div>',
        '<div class="description" hidden="hidden">reward</div>',
    ],
)  # fmt: skip
def test_what_is_no_running_text_stays_as_it_is(body):
    """Catches code that is changed by a link, links in links, words in attributes."""
    assert linked(page(body), ENTRIES) == page(body)


def test_text_after_something_that_was_left_alone_is_linked():
    """Catches an element that is never seen to end: `<br>` and `<img>` have no end."""
    made = linked(page("<p><code>x</code><br><img alt=''> reward</p>"), ENTRIES)
    assert '<a class="term" href="g#reward">reward</a>' in made


@pytest.mark.parametrize("tag", ['<img class="output">', '<input class="check">', '<a id="x"/>', '<svg class="x" />'])
def test_an_element_that_has_no_end_holds_no_text(tag):
    """Catches a page without a link below its first picture that has a class of its own."""
    assert linked(page(f"<p>{tag} reward</p>"), ENTRIES) == page(
        f'<p>{tag} <a class="term" href="g#reward">reward</a></p>'
    )


@pytest.mark.parametrize(
    "before", ["<code>x<i>y</code>", "<code><code>x</code></code>", "<i><code>x</i>", '<b class="big">', "</i>"]
)
def test_an_element_ends_where_its_end_stands(before):
    """Catches a page without a link below code in which something was not closed, and in any element that has a class."""
    made = linked(page(f"<p>{before} reward</p>"), ENTRIES)
    assert made == page(f'<p>{before} <a class="term" href="g#reward">reward</a></p>')


def test_links_stand_within_the_pages_text_and_all_of_it():
    """Catches links in what stands around, and an end or a beginning that a script or a text only names."""
    around = (
        '<head><script>"</main>"</script></head>{}<footer>a reward <script>"<main></main>" reward</script></footer>'
    )
    made = linked(around.format("<main><p>reward hacking</p><p>a reward</p></main>"), ENTRIES)
    first = '<p><a class="term" href="g#hacking">reward hacking</a></p>'
    assert made == around.format(f'<main>{first}<p>a <a class="term" href="g#reward">reward</a></p></main>')
    assert linked(around.format("<main>nothing</main>"), ENTRIES) == around.format("<main>nothing</main>")
    assert linked("<main>a reward<p>", ENTRIES) == '<main>a <a class="term" href="g#reward">reward</a><p>'
    assert linked("a reward", ENTRIES) == "a reward"


def test_longer_words_come_first():
    """Catches a link to "reward" inside "reward hacking"."""
    made = linked(page("<p>reward hacking and a reward</p>"), ENTRIES)
    assert '<a class="term" href="g#hacking">reward hacking</a> and a <a' in made


def test_a_word_inside_a_longer_one_is_never_linked():
    """Catches "reward" inside the second "reward hacking", whose own link stands above."""
    made = linked(page("<p>reward hacking</p><p>reward hacking</p><p>a reward</p>"), ENTRIES)
    assert made.count("<a ") == 2 and '<p>a <a class="term" href="g#reward">reward</a></p>' in made


@pytest.mark.parametrize("address", ["g#reward", "../docs/g#reward"])
def test_what_a_page_links_itself_is_not_linked_again(address):
    """Catches a word that has two links: engines write the way to the same page in two ways."""
    body = f'<p><a href="{address}">what is paid</a> is a reward</p>'
    assert linked(page(body), ENTRIES) == page(body)


def test_glossary_words_are_found_as_texts_write_them():
    """Catches plurals and capitals that are missed, and acronyms found in ordinary words."""
    entries = glossary_entries(PROJECT, "g")
    for text, anchor in (
        ("Two policies", "policy"),
        ("Held-out rows", "held-out"),
        ("KL", "kl-divergence"),
        ("k3", "k1-k2-k3"),
        ("Group Relative Policy Optimization", "grpo"),
        ("Dr. GRPO", "dr.-grpo"),
    ):
        assert f'href="g#{anchor}"' in linked(page(f"<p>{text}</p>"), entries), text
    assert linked(page("<p>pro lora</p>"), entries) == page("<p>pro lora</p>")


@pytest.mark.parametrize(
    "families, text",
    [
        (["Williams"], "(Williams 1992)"), (["Tang", "Munos"], "Tang and\nMunos, 1992"),
        (["Ng", "Harada", "Russell"], "Ng, Harada and Russell 1992"), (["Hu", "Shen", "Wallis", "Li"], "Hu et al. (1992)"),
        (["Hu", "Shen", "Wallis", "Li"], "Hu et al.&nbsp;1992"),
    ],
)  # fmt: skip
def test_a_paper_is_found_by_its_authors_and_year(families, text):
    paper = Paper("key", [(family, "") for family in families], 1992, "Title")
    made = linked(page(f"<p>{text}</p>"), [Entry(paper.words, "r#key", "cited")])
    assert '<a class="cited" href="r#key">' in made
    other = Paper("key", paper.authors, 1993, "Title")
    assert linked(page(f"<p>{text}</p>"), [Entry(other.words, "r#key", "cited")]) == page(f"<p>{text}</p>")
