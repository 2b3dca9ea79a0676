"""The course site without Quarto: the pages that `_quarto.yml` lists, in its reading order.

What Quarto makes of the same files is richer. This needs only Python: a notebook is shown by the built-in engine
without verdict and form, a `.qmd` page is read as Markdown. A page is added by adding its file to the sidebar in
`_quarto.yml`.
"""

import base64
import os
import re
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from checker.outputs.claims import header_of
from checker.pages import builtin
from checker.pages.markdown import Heading, to_html
from checker.pages.sanitise import Pictures
from checker.pages.templates import rendered, template
from checker.reading.files import write_beside
from checker.reading.layout import title_of
from checker.reading.notebook import Unreadable, read
from checker.reading.website import NOTEBOOK, QUESTIONS, SETTINGS, Website, website
from checker.site import pieces, questions, searching
from checker.site.finish import NOWHERE, TEACHES, TEACHES_HEADING, finish
from checker.site.terms import anchor

HEADER = re.compile(r"---\n(.*?)\n---\n", re.DOTALL)
LINK = re.compile(r'(<a href=")([^"#:]+)\.(ipynb|qmd)(["#])')
INSIDE = re.compile(r'(<a href=")(?![a-z]+:|[/#])')
KINDS = {".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg", ".gif": "gif", ".webp": "webp", ".svg": "svg+xml"}


@dataclass(frozen=True, eq=False)
class Page:
    """One page: the file below the project's folder it is made from, and what is on it.

    contents: (place, heading) of what stands in its list of contents.
    classes: of its body, as Quarto's option `body-classes` names them.
    root: of the page that is shown at any address, the address of the site on its host, "/course/"; "" for all others.
    """

    source: Path
    title: str
    html: str
    contents: list[tuple[str, str]]
    subtitle: str = ""
    description: str = ""
    classes: str = ""
    pieces: list[str] = field(default_factory=list)
    root: str = ""

    @property
    def is_notebook(self) -> bool:
        return self.source.suffix == NOTEBOOK

    @property
    def target(self) -> Path:
        return self.source.with_suffix(".html")

    @property
    def to_root(self) -> str:
        """The address of the site from this page, with a slash at the end."""
        return self.root or quote(Path(os.path.relpath(".", self.target.parent)).as_posix()) + "/"

    def link_from(self, other: "Page") -> str:
        if other.root:
            return other.root + quote(self.target.as_posix())
        return quote(Path(os.path.relpath(self.target, other.target.parent)).as_posix())


def build(project: Path, folder: Path) -> list[Path]:
    """Make the site of a project's folder in `folder`; returns where its pages are.

    Raises:
        Unreadable: the settings name no pages, or a page cannot be read; the message says which.
    """
    site = website(project)
    pages = [_page(project, source, site.pages) for source in site.pages]
    written = []
    for number, page in enumerate(pages):
        before = pages[number - 1] if number else None
        after = pages[number + 1] if number + 1 < len(pages) else None
        write_beside(folder / page.target, _shown(page, pages, site, before, after))
        written.append(folder / page.target)
    if (project / NOWHERE).is_file():
        page = _at_any_address(_page(project, NOWHERE, site.pages), site)
        write_beside(folder / page.target, _shown(page, pages, site))
    if site.address:
        write_beside(folder / "sitemap.xml", template("sitemap.xml.j2").render(site=site, pages=pages))
        _copy_picture(project, folder, site)
    finish(project, folder, site)
    write_beside(folder / searching.INDEX, searching.index(folder, pages))
    return written


def _shown(page: Page, pages: list[Page], site: Website, before: Page | None = None, after: Page | None = None) -> str:
    """The HTML of a page among the site's, and what is read before and after it."""
    scripts = (
        "page.js",
        "enlarge.js",
        "search.js",
        *(pieces.SCRIPTS[name] for name in page.pieces if name in pieces.SCRIPTS),
    )
    title = site.title if page is pages[0] else page.title
    return rendered(
        "course.html.j2", scripts, title=title, page=page, pages=pages, site=site, previous=before, next=after,
        index=searching.INDEX.as_posix(),
    )  # fmt: skip


def _at_any_address(page: Page, site: Website) -> Page:
    """The page that a host shows where there is none: its links begin at the host."""
    root = f"{urlsplit(site.address).path}/"
    return replace(page, root=root, html=INSIDE.sub(lambda link: link[1] + root, page.html))


def _copy_picture(project: Path, folder: Path, site: Website) -> None:
    """Put the picture that is shown of the site where its address says."""
    if site.picture:
        target = folder / site.picture
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(project / site.picture, target)


def _page(project: Path, source: Path, sources: list[Path]) -> Page:
    """A page of the site, from a notebook or from Markdown with Quarto's header. `sources` are all pages."""
    path = project / source
    pictures = _beside(project, path)
    if source.suffix == NOTEBOOK:
        notebook = read(path)
        body = builtin.body(notebook, pictures)
        description = header_of(notebook).get("description")
        description = description if isinstance(description, str) else ""
        shown = _linked(body.html)
        contents = [(TEACHES, TEACHES_HEADING), *body.contents]
        if questions.questions(project, source):
            contents.append((QUESTIONS, questions.HEADING))
        return Page(source, title_of(notebook), shown, contents, description=description)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise Unreadable(f"The page {source} of {SETTINGS} cannot be read: {error.strerror}.") from error
    header, text = _header(text)
    # Pieces are marked before and filled in last, so that neither Markdown nor the links change them.
    html, headings = to_html(pieces.marked(text), "part", pictures)
    html, listed = _named(html, headings)
    shown = pieces.filled(_linked(html), project, sources)
    said = {name: str(header.get(name, "")) for name in ("subtitle", "description")}
    return Page(
        source,
        str(header.get("title", source.stem)),
        shown,
        listed,
        **said,
        classes=str(header.get("body-classes", "")),
        pieces=pieces.asked_for(html),
    )


def _named(html: str, headings: list[Heading]) -> tuple[str, list[tuple[str, str]]]:
    """A page whose headings have the places that Quarto gives them, "equal-groups", and its list of contents."""
    listed = []
    for heading in headings:
        place = anchor(heading.text)
        html = html.replace(f'id="{heading.anchor}"', f'id="{place}"')
        if heading.level <= 2:
            listed.append((place, heading.text))
    return html, listed


def _header(text: str) -> tuple[dict, str]:
    """The YAML header of a page and the Markdown below it."""
    import yaml

    match = HEADER.match(text)
    if match is None:
        return {}, text
    header = yaml.safe_load(match[1])
    return header if isinstance(header, dict) else {}, text[match.end() :]


def _linked(html: str) -> str:
    """HTML whose links to notebooks and pages lead to what is made of them."""
    return LINK.sub(r"\1\2.html\4", html)


def _beside(project: Path, page: Path) -> Pictures:
    """The pictures of the project by their addresses from one of its pages."""

    def picture(address: str) -> str | None:
        file = (page.parent / unquote(address)).resolve()
        kind = KINDS.get(file.suffix.lower())
        if kind is None or not file.is_relative_to(project.resolve()) or not file.is_file():
            return None
        return f"data:image/{kind};base64,{base64.b64encode(file.read_bytes()).decode()}"

    return picture
