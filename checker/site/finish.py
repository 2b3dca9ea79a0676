"""The finishing of the site's pages, whichever engine made them.

Links from the first place of a word to the glossary and of a paper to the references; below a notebook's title what it
needs, what it teaches and the files in which it opens; no script from elsewhere; and beside the pages those files, and
what "Try it" and "Check your notebook" load.
"""

import json
import os
import re
import shutil
from itertools import groupby
from pathlib import Path
from urllib.parse import quote

from checker.editions.colab import for_colab
from checker.pages.card import card
from checker.pages.markdown import polished
from checker.pages.templates import HERE, MATH_FONT, style, template, with_math_font
from checker.reading.files import write_beside
from checker.reading.layout import title_of
from checker.reading.notebook import read
from checker.reading.website import NOTEBOOK, QUESTIONS, Website
from checker.site import equations, questions
from checker.site.linking import Entry, linked
from checker.site.pieces import checking, trying
from checker.site.pieces.thumbnails import thumbnail
from checker.site.terms import GLOSSARY, Paper, glossary_entries, paper_entries, papers

FILES = Path("files")  # where the site has its notebooks, to be downloaded
TRY = Path("docs") / "try.qmd"
CHECK = Path("docs") / "check.qmd"
NOWHERE = Path("404.qmd")  # what hosts of pages show where there is none, GitHub's among them
REFERENCES = Path("docs") / "references.qmd"
API = Path("docs") / "api.qmd"
WITHOUT_TERMS = (GLOSSARY, REFERENCES, API)  # the first explains them all, the others speak to who knows them
# The opening of a notebook's page, which no cell of it holds.
TEACHES, TEACHES_HEADING = "teaches", "What it teaches"
OF_RESULT = 1000  # pixels that the picture in it is wide
QUARTOS = 'id="quarto-document-content"'  # stands in each of Quarto's pages
# Quarto adds these to a notebook that has an output in HTML, for scripts that such outputs might hold; ours hold none.
FROM_ELSEWHERE = re.compile(
    r"""<script src="https?://[^"]*"[^>]*></script>\s*|<script[^>]*>define\('jquery'.*?</script>\s*""", re.DOTALL
)
# What stands below the page's own text: the way to the pages before and after it, or the end.
BEFORE_NEIGHBOURS = re.compile(r'<nav class="turn"|</main>')
BELOW = "</header>"  # of the title, on a page of either engine


def finish(project: Path, folder: Path, site: Website) -> None:
    """Finish the pages of a site that an engine wrote into a folder."""
    listed = papers(project) if REFERENCES in site.pages else []
    (folder / FILES).mkdir(parents=True, exist_ok=True)
    for source in site.pages:
        page = folder / source.with_suffix(".html")
        if not page.is_file():
            continue
        text = _completed(page.read_text(encoding="utf-8"))
        if source.suffix == NOTEBOOK:
            text = _with_openings(text, opening(project, source, site))
            text = _with_questions(text, questions.as_html(questions.questions(project, source)))
            _write_files(project, source, folder, site)
        if source == CHECK:
            text = _with_policy(text, checking.POLICY)
        text = linked(text, _entries(project, source, site, listed))
        write_beside(page, with_math_font(polished(text), _from(source, FILES / MATH_FONT)))
    nowhere = folder / NOWHERE.with_suffix(".html")
    if nowhere.is_file():  # without links to words: it is shown at any address
        write_beside(nowhere, _completed(nowhere.read_text(encoding="utf-8")))
    shutil.copyfile(HERE / MATH_FONT, folder / FILES / MATH_FONT)
    trying.put_beside(folder / TRY, project)
    checking.put_beside(folder / CHECK, project)


def _completed(page: str) -> str:
    """A page of Quarto's without scripts from elsewhere, whose pictures open at their own size; another page as it is."""
    if QUARTOS not in page:
        return page
    return FROM_ELSEWHERE.sub("", page).replace("</body>", f"<script>\n{style('enlarge.js')}</script>\n</body>", 1)


