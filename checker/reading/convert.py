"""A notebook as the Markdown that is handed in, and where its characters went.

Markdown cells stay as they are. A code cell is a line `In [n]:` and its source, then its text outputs, cut at
`max_output` characters; a picture or other rich output is one short line. Colours and redrawn progress bars
are removed. The same notebook always gives the same text.
"""

import re
from dataclasses import dataclass

from checker.reading.notebook import CHECK_RECORD, Cell, Notebook, Output

LIMIT = 40_000
MAX_OUTPUT = 1_000
ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_]")


@dataclass(frozen=True)
class Section:
    """The Markdown that one cell becomes: its source and its output, apart.

    cut: characters of the output that were left out.
    """

    cell: Cell
    source: str
    output: str
    cut: int = 0

    @property
    def text(self) -> str:
        return self.source + self.output

    @property
    def characters(self) -> int:
        return len(self.text)


def sections(notebook: Notebook, max_output: int = MAX_OUTPUT) -> list[Section]:
    """The submission Markdown, cell by cell."""
    return [Section(cell, _source(cell), *_outputs(cell, max_output)) for cell in notebook.cells]


def to_markdown(notebook: Notebook, max_output: int = MAX_OUTPUT) -> str:
    """The submission Markdown; its length in code points is what the limit counts."""
    return "\n".join(section.text for section in sections(notebook, max_output))


def _source(cell: Cell) -> str:
    source = cell.source.rstrip("\n")
    if not cell.is_code:
        return source + "\n"
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", source)), default=0))
    return f"In [{' ' if cell.count is None else cell.count}]:\n\n{fence}python\n{source}\n{fence}\n"


def _outputs(cell: Cell, max_output: int) -> tuple[str, int]:
    """The text outputs of a cell, fenced, and how many of their characters are left out."""
    text = "".join(filter(None, (_as_text(output) for output in cell.outputs)))
    if not text.strip():
        return "", 0
    cut = max(0, len(text) - max_output)
    if cut:
        text = f"{text[:max_output].rstrip()}\n... ({cut:,} more characters)\n"
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"\n{fence}text\n{text.rstrip()}\n{fence}\n", cut


def _as_text(output: Output) -> str:
    if output.image:
        return f"[{output.mime}]\n"
    text = plain(output.text)
    if not text.strip():
        return f"[{output.mime}]\n" if output.mime not in ("", "text/plain", CHECK_RECORD) else ""
    return text if text.endswith("\n") else text + "\n"


def plain(text: str) -> str:
    """Text without colours, each line as a terminal shows it at last."""
    return redrawn(ANSI.sub("", text)) if "\x1b" in text or "\r" in text else text


def redrawn(text: str) -> str:
    """Text in which each line is as a terminal shows it at last: a carriage return rewrites it, in the colours so far."""
    if "\r" not in text:
        return text
    return "\n".join(map(_at_last, text.replace("\r\n", "\n").split("\n")))


def _at_last(line: str) -> str:
    parts = line.split("\r")
    last = next((number for number in range(len(parts) - 1, -1, -1) if ANSI.sub("", parts[number])), 0)
    return "".join(ANSI.findall("\r".join(parts[:last]))) + parts[last]
