"""The layout of a notebook: the section, Cell 0 to Cell 8, that each of its cells belongs to.

Labels are recognised as people write them: `# Cell 4: Reward function`, `**Cell 1: Plan**`, `## Cell 3 -
Data`, `Cell 5. Step`. A cell without a label belongs to the section before it.
"""

import re
from dataclasses import dataclass
from textwrap import shorten

from checker.reading.notebook import Cell, Notebook
from checker.reading.text import one_line

LONGEST_LABEL = 300  # characters of a line that are looked at
LONGEST_FIRST_LINE = 60  # characters of a line that names a cell
MOST_OF_A_TITLE = 10_000  # characters of a cell in which its notebook's title is looked for
MARKUP = re.compile(r"<[^>]*>|[*_`~]")
LABEL = re.compile(r"[\s#\[(=\-–—•>%|:]*cell\s*[#(\[]?\s*(\d{1,9})\b(.*)", re.IGNORECASE)
SEPARATED = re.compile(r"\s*(?:[:.)\]\-–—|=,]|$)|\s+[A-Z(]")
ABOVE_A_LABEL = re.compile(r"\s*(?:%%|#\s*\||#\s*@title\s*$)")  # cell magics and Quarto's options


@dataclass(frozen=True)
class SectionSpec:
    """The structure that is asked of one section."""

    number: int
    title: str
    kind: str


SPECS = (
    SectionSpec(0, "Quarto's YAML header", "markdown"),
    SectionSpec(1, "task definition and plan", "markdown"),
    SectionSpec(2, "imports, model and tokenizer", "code"),
    SectionSpec(3, "training and evaluation data", "code"),
    SectionSpec(4, "reward function", "code"),
    SectionSpec(5, "one GRPO step", "code"),
    SectionSpec(6, "training loop", "code"),
    SectionSpec(7, "evaluation", "code"),
    SectionSpec(8, "analysis", "markdown"),
)


def label_line(cell: Cell) -> str:
    """The line that may hold a label: the first that says something, below magics and `#|` options."""
    lines = (line.strip() for line in cell.source.splitlines() if line.strip())
    return next((line for line in lines if not (cell.is_code and ABOVE_A_LABEL.match(line))), "")[:LONGEST_LABEL]


def label_of(cell: Cell) -> int | None:
    """The number in a cell's label; None without one.

    In code the label is a comment or a docstring. In Markdown a line that is neither a heading nor bold is a
    label only where a sentence would not go on: "Cell 4: reward", and not "Cell 4 shows that ...".
    """
    first = label_line(cell)
    if cell.is_code and not first.startswith(("#", '"', "'")):
        return None
    match = LABEL.match(MARKUP.sub("", first).lstrip("\"'"))
    if match is None:
        return None
    marked = cell.is_code or first.startswith(("#", "**", "__", "<h"))
    return int(match[1]) if marked or SEPARATED.match(match[2].rstrip()) else None


def heading_of(cell: Cell) -> str:
    """A cell's label as a heading, "Cell 4: Reward function"; "" without a label."""
    number = label_of(cell)
    if number is None:
        return ""
    label = MARKUP.sub("", label_line(cell)).partition(" {#")[0]  # the name behind it is for references
    said = LABEL.match(label.lstrip("\"'"))[2].strip(" \t#=-–—.:)]*%\"'")
    return f"Cell {number}: {said}" if said else f"Cell {number}"


def place_of(cell: Cell, sections: dict[int, list[Cell]]) -> str:
    """The place of a cell as a person would say it: its section's label, and before it a further cell's first line.

    "Cell 5: One GRPO step"; "ratio = torch.exp(...)" in Cell 5: One GRPO step; where there are no labels the line alone.
    """
    first = shorten(label_line(cell), LONGEST_FIRST_LINE, placeholder=" ...")
    own = f'"{first}"' if first else f"the empty cell at place {cell.number + 1} of the file"
    for number, cells in sections.items():
        if not any(cell is one for one in cells):
            continue
        if number == 0 and is_header(cells[0]):
            heading = "Cell 0: the header"
        elif number < 0 or label_of(cells[0]) is None:
            return own
        else:
            heading = shorten(heading_of(cells[0]), LONGEST_FIRST_LINE, placeholder=" ...")
        return heading if cell is cells[0] else f"{own} in {heading}"
    return own


def place_in(notebook: Notebook, number: int) -> str:
    """The place of the cell with this number in the file, as `place_of` says it, in one line."""
    return one_line(place_of(notebook.cells[number], sections(notebook)))


def title_of(notebook: Notebook) -> str:
    """The header's title, else the first heading, else the file's name."""
    sources = [cell.source[:MOST_OF_A_TITLE] for cell in notebook.cells if not cell.is_code]
    lines = [line.strip() for source in sources[:3] for line in source.splitlines()]
    for beginning in ("title:", "# "):
        for line in lines:
            title = line.removeprefix(beginning).partition(" {#")[0].strip().strip("\"'").strip()
            if line.startswith(beginning) and title:
                return title[:LONGEST_LABEL]
    return one_line(notebook.path.stem)


def is_header(cell: Cell) -> bool:
    """True if the cell looks like Quarto's YAML header, well formed or not."""
    return not cell.is_code and cell.source.lstrip().startswith("---")


def sections(notebook: Notebook) -> dict[int, list[Cell]]:
    """The cells of each section that occurs, in the file's order; key -1 holds those before the first."""
    found: dict[int, list[Cell]] = {}
    current = -1
    for cell in notebook.cells:
        if cell.number == 0 and is_header(cell):
            current = 0
        else:
            label = label_of(cell)
            current = current if label is None else label
        found.setdefault(current, []).append(cell)
    return found
