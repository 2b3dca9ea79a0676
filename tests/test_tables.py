"""Tables of results: nothing is shortened in the text, nothing but the table in the HTML."""

import html
import re

import numpy as np
import pandas as pd
import pytest
import torch

from checker.pages.sanitise import sanitised
from shared.progress import LINE_WIDTH
from shared.statistics import mean_interval
from shared.tables import Table, mean_row, show, written

ROWS = [
    {"model": "before", "reward": 0.0, "95 % interval": (0.0, 0.019)},
    {"model": "after", "reward": 0.985, "95 % interval": (0.957, 0.995)},
]


def test_a_terminal_gets_the_table_of_the_docstring(capsys):
    """Numbers at the right, texts at the left, no index, three decimals."""
    show(ROWS)
    assert capsys.readouterr().out == (
        "model   reward   95 % interval\nbefore   0.000  0.000 to 0.019\nafter    0.985  0.957 to 0.995\n"
    )


def test_no_row_and_no_word_is_left_out():
    """Catches pandas' own text, which cuts long cells, wide frames and the middle of many rows."""
    frame = pd.DataFrame({"said": [f"{row} " + "word " * 60 + "end" for row in range(90)], "reward": 0.5})
    text = repr(Table(frame))
    assert text.count("end") == text.count("0.500") == 90 and text.count("word") == 90 * 60
    assert max(map(len, text.splitlines())) <= LINE_WIDTH
    wide = pd.DataFrame([range(1000, 1040)])
    assert repr(Table(wide)).split()[40:] == [str(number) for number in range(1000, 1040)]


def test_the_head_of_a_number_goes_on_below_before_a_text_does():
    """Catches two words above a digit that push an example onto further lines."""
    rows = pd.DataFrame([{"said": "a" * (LINE_WIDTH - 16), "reward before": 0, "reward after": 1}])
    assert repr(Table(rows)).split("\n") == [
        f"{'said':{LINE_WIDTH - 16}}  reward  reward",
        f"{'':{LINE_WIDTH - 16}}  before   after",
        f"{'a' * (LINE_WIDTH - 16)}       0       1",
    ]


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (np.float64(0.12345), ".3f", "0.123"),
        (0.5, "+.2f", "+0.50"),
        (torch.tensor(0.5), ".3f", "0.500"),
        (np.int64(8), ".3f", "8"),
        (True, ".3f", "True"),
        (-0.0004, ".3f", "0.000"),
        (-0.0, "+.2f", "+0.00"),
        (-0.5, "+,.1f", "-0.5"),
        ((-0.001, 0.25), ".2f", "0.00 to 0.25"),
        ("a\nb", ".3f", "a\\nb"),
        ((0.1, 0.25), ".2f", "0.10 to 0.25"),
        ([0.1, 0.25], ".2f", "0.10 0.25"),
        (float("nan"), ".3f", ""),
        (None, ".3f", ""),
    ],
)
def test_cells(value, form, text):
    """A count with three decimals, a minus before zero, a line break that ends a row, "nan" where nothing was measured."""
    assert written(value, form) == text


def test_a_column_has_a_format_of_its_own():
    assert repr(Table(pd.DataFrame([{"step size": 3e-5, "KL": 0.5}]), forms={"step size": ".0e"})).split()[-2:] == [
        "3e-05",
        "0.500",
    ]


def test_html_is_the_cells_and_no_more():
    """Catches pandas' border, class and style block, which count among 40,000 characters; and text read as markup."""
    shown = Table(pd.DataFrame(ROWS + [{"model": "<b>&", "reward": 1.0}]))._repr_html_()
    cells = [html.unescape(cell) for cell in re.findall(r"<t[hd]>([^\n<]*)", shown)]
    assert cells == [
        cell for row in Table(pd.DataFrame(ROWS + [{"model": "<b>&", "reward": 1.0}])).rows for cell in row
    ]
    assert not re.search(r"style|border|dataframe|<b>|id=", shown)
    assert len(shown) < 2 * sum(map(len, cells)) + 100


def test_a_page_lets_the_table_and_its_class_through():
    """Catches a class that the filter for strangers' HTML takes away, and with it the alignment."""
    clean = sanitised(Table(pd.DataFrame(ROWS))._repr_html_())
    assert '<table class="t1">' in clean and clean.count("</td>") == 6 and clean.count("</th>") == 3


def test_the_class_counts_the_columns_of_texts():
    frame = pd.DataFrame([{"prompt": "p", "said": "s", "reward": 1.0, "why": "w"}])
    assert 'class="t2"' in Table(frame)._repr_html_() and 'class="t0"' in Table(frame[["reward"]])._repr_html_()


def test_a_mean_stands_beside_its_interval():
    values = torch.tensor([1.0, 0.0, 1.0, 1.0])
    assert mean_row("after", values) == {"measured": "after", "reward": 0.75, "95 % interval": mean_interval(values)}
    clusters = ["a", "a", "b", "b"]
    assert mean_row("after", values, clusters)["95 % interval"] == mean_interval(values, clusters=clusters)
