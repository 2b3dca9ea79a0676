"""The sections of a notebook, the labels by which they are known, and the words for the place of a cell."""

import pytest

from checker.reading.layout import SPECS, heading_of, is_header, label_of, place_in, place_of, sections, title_of
from checker.reading.notebook import Cell, Notebook, notebook_of
from tests.checker.conftest import GOOD
from tests.checker.reading.cells import notebook


def cell(kind: str, source: str) -> Cell:
    return Cell(0, kind, source)


LABELLED = {
    "code": {
        "# Cell 4: Reward function": "Cell 4: Reward function",
        "#cell 4": "Cell 4",
        "# ==== CELL 4: Reward ====": "Cell 4: Reward",
        "# %% Cell 4 reward": "Cell 4: reward",
        "# Cell #4 - Reward": "Cell 4: Reward",
        "# ---- Cell #4 ----": "Cell 4",
        "# [Cell 4]": "Cell 4",
        '"""Cell 4: Reward"""\nimport torch': "Cell 4: Reward",
        "'''Cell 4'''": "Cell 4",
        "\n\n%%time\n# Cell 4. Reward": "Cell 4: Reward",
        "#| label: reward\n# | echo: false\n# @title\n# Cell 4": "Cell 4",
        "Cell 4: Reward": "",
        "x = 1  # Cell 4": "",
        "# The reward of Cell 4": "",
        "# Cell four": "",
        "# Cell 4a": "",
        "# Cell 4\n# Cell 5": "Cell 4",
        "%%time": "",
        "": "",
    },
    "markdown": {
        "## Cell 3 - Data": "Cell 3: Data",
        "**Cell 1: Plan**": "Cell 1: Plan",
        "# **Cell 1: Plan**": "Cell 1: Plan",
        "**Cell 1** (Markdown): plan": "Cell 1: (Markdown): plan",
        "## [Cell 1] Plan": "Cell 1: Plan",
        "# Cell 1 \u2013 Plan": "Cell 1: Plan",
        "__Cell 1__ plan": "Cell 1: plan",
        "### `Cell 1` plan": "Cell 1: plan",
        "<h2>Cell 1: Plan</h2>": "Cell 1: Plan",
        "<h2 id='a'>Cell 1 plan</h2>": "Cell 1: plan",
        "Cell 5. Step": "Cell 5: Step",
        "Cell 4: reward": "Cell 4: reward",
        "Cell 4 Reward": "Cell 4: Reward",
        "Cell 4 ": "Cell 4",
        "Cell 4 shows that ...": "",
        "In Cell 4: reward": "",
    },
}


@pytest.mark.parametrize(
    ("kind", "source", "heading"),
    [(kind, source, heading) for kind, group in LABELLED.items() for source, heading in group.items()],
)
def test_a_label_is_read_as_people_write_it(kind, source, heading):
    """Catches a section that is called missing since its label is bold, below a magic or a heading of HTML."""
    assert heading_of(cell(kind, source)) == heading
    assert label_of(cell(kind, source)) == (int(heading[5]) if heading else None)


@pytest.mark.parametrize("source", ["Cell 4, reward", "Cell 4 (reward)", "Cell 4 | reward", "Cell 4 = reward"])
def test_a_label_in_plain_text_ends_where_no_sentence_would_go_on(source):
    assert label_of(cell("markdown", source)) == 4


def test_a_line_of_any_length_is_looked_at_from_its_beginning():
    heading = heading_of(cell("markdown", "# Cell 4: " + "long " * 1000))
    assert heading.startswith("Cell 4: long long") and 100 < len(heading) < 1000


NOTEBOOK = notebook(
    ("markdown", "---\ntitle: 'Dots'\n---"),
    ("markdown", "Some words."),
    (
        "markdown",
        "# Cell 1: Task definition and a plan that has more words than a heading should have, many more of them",
    ),
    "# Cell 5: One GRPO step\nx = 1",
    "ratio = torch.exp(new - old)\nx = 2",
    "",
    ("markdown", "---\nlines"),
    "print(' '.join(['a line of code that is long enough to be cut somewhere', 'a place']))",
)


