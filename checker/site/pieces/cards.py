"""The gallery: a card for each notebook, in reading order, with what its record says that it reaches."""

from dataclasses import replace
from pathlib import Path

from checker.outputs.chapters import chapters
from checker.pages.card import card
from checker.pages.templates import style, template
from checker.reading.layout import title_of
from checker.reading.notebook import read
from checker.site.pieces.thumbnails import thumbnail


def gallery(project: Path, sources: list[Path]) -> str:
    """The notebooks in reading order."""
    notebooks = {source: read(project / source) for source in sources if source.suffix == ".ipynb"}
    titles = {source.stem: title_of(notebook) for source, notebook in notebooks.items()}
    cards = [card(source, notebook, titles) for source, notebook in notebooks.items()]
    small = [replace(one, picture=thumbnail(one.picture)) for one in cards]
    reached = {chapter.notebook.with_suffix(".html").as_posix(): chapter for chapter in chapters(project)}
    return template("gallery.html.j2").render(cards=small, reached=reached, css=style("gallery.css"))
