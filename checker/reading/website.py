"""The site as `_quarto.yml` has it: its pages in reading order, and its public address.

The public address and the repository's are set there and nowhere else: `site-url` and `repo-url`. Without them the site
names none, has no link to Colab, Kaggle or Codespaces, to the source of a page or to a place where it could be edited, and no map of itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from checker.reading.notebook import Unreadable

SETTINGS = "_quarto.yml"
NOTEBOOK = ".ipynb"
PUBLISHED = "gh-pages"  # the branch of the finished site: .github/workflows/pages.yml
QUESTIONS = "questions"  # the folder of them beside the notebooks, and their place on a notebook's page


@dataclass(frozen=True)
class Website:
    """address, repository: of the public site and its source, without a slash at the end; "" where they are not set.

    pages: files below the project's folder, in reading order.    sections: of those in one, its name in the sidebar.
    short: what the sidebar calls those whose title would fill it.    picture: what is shown of the site where it is linked.
    """

    title: str
    description: str
    pages: list[Path]
    address: str = ""
    repository: str = ""
    branch: str = "main"
    picture: str = ""
    sections: dict[Path, str] = field(default_factory=dict)
    short: dict[Path, str] = field(default_factory=dict)

    @property
    def notebooks(self) -> list[Path]:
        return [page for page in self.pages if page.suffix == NOTEBOOK]

    def source(self, page: Path, action: str = "blob") -> str:
        """The address at which a page's source is shown, or edited by the action "edit"; "" without a public one."""
        return f"{self.repository}/{action}/{self.branch}/{page.as_posix()}" if self.repository else ""

    def questions(self, notebook: Path) -> str:
        """The address of the questions on a notebook, at the end of its page; "" without a public one."""
        return f"{self.address}/{notebook.with_suffix('.html').as_posix()}#{QUESTIONS}" if self.address else ""

    def elsewhere(self, published: Path) -> dict[str, str]:
        """The addresses at which others open a notebook of the published site, by their names; {} without GitHub.

        Codespaces opens the whole repository.
        """
        _, on_github, name = self.repository.partition("https://github.com/")
        if not on_github:
            return {}
        place = f"{name}/blob/{PUBLISHED}/{published.as_posix()}"
        return {
            "Colab": f"https://colab.research.google.com/github/{place}",
            "Kaggle": f"https://www.kaggle.com/kernels/welcome?src=https://github.com/{place}",
            "Codespaces": f"https://codespaces.new/{name}",
        }


def website(project: Path) -> Website:
    """The settings of a project's site.

    Raises:
        Unreadable: `_quarto.yml` lists no pages.
    """
    import yaml

    try:
        found = yaml.safe_load((project / SETTINGS).read_text(encoding="utf-8"))["website"]
        listed = list(_listed(found["sidebar"]["contents"]))
        return Website(
            title=str(found["title"]),
            description=str(found.get("description", "")),
            pages=[page for page, _, _ in listed],
            sections={page: section for page, section, _ in listed if section},
            short={page: text for page, _, text in listed if text},
            address=str(found.get("site-url") or "").rstrip("/"),
            repository=str(found.get("repo-url") or "").rstrip("/"),
            branch=str(found.get("repo-branch", "main")),
            picture=str(found.get("image", "")).lstrip("/"),
        )
    except FileNotFoundError as error:
        raise Unreadable(f"There is no {SETTINGS} here. Call this in the course's folder.") from error
    except (OSError, yaml.YAMLError, KeyError, TypeError) as error:
        raise Unreadable(f"{SETTINGS} does not list the pages of a site under website, sidebar ({error!r}).") from error


def _listed(contents: list, section: str = "") -> Iterator[tuple[Path, str, str]]:
    """(file, section, text) of what a sidebar's contents name: names, entries with `href`, and sections with contents."""
    for entry in contents:
        if isinstance(entry, dict) and "contents" in entry:
            yield from _listed(entry["contents"], str(entry.get("section", section)))
        elif isinstance(entry, dict):
            yield Path(entry["href"]), section, str(entry.get("text", ""))
        else:
            yield Path(entry), section, ""