def opening(project: Path, source: Path, site: Website) -> str:
    """The HTML below a notebook's title: its prerequisites and goals, and how to open it."""
    told = card(source, read(project / source), {})
    others = {other.stem: other for other in site.notebooks}
    needed = [others[name] for name in told.needs if name in others]
    before = [(_from(source, other.with_suffix(".html")), title_of(read(project / other))) for other in needed]
    files = [(_from(source, FILES / name), words) for name, words, _ in editions(project, source)]
    return template("open.html.j2").render(
        place=TEACHES,
        heading=TEACHES_HEADING,
        card=told,
        picture=thumbnail(told.picture, OF_RESULT),
        before=before,
        files=files,
        equations=_equations(project, source, site),
        questions=len(questions.questions(project, source)),
        asked=QUESTIONS,
        css=style("open.css"),
        source=site.source(source),
        edit=site.source(source, "edit"),
        elsewhere=site.elsewhere(FILES / _for_colab(source)) if _blank(project, source).is_file() else {},
    )


def _equations(project: Path, source: Path, site: Website) -> list[tuple[str, list[tuple[str, int]]]]:
    """The numbered equations that a notebook is about: a heading of the page of formulas, (link, number) of each."""
    if equations.FORMULAS not in site.pages:
        return []
    page = _from(source, equations.FORMULAS.with_suffix(".html"))
    found = equations.by_notebook(project).get(source.stem, [])
    return [
        (heading, [(f"{page}#{one.name}", one.number) for one in some])
        for heading, some in groupby(found, lambda one: one.heading)
    ]


def editions(project: Path, source: Path) -> list[tuple[str, str, Path]]:
    """The files of a notebook that can be downloaded: (name, what the link says, the notebook it is made from)."""
    found = [(source.name, "the worked notebook", project / source)]
    if _blank(project, source).is_file():
        found.append((f"{source.stem}-blank.ipynb", "to fill in", _blank(project, source)))
    return found


def _blank(project: Path, source: Path) -> Path:
    return project / source.parent / "student" / source.name


def _for_colab(source: Path) -> str:
    """The name of a notebook's edition for Colab, which opens it from the published site: without one there is none."""
    return f"{source.stem}-colab.ipynb"


def _write_files(project: Path, source: Path, folder: Path, site: Website) -> None:
    for name, _, made_from in editions(project, source):
        write_beside(folder / FILES / name, made_from.read_text(encoding="utf-8"))
    blank = _blank(project, source)
    if blank.is_file() and site.elsewhere(FILES / _for_colab(source)):
        made = for_colab(json.loads(blank.read_text(encoding="utf-8")), site.repository)
        write_beside(folder / FILES / _for_colab(source), json.dumps(made, ensure_ascii=False, indent=1) + "\n")


def _with_openings(page: str, opening: str) -> str:
    """A page with the opening below its title; without a title's end it stays as it is."""
    place = page.find(BELOW, page.find("<main"))
    if place < 0:
        return page
    place += len(BELOW)
    return page[:place] + opening + page[place:]


def _with_questions(page: str, asked: str) -> str:
    """A page with questions below all else that is on it."""
    return BEFORE_NEIGHBOURS.sub(lambda end: asked + end[0], page, count=1) if asked else page


def _with_policy(page: str, policy: str) -> str:
    """A page with a policy of what it may load, where the engine gave it none."""
    if 'http-equiv="Content-Security-Policy"' in page:
        return page
    return page.replace("<head>", f'<head>\n<meta http-equiv="Content-Security-Policy" content="{policy}">', 1)


def _entries(project: Path, source: Path, site: Website, listed: list[Paper]) -> list[Entry]:
    """The entries that a page links: the papers that the site lists, and words, where it has a glossary."""
    entries = []
    if source != REFERENCES:
        entries += paper_entries(listed, _from(source, REFERENCES.with_suffix(".html")))
    if source not in WITHOUT_TERMS and GLOSSARY in site.pages:
        entries += glossary_entries(project, _from(source, GLOSSARY.with_suffix(".html")), source)
    return entries


def _from(page: Path, other: Path) -> str:
    """The address of a file of the site from a page."""
    return quote(Path(os.path.relpath(other, page.parent)).as_posix())
