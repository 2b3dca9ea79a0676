"""A notebook as the Markdown that is handed in, and where its characters went.

Markdown cells stay as they are. A code cell is a line `In [n]:` and its source, then its text outputs, cut at
`max_output` characters; a picture or other rich output is one short line. Colours and redrawn progress bars
are removed. The same notebook always gives the same text.
"""

import re
from dataclasses import dataclass

from checker.notebook import Cell, Notebook, Output

LIMIT = 40_000
MAX_OUTPUT = 1_000
ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_]")


@dataclass(frozen=True)
class Section:
    """The Markdown that one cell becomes: its source and its output, apart."""

    cell: Cell
    source: str
    output: str

    @property
    def text(self) -> str:
        return self.source + self.output

    @property
    def characters(self) -> int:
        return len(self.text)


def sections(notebook: Notebook, max_output: int = MAX_OUTPUT) -> list[Section]:
    """The submission Markdown, cell by cell."""
    return [Section(cell, _source(cell), _outputs(cell, max_output)) for cell in notebook.cells]


def to_markdown(notebook: Notebook, max_output: int = MAX_OUTPUT) -> str:
    """The submission Markdown; its length in code points is what the limit counts."""
    return "\n".join(section.text for section in sections(notebook, max_output))


def _source(cell: Cell) -> str:
    source = cell.source.rstrip("\n")
    if not cell.is_code:
        return source + "\n"
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", source)), default=0))
    return f"In [{' ' if cell.count is None else cell.count}]:\n\n{fence}python\n{source}\n{fence}\n"


def _outputs(cell: Cell, max_output: int) -> str:
    text = "".join(filter(None, (_as_text(output) for output in cell.outputs)))
    if not text.strip():
        return ""
    if len(text) > max_output:
        text = f"{text[:max_output].rstrip()}\n... ({len(text) - max_output:,} more characters)\n"
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"\n{fence}text\n{text.rstrip()}\n{fence}\n"


def _as_text(output: Output) -> str:
    if output.image:
        return f"[{output.mime}]\n"
    text = plain(output.text)
    if not text.strip():
        return f"[{output.mime}]\n" if output.mime not in ("", "text/plain") else ""
    return text if text.endswith("\n") else text + "\n"


def plain(text: str) -> str:
    """Text without colours, each line as a terminal shows it at last: a carriage return rewrites it."""
    if "\x1b" not in text and "\r" not in text:
        return text
    lines = ANSI.sub("", text).replace("\r\n", "\n").split("\n")
    return "\n".join(next((part for part in reversed(line.split("\r")) if part), "") for line in lines)