def test_each_section_has_its_cells():
    """Catches a cell that is counted to no section, or to the wrong one, and a header in the middle."""
    found = sections(NOTEBOOK)
    assert {number: [one.number for one in cells] for number, cells in found.items()} == {
        0: [0, 1],
        1: [2],
        5: [3, 4, 5, 6, 7],
    }
    assert {number: len(cells) for number, cells in sections(notebook("x = 1", "# Cell 5", "y")).items()} == {
        -1: 1,
        5: 2,
    }
    assert sections(notebook("", ("markdown", "---"))).keys() == {-1}


@pytest.mark.parametrize(
    ("number", "place"),
    [
        (0, "Cell 0: the header"),
        (1, '"Some words." in Cell 0: the header'),
        (3, "Cell 5: One GRPO step"),
        (4, '"ratio = torch.exp(new - old)" in Cell 5: One GRPO step'),
        (5, "the empty cell at place 6 of the file in Cell 5: One GRPO step"),
        (6, '"---" in Cell 5: One GRPO step'),
    ],
)
def test_a_cell_is_named_as_a_person_would_name_it(number, place):
    """Catches a message about "cell 7" that nobody finds in an editor that shows no numbers."""
    assert place_in(NOTEBOOK, number) == place == place_of(NOTEBOOK.cells[number], sections(NOTEBOOK))


def test_long_lines_are_cut_between_words():
    heading = place_in(NOTEBOOK, 2)
    assert heading.startswith("Cell 1: Task definition") and heading.endswith(" ...") and 40 < len(heading) <= 60
    line = place_in(NOTEBOOK, 7)
    assert line.startswith('"print(') and line.endswith(' ..." in Cell 5: One GRPO step')


def test_without_a_label_a_cell_is_known_by_its_first_line():
    """Catches "Cell -1", and the label of a section that has none."""
    unlabelled = notebook("x = 1", ("markdown", "# Dots"))
    assert place_in(unlabelled, 0) == '"x = 1"' and place_in(unlabelled, 1) == '"# Dots"'
    headless = notebook(("markdown", "# Cell 0: Setup"), "x = 1")
    assert place_in(headless, 1) == '"x = 1" in Cell 0: Setup'
    one, other = notebook("x = 1").cells[0], notebook("# Cell 3: Data").cells[0]
    assert place_of(one, {3: [other]}) == '"x = 1"'


@pytest.mark.parametrize(
    ("cells", "title"),
    [
        ([("markdown", '---\nformat: html\ntitle: "Dots"\n---'), ("markdown", "# Other")], "Dots"),
        ([("markdown", "---\ntitle:\n---"), ("markdown", "Words.\n# Count the *dots*")], "Count the *dots*"),
        (["# Code", ("markdown", "## Small"), ("markdown", "  # Large")], "Large"),
        ([("markdown", "## Small"), "# Code"], "my_task"),
        ([*[("markdown", "words")] * 3, ("markdown", "# Late")], "my_task"),
        ([("markdown", "words " * 10_000 + "\n# Late")], "my_task"),
        ([("markdown", "# " + "x" * 400)], "x" * 300),
    ],
)
def test_a_notebook_has_a_title(cells, title):
    """Catches a page of the site that is called by a subheading, a comment of code or nothing."""
    assert title_of(notebook(*cells)) == title


def test_a_title_from_a_files_name_fits_on_one_line():
    one = notebook("x = 1")
    assert title_of(Notebook(one.path.with_name("a\nb.ipynb"), one.cells)) == "a b"


def test_a_header_is_text_between_lines():
    assert is_header(cell("markdown", "\n---\ntitle: x\n---")) and is_header(cell("markdown", "---"))
    assert not is_header(cell("code", "---")) and not is_header(cell("markdown", "# Title\n---"))


def test_each_section_is_asked_for_by_words_of_its_heading_and_by_its_kind():
    """Catches "Cell 4 (training loop) is missing", and a right notebook whose cells are of the wrong kind."""
    found = sections(notebook_of(GOOD, NOTEBOOK.path))
    assert [spec.number for spec in SPECS] == list(found)
    for spec in SPECS:
        first = found[spec.number][0]
        heading = heading_of(first) or "the header"
        assert set(spec.title.split()) & set(heading.lower().split()[1:])
        assert first.kind == spec.kind
