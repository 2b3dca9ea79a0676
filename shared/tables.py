"""Results as tables: a pandas frame goes in, and a notebook shows it as a table, a terminal as lines of text.

    show([{"model": "before", "reward": 0.0, "95 % interval": (0.0, 0.019)},
          {"model": "after", "reward": 0.985, "95 % interval": (0.957, 0.995)}])

    model   reward   95 % interval
    before   0.000  0.000 to 0.019
    after    0.985  0.957 to 0.995

The text, which the Markdown that is handed in and the checker read, has every row and every word. The HTML has
no style: `checker/pages/both.scss` has that for pages, and editors have their own.
"""

import html
import re
import textwrap
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from numbers import Integral, Real

import pandas as pd
from IPython.display import display
from jaxtyping import Float
from torch import Tensor

from shared.progress import LINE_WIDTH
from shared.statistics import mean_interval

GAP = "  "  # between two columns of the text
NARROWEST = 16  # characters of a column of texts that goes on in further lines
INTERVAL = "95 % interval"
SIGN = re.compile("^[-+ ]?")  # of a format


@dataclass(frozen=True)
class Table:
    """A frame as it is shown: without its index, and with its numbers written alike.

    frame: columns of texts first, then columns of numbers. A pair of numbers is an interval, a
        list of numbers has one for each seed.
    form: the format of a number.    forms: that of the columns which have another, by name.
    """

    frame: pd.DataFrame
    form: str = ".3f"
    forms: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        rows = self.rows
        texts, widths = self.texts, self.widths(rows)
        return "\n".join(line for row in rows for line in _lines(row, widths, texts))

    def _repr_html_(self) -> str:
        """The rows as HTML, in which the ends of rows and cells may be left out; t2 says that two columns are texts."""
        head, *body = [[html.escape(cell, quote=False) for cell in row] for row in self.rows]
        above = "".join(f"<th>{cell}" for cell in head)
        below = "".join("\n<tr>" + "".join(f"<td>{cell}" for cell in row) for row in body)
        return f'<table class="t{self.leading_texts}"><thead><tr>{above}<tbody>{below}</table>'

    @property
    def rows(self) -> list[list[str]]:
        """The cells as text, the names of the columns first."""
        columns = [
            [str(name), *(written(value, self.forms.get(name, self.form)) for value in self.frame[name])]
            for name in self.frame.columns
        ]
        return [list(row) for row in zip(*columns, strict=True)]

    @property
    def texts(self) -> list[bool]:
        """For each column whether it holds texts, which begin at the left."""
        return [any(isinstance(value, str) for value in self.frame[name]) for name in self.frame.columns]

    @property
    def leading_texts(self) -> int:
        """The number of columns before the first one of numbers."""
        return [*self.texts, False].index(False)

    def widths(self, rows: list[list[str]]) -> list[int]:
        """The characters of each column; where a line would be too long, heads of numbers and the widest texts go on below."""
        texts = self.texts
        columns = list(zip(*rows, strict=True))
        widths = [max(map(len, column)) for column in columns]
        room = LINE_WIDTH - len(GAP) * (len(columns) - 1)
        if sum(widths) > room:
            for i, (head, *below) in enumerate(columns):
                widths[i] = widths[i] if texts[i] else max(map(len, [*head.split(), *below]))
        while sum(widths) > room:
            can_wrap = [i for i, width in enumerate(widths) if texts[i] and width > NARROWEST]
            if not can_wrap:
                break
            widths[max(can_wrap, key=lambda i: widths[i])] -= 1
        return widths


def _lines(row: list[str], widths: list[int], texts: list[bool]) -> list[str]:
    """One row as lines of text, more than one where a text is longer than its column is wide."""
    pieces = [
        textwrap.wrap(cell, width, replace_whitespace=False) or [""] for cell, width in zip(row, widths, strict=True)
    ]
    lines = []
    for line in zip_longest(*pieces, fillvalue=""):
        cells = [
            cell.ljust(width) if text else cell.rjust(width)
            for cell, width, text in zip(line, widths, texts, strict=True)
        ]
        lines.append(GAP.join(cells).rstrip())
    return lines


def show(rows: pd.DataFrame | Sequence[Mapping], form: str = ".3f", forms: Mapping[str, str] | None = None) -> None:
    """Show a frame, or rows of which one can be made, as a table; a terminal gets it as text.

    Args:
        form: the format of numbers, as in f"{x:.3f}"; whole numbers and texts stay as they are.
        forms: the formats of single columns by name, where they differ.
    """
    display(Table(pd.DataFrame(rows), form, forms or {}))


def written(value: object, form: str) -> str:
    """A cell as text: 0.5 as "0.500", a pair as "0.400 to 0.600", a list as "0.4 0.6", what is missing as nothing.

    A line break is written as \\n, so that a row stays one.
    """
    if isinstance(value, Tensor) and value.dim() == 0:
        return written(value.item(), form)
    if isinstance(value, tuple):
        return " to ".join(written(end, form) for end in value)
    if isinstance(value, list):
        return " ".join(written(each, form) for each in value)
    if isinstance(value, str):
        return value.replace("\n", "\\n")
    if value is None or value != value:  # not a number
        return ""
    if isinstance(value, Real) and not isinstance(value, Integral):
        return format(value, SIGN.sub(r"\g<0>z", form))  # with z a number that is written as zero has no minus
    return str(value)


def mean_row(
    name: str, values: Float[Tensor, "N"], clusters: Sequence[Hashable] | None = None, measure: str = "reward"
) -> dict:
    """A row with the mean of N values and its interval beside it; `clusters` as in `mean_interval`."""
    return {"measured": name, measure: values.float().mean().item(), INTERVAL: mean_interval(values, clusters=clusters)}
