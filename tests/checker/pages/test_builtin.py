"""The built-in engine: what becomes of a code cell and of each kind of output."""

import base64
import re
from pathlib import Path

import pytest

from checker.pages import builtin
from checker.pages.body import Outline
from checker.reading.notebook import Cell, Notebook, Output

PIXEL = "iVBORw0KGgo="
PICTURE = Output("result", "<Figure>", {"image/png": PIXEL, "text/plain": "<Figure>"})


def shown(source: str, *outputs: Output) -> str:
    """A code cell on a page, the only one of its notebook."""
    cell = Cell(2, "code", source, 1, outputs)
    return builtin.code(cell, Outline(Notebook(Path("x.ipynb"), (cell,))))


def test_a_cell_without_a_label_and_without_outputs_is_its_fold_alone():
    made = shown("x = 1   \n\ny = 2")
    assert made.startswith('<section class="code"><details class="fold">') and made.endswith("</details></section>")
    assert made.count('<span class="li">') == 3
    assert (
        re.sub("<[^>]*>", "", made.partition("<pre>")[2].partition("</pre>")[0]) == "x = 1\n\ny = 2\n"
    )  # without the blanks at its end


def test_a_cell_with_a_label_has_it_as_its_heading():
    assert shown("# Cell 3: Data\nx = 1").startswith('<h2 id="section-3">Cell 3: Data</h2><section class="code">')


def test_outputs_stand_below_each_other_each_in_its_form():
    """Catches outputs in another order, and words between them that nobody printed."""
    made = shown(
        "show()",
        Output("stream", "a < b\n"),
        Output("result", "", {"text/html": "<b>bold</b><script>x</script>", "text/plain": "plain"}),
        Output("result", "", {"text/markdown": "*slanted*"}),
        Output("stream", " \n"),
        Output("error", "No: \x1b[31mred\x1b[0m"),
    )
    error = '<pre class="error">No: <span class="ansi-red-fg">red</span></pre>'
    below = f'<pre class="stream">a &lt; b</pre><div class="html"><b>bold</b></div><p><em>slanted</em></p>\n{error}'
    assert made.partition("</details>")[2] == f'<div class="output">{below}</div></section>'


def test_headings_of_two_outputs_are_not_one_place():
    """Catches an id that a page has twice."""
    heading = Output("result", "", {"text/markdown": "# Results"})
    assert shown("show()", heading, heading).count("<h2>Results</h2>") == 2


@pytest.mark.parametrize("mime", ["png", "jpeg", "gif", "webp"])
def test_a_picture_of_each_kind_is_shown_in_one_line(mime):
    found = builtin.picture_of(Output("result", "", {f"image/{mime}": f" {PIXEL[:4]}\n{PIXEL[4:]}\n"}))
    assert found == f"data:image/{mime};base64,{PIXEL}"


def test_a_drawing_is_shown_as_a_picture_in_which_nothing_runs():
    drawing = '<svg xmlns="http://www.w3.org/2000/svg"><script>x</script></svg>'
    kind, _, encoded = builtin.picture_of(Output("result", "", {"image/svg+xml": drawing})).partition(";base64,")
    assert kind == "data:image/svg+xml" and base64.b64decode(encoded).decode() == drawing


def test_what_is_no_picture_is_none():
    """Catches words of a stranger inside an address."""
    assert builtin.picture_of(Output("result", "", {"image/png": 'x" onerror="y'})) == ""
    assert builtin.picture_of(Output("result", "", {"text/plain": "x"})) == ""


def test_captions_count_pictures_and_only_the_first_is_numbered():
    """Catches a text output that takes a picture's caption, and two figures with one number."""
    source = "#| label: fig-a\n#| fig-cap: [One, Two]\nplot()"
    made = shown(source, PICTURE, Output("stream", "between"), PICTURE)
    figures = [
        f'<figure><img alt="{said}" src="data:image/png;base64,{PIXEL}"><figcaption>{caption}</figcaption></figure>'
        for said, caption in (("One", "Figure 1: One"), ("Two", "Two"))
    ]
    below = '<pre class="stream">between</pre>'.join(figures)
    assert made.partition("</details>")[2] == f'<a id="fig-a"></a><div class="output">{below}</div></section>'


def test_a_picture_without_words_has_no_caption():
    made = shown("plot()", PICTURE)
    assert "<figcaption>" not in made and "<a id=" not in made and 'alt="Figure: output of a cell"' in made
