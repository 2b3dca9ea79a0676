"""The filter for a stranger's HTML: what may be looked at stays, what could act or be taken for the page's own goes."""

from html.parser import HTMLParser
from pathlib import Path

import pytest

from checker.pages import builtin
from checker.pages.sanitise import DEEPEST, MOST, arranged, bearable, no_picture, sanitised
from checker.reading.notebook import Cell, Notebook, Output

PIXEL = "data:image/png;base64,AAAA"


@pytest.mark.parametrize(
    ("fragment", "is_bearable"),
    [
        ("<b></b>" * (MOST // 2), True),
        ("<b></b>" * (MOST // 2) + "<br>", False),
        ("<b>" * DEEPEST, True),
        ("<b>" * (DEEPEST + 1), False),
        ("x" * 500_000, False),
        ("no tags", True),
    ],
)
def test_html_is_shown_up_to_its_limits(fragment, is_bearable):
    """Catches one limit that is enough for all, closed elements that count as open ones, and a limit that is off."""
    assert bearable(fragment) == is_bearable


@pytest.mark.parametrize(
    "kept",
    [
        '<p title="a">b</p>',
        '<span class="kn ansi-red-fg">x</span>',
        '<table><tbody><tr><th align="right" colspan="2">a</th><td align="left" rowspan="3">b</td></tr></tbody></table>',
        "<section><figure><figcaption>a</figcaption></figure></section>",
        '<math xmlns="http://www.w3.org/1998/Math/MathML" display="block"><mi mathvariant="bold">x</mi></math>',
        '<math><mrow><mo stretchy="false">(</mo></mrow><mspace width="0.1em"></mspace></math>',
        '<details open=""><summary>a</summary></details>',
        f'<img src="{PIXEL}" alt="a">',
    ],
)
def test_what_can_only_be_looked_at_stays(kept):
    """Catches a table that loses its spans, a formula its letters, and code its colours."""
    assert sanitised(kept) == kept


def test_a_class_of_the_pages_own_is_taken_from_a_stranger():
    assert sanitised('<b class="k facts">x</b><i class="pass">y</i>') == '<b class="k">x</b><i>y</i>'


@pytest.mark.parametrize(
    "address", ["https://a.org/b", "http://a.org", "mailto:a@b.org", "#cell-3", "#section-2", "#fig-a"]
)
def test_a_link_leads_elsewhere_or_to_a_place_of_the_page(address):
    """Catches links that are cut, and those of a text to the page's own figures and cells."""
    made = sanitised(f'<a href="{address}">x</a>')
    assert made == f'<a href="{address}" rel="noopener noreferrer">x</a>'


def test_a_strangers_id_and_the_link_to_it_stay_together():
    """Catches a link of a notebook's table of contents that leads nowhere, or to a button of the page."""
    made = sanitised('<p id="rubric">x</p><a href="#rubric">y</a>')
    assert made == '<p id="user-rubric">x</p><a href="#user-rubric" rel="noopener noreferrer">y</a>'


@pytest.mark.parametrize("address", ["javascript:x()", "data:text/html,x", "attachment:a.png", "file:///etc/passwd"])
def test_a_link_to_what_could_act_or_is_embedded_leads_nowhere(address):
    made = sanitised(f'<a href="{address}">x</a>')
    assert made == '<a rel="noopener noreferrer">x</a>'


def test_pictures_are_those_that_came_with_the_text():
    """Catches a picture that is fetched when a page is opened, and an attached one that is lost."""
    having = {"attachment:a.png": PIXEL, "https://a.org/b.png": None}.get
    made = sanitised('<img src="attachment:a.png"><img src="https://a.org/b.png">', having)
    assert made == f'<img src="{PIXEL}"><img>'
    assert sanitised('<img src="attachment:a.png">') == "<img>"


def test_what_quarto_made_keeps_its_classes_its_places_and_its_pictures():
    """Catches a fold of Quarto's without its class, a figure to which no `@fig-` leads, and a picture that is lost."""
    given = (
        '<details class="code-fold"><summary>a</summary></details><figure id="fig-a"><img src="b.png" alt="c"></figure>'
    )
    assert arranged(given, {"b.png": PIXEL}.get) == given.replace("b.png", PIXEL)


def test_what_quarto_made_of_a_strangers_words_cannot_act():
    """Catches a script, and an id of the page's own, let through because they come from Quarto."""
    given = '<script>x</script><p id="cell-x" onclick="y()">a</p><a href="javascript:z">b</a><p id="section-1">c</p>'
    made = '<p>a</p><a rel="noopener noreferrer">b</a><p id="section-1">c</p>'
    assert arranged(given, no_picture) == made


HOSTILE = '"><script>x()</script><img src=x onerror="y()">'
PAYLOADS = [
    f"# A {{#sec-a}} {HOSTILE}\n\n@sec-a",
    f"::: {{.callout-note title='{HOSTILE}'}}\na\n:::",
    f'![{HOSTILE}](attachment:a b.png){{#fig-a fig-alt="<script>x()</script>" onerror="y()"}}',
    f"$\\text{{{HOSTILE}}}$ $\\label{{{HOSTILE}}}$ $\\eqref{{{HOSTILE}}}$ $\\href{{javascript:x()}}{{y}}$",
    f"$\\class{{a}}{{b}} \\style{{position:fixed}}{{c}} \\{HOSTILE}$",
    f"```{HOSTILE}\nx\n```\n\n```{{mermaid}}\n{HOSTILE}\n```",
    f"a[^{HOSTILE}]^[{HOSTILE}]\n\n[^{HOSTILE}]: {HOSTILE}",
    f"| a |\n|---|\n| {HOSTILE} |\n\n: {HOSTILE} {{#tbl-a style='x'}}",
    "[a](javascript:x()) [b](data:text/html,x) ![c](https://a.org/x.png) <a href='javascript:x()'>d</a> javascript:x()",
    "<iframe src='https://a.org'></iframe><style>*{}</style><div style='position:fixed' class='rubric' dir='x()'>$x$</div>",
    "\\newcommand $\\newcommand{\\a}{</math><script>x()</script>}\\a$",
]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_nothing_that_a_text_adds_to_markdown_can_act(payload):
    """Catches a title, a caption, a name, a label or the address of a picture that comes past the filter."""
    heading = f"# Cell 4: B {{#{HOSTILE}}}\n\n"
    cells = [
        Cell(0, "markdown", heading + payload),
        Cell(1, "code", "#| label: fig-a\n#| fig-cap: a", 1, (Output("result", "", {"image/png": "AAAA"}),)),
        Cell(2, "markdown", f"# {HOSTILE} {{#fig-a}}"),
        Cell(
            3,
            "code",
            "x",
            1,
            (Output("stream", f"\x1b]8;;javascript:x()\x07{HOSTILE}\x1b]8;;\x07\r\x1b[31m{HOSTILE}"),),
        ),
    ]
    seen = Acting()
    seen.feed(builtin.body(Notebook(Path("x.ipynb"), tuple(cells))).html)
    assert seen.found == []


class Acting(HTMLParser):
    """The parts of a page that could act or fetch something when it is opened, or pass for the page's own."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag, attributes) -> None:
        if tag in ("script", "style", "iframe", "object", "embed", "form", "input", "base", "meta", "link"):
            self.found.append(tag)
        for name, value in attributes:
            acts = name.startswith("on") or name in ("style", "srcdoc", "action")
            leads = name in ("src", "href", "xlink:href") and not (value or "").startswith(
                ("#", "data:image/", "https://")
            )
            fetches = name == "src" and not (value or "").startswith("data:image/")
            if acts or leads or fetches or (name == "class" and value == "rubric"):
                self.found.append(f"{tag} {name}={value}")
