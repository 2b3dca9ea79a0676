"""The papers that the course names, each with the notebooks and pages that name it."""

import re
from dataclasses import dataclass
from pathlib import Path

from checker.pages.templates import style, template
from checker.reading.layout import title_of
from checker.reading.notebook import Notebook, read
from checker.reading.website import NOTEBOOK
from checker.site.terms import Paper, papers


@dataclass(frozen=True)
class Listed:
    """A paper and where it is named: (link from the page of references, title)."""

    paper: Paper
    places: list[tuple[str, str]]


def references(project: Path, sources: list[Path]) -> str:
    """The list of papers. It is shown by a page in `docs/`, from which its links lead."""
    notebooks = {source: read(project / source) for source in sources if source.suffix == NOTEBOOK}
    titles = {source: title_of(notebook) for source, notebook in notebooks.items()}
    texts = {source: _text(notebook) for source, notebook in notebooks.items()}
    listed = []
    for paper in papers(project):
        named = [source for source, text in texts.items() if re.search(paper.words, text)]
        listed.append(
            Listed(paper, [(f"../{source.with_suffix('.html').as_posix()}", titles[source]) for source in named])
        )
    return template("references.html.j2").render(listed=listed, css=style("references.css"))


def _text(notebook: Notebook) -> str:
    """All that a notebook says, in its texts and its code."""
    return "\n".join(cell.source for cell in notebook.cells)
