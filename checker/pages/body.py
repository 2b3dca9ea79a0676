"""The body of a page, between its head and its form: a notebook's cells, whichever engine showed them.

A page is bounded: it takes at most SECONDS to make and LARGEST characters, and says so where a notebook would need
more.
"""

import html
import re
import time
from dataclasses import dataclass, field
from urllib.parse import unquote

from checker.pages import cells
from checker.pages.markdown import Heading, highlighted, to_html
from checker.pages.sanitise import Pictures, no_picture
from checker.reading.layout import SPECS, heading_of, is_header, label_of, title_of
from checker.reading.notebook import Cell, Notebook
from checker.reading.prose.page import LONGEST, MOST_TEXT, names_of

MOST_CELLS = 1_000  # cells on one page
LARGEST = 18_000_000  # characters of a page's cells; its head, style and form come on top
SECONDS = 4  # of work, after which no further cell is begun; a machine that is busy elsewhere costs nothing
# How the cells begin in which a blank edition shows the worked notebook's output.
EXPECTED = ("What it should print", "What the worked example printed")


@dataclass(frozen=True)
class Body:
    """The cells of a notebook as HTML, and what a list of contents says of them.

    contents: (anchor, heading) in order.    note: what the reader should know of how it was made, "" for nothing.
    """

    html: str
    contents: list[tuple[str, str]] = field(default_factory=list)
    note: str = ""


class Limits:
    """The part of a notebook that a page can still bear."""

    def __init__(self) -> None:
        self.until = time.process_time() + SECONDS
        self.text = MOST_TEXT
        self.size = LARGEST
        self.reason = ""

    def allow(self, cell: Cell) -> bool:
        """True if there is room for one more cell; where there is none, `reason` names what there is too much of."""
        self.text -= min(len(cell.source), LONGEST) + sum(min(len(output.text), LONGEST) for output in cell.outputs)
        if cell.number >= MOST_CELLS:
            self.reason = f"a page shows at most {MOST_CELLS:,} cells"
        elif self.text < 0:
            self.reason = f"a page shows at most {MOST_TEXT:,} characters of text"
        elif self.late:
            self.reason = f"showing them takes longer than {SECONDS} s"
        return not self.reason

    @property
    def late(self) -> bool:
        """True if the time is up."""
        return time.process_time() > self.until

    def take(self, piece: str) -> bool:
        """True if a piece of the page still fits. A piece that does not is left out, and everything after it."""
        self.size -= len(piece)
        if self.size < 0:
            self.reason = f"a page has at most {LARGEST // 1_000_000} MB"
        return not self.reason


class Outline:
    """The title, sections and names of one notebook: places, headings, numbers; and how much of it is still shown."""

    def __init__(self, notebook: Notebook) -> None:
        self.title = title_of(notebook)
        self.contents: list[tuple[str, str]] = []
        self.limits = Limits()
        self.names = names_of(notebook)
        self._open = {spec.number for spec in SPECS}

    def section(self, number: int, heading: str, source: str = "") -> str:
        """The heading of a section; only the first with a number of the nine gets the place `section-N`.

        source: of its cell, where it may have a name, `# Cell 4: Reward {#sec-reward}`.
        """
        name = source.strip().partition("\n")[0].partition("{#")[2].rstrip("} ")
        anchor = f"section-{number}" if number in self._open else f"section-{number}-{len(self.contents)}"
        self._open.discard(number)
        self.contents.append((anchor, heading))
        place = f'<a id="{html.escape(name)}"></a>' if name in self.names.words else ""
        return f'{place}<h2 id="{anchor}">{html.escape(heading)}</h2>'

    def headings(self, found: list[Heading]) -> None:
        """Headings of a text; the first two levels are listed."""
        self.contents += [(heading.anchor, heading.text) for heading in found if heading.level <= 2]


def rest(notebook: Notebook, shown: int, reason: str) -> str:
    """The sentence in place of the cells that a page does not show; "" where it shows all."""
    left = len(notebook.cells) - shown
    if not left:
        return ""
    return f'<p class="rest">{left:,} further cell{"s are" if left > 1 else " is"} not shown: {reason}.</p>'


def text(cell: Cell, outline: Outline, pictures: Pictures) -> str:
    """A cell that is no code, as HTML. The settings and what an exercise should print are folded."""
    if cell.number == 0 and is_header(cell):
        heading = outline.section(0, f"Cell 0: {SPECS[0].title}")
        settings = highlighted(cut(cell.source), "yaml")
        return f'<details class="settings"><summary>{heading}</summary>{settings}</details>'
    if cell.kind == "raw" or len(cell.source) > LONGEST:
        return f"<pre>{html.escape(cut(cell.source))}</pre>"
    heading = ""
    source = cell.source
    if label_of(cell) is not None:
        heading = outline.section(label_of(cell), heading_of(cell), cell.source)
        source = _below_the_title(_below_the_label(source), outline.title)
    body, found = to_html(source, f"cell-{cell.number}", pictures, outline.names)
    outline.headings(found)
    if source.startswith(EXPECTED):
        title, _, below = body.partition("</p>")
        return folded(re.sub("<[^>]*>", "", title).strip().rstrip(":"), below, "expected")
    return f'{heading}<section class="text">{body}</section>'


def _below_the_label(source: str) -> str:
    """A text without its first line, which its section's heading repeats."""
    _, _, below = source.lstrip("\n").partition("\n")
    first, _, rest_of_it = below.partition("\n")
    return rest_of_it if re.fullmatch(r"(?:=+|-+)\s*", first) else below  # a heading can be underlined


def _below_the_title(source: str, title: str) -> str:
    """A text without a first paragraph that is the page's own title in bold, which stands there for Jupyter."""
    first, _, below = source.strip("\n").partition("\n\n")
    return below if first.strip() == f"**{title}**" else source


def folded(title: str, inside: str, kind: str = "fold", aside: str = "", is_open: bool = False) -> str:
    """A fold: its title, what it says beside that, what is in it."""
    small = f" <small>{aside}</small>" if aside else ""
    opened = " open" if is_open else ""
    return f'<details class="{kind}"{opened}><summary>{html.escape(title)}{small}</summary>{inside}</details>'


def beside(cell: Cell) -> str:
    """The note on a fold beside its title: when the code ran, how long it is."""
    lines = cells.code_of(cell).count("\n") + 1
    ran = "" if cell.count is None else f"In [{cell.count}], "
    return f"{ran}{lines} line{'s' if lines != 1 else ''}"


def cut(text: str) -> str:
    """The beginning of a text that is too long for a page."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\n... ({len(text) - LONGEST:,} more characters)"


def attached(cell: Cell, elsewhere: Pictures = no_picture) -> Pictures:
    """The pictures of a cell's text by the addresses it uses: those attached to it, else what `elsewhere` has."""

    def picture(address: str) -> str | None:
        name = address.removeprefix("attachment:")
        return cell.attachments.get(name) or cell.attachments.get(unquote(name)) or elsewhere(address)

    return picture
