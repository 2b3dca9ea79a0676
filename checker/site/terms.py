"""The words of the glossary and the papers of the references, as they are found in texts."""

import re
from dataclasses import dataclass
from pathlib import Path

from checker.reading.notebook import Unreadable
from checker.site.linking import Entry

GLOSSARY = Path("docs") / "glossary.qmd"
PAPERS = Path("references.yaml")
SPACE = r"(?:\s|&nbsp;)+"  # Quarto keeps "et al." and the year together
# Other ways in which the texts say a heading of the glossary.
ALSO = {
    "Held out": ("held-out",),
    "KL divergence": ("KL",),
    "Inverse reinforcement learning": ("inverse RL",),
    "Nats": ("nat",),
    "Off-policy": ("on-policy",),
    "Padding": ("padded",),
    "Policy": ("policies",),
    "GRPO": ("Group Relative Policy Optimization",),
    "PPO": ("Proximal Policy Optimization",),
    "GSPO": ("Group Sequence Policy Optimization",),
    "GAE": ("generalised advantage estimation",),
}
# Pages that say a heading of the glossary in another sense: students' groups, the references that checks compare with,
# what a pattern's brackets hold.
IN_ANOTHER_SENSE = {
    Path("docs") / "ai_policy.qmd": {"Policy", "Completion"},
    Path("docs") / "instructors.qmd": {"Reference", "Group"},
    Path("notebooks") / "transfer.ipynb": {"Group"},
}
# Headings that are everyday words too, "an environment variable", "it turns": the pages that mean what the glossary says.
GAMES = {
    Path("docs") / "cheat_sheet.qmd",
    Path("docs") / "formulas.qmd",
    Path("notebooks") / "game.ipynb",
}
MEANT_ON = {"Environment": {*GAMES, Path("notebooks") / "transfer.ipynb"}, "Turn": GAMES}


@dataclass(frozen=True)
class Paper:
    """A paper: its key, the names of its authors as (family, given), its year, title, where it appeared, its address."""

    key: str
    authors: list[tuple[str, str]]
    year: int
    title: str
    place: str = ""
    address: str = ""

    @property
    def cited(self) -> set[str]:
        """As texts name its authors: "Williams", "Tang and Munos", "Ng, Harada and Russell", "Ng et al."."""
        families = [family for family, _ in self.authors]
        if len(families) == 1:
            return {families[0]}
        together = f"{', '.join(families[:-1])} and {families[-1]}"
        return {together} if len(families) == 2 else {together, f"{families[0]} et al."}

    @property
    def short(self) -> str:
        """The shortest name that texts give it: "Williams 1992", "Tang and Munos 2025", "Shao et al. 2024"."""
        return f"{min(self.cited, key=len)} {self.year}"

    @property
    def words(self) -> str:
        """A pattern of how texts cite it: "Shao et al. 2024", "Shao et al. (2024", "Shao et al., 2024"."""
        names = "|".join(SPACE.join(map(re.escape, name.split())) for name in self.cited)
        return rf"\b(?:{names}),?{SPACE}\(?{self.year}\b"


def headings(project: Path) -> list[str]:
    """The headings of the glossary. Raises Unreadable where there is none."""
    try:
        text = (project / GLOSSARY).read_text(encoding="utf-8")
    except OSError as error:
        raise Unreadable(f"{GLOSSARY} cannot be read: {error.strerror}.") from error
    return re.findall(r"^# (.+?)\s*$", text, re.MULTILINE)


def papers(project: Path) -> list[Paper]:
    """The papers that the course names, by author and year. Raises Unreadable where their file cannot be read."""
    import yaml

    try:
        found = yaml.safe_load((project / PAPERS).read_text(encoding="utf-8"))["references"]
        made = [
            Paper(
                key=one["id"],
                authors=[(author["family"], author.get("given", "")) for author in one["author"]],
                year=one["issued"]["year"],
                title=one["title"],
                place=str(one.get("container-title", "")),
                address=one.get("URL", ""),
            )
            for one in found
        ]
    except (OSError, yaml.YAMLError, KeyError, TypeError) as error:
        raise Unreadable(f"{PAPERS} is not a list of references as CSL writes them ({error!r}).") from error
    return sorted(made, key=lambda paper: (paper.authors[0][0], paper.year))


def anchor(heading: str) -> str:
    """The place that a heading has on a page, "equal-group", as Quarto names it."""
    return re.sub(r"\s+", "-", re.sub(r"[^\w\s.-]", "", heading.lower()).strip())


def glossary_entries(project: Path, glossary: str, page: Path | None = None) -> list[Entry]:
    """An entry for each word that the page means as the glossary does; longer words first, so that "reward hacking" is
    not a link to "reward".

    glossary: the address of the glossary from the page. page: where it lies; without it, all words.
    """
    entries = []
    for heading in headings(project):
        if heading in IN_ANOTHER_SENSE.get(page, ()) or page not in MEANT_ON.get(heading, {page}) | {None}:
            continue
        names = [*heading.split(", "), *ALSO.get(heading, ())]
        words = "|".join(_pattern(name) for name in sorted(names, key=len, reverse=True))
        entries.append((max(map(len, names)), Entry(words, f"{glossary}#{anchor(heading)}", "term")))
    return [entry for _, entry in sorted(entries, key=lambda pair: -pair[0])]


def paper_entries(listed: list[Paper], references: str) -> list[Entry]:
    """An entry for each paper. references: the address of the list of papers from the page."""
    return [Entry(paper.words, f"{references}#{paper.key}", "cited") for paper in listed]


def _pattern(name: str) -> str:
    """A name as texts write it, also in the plural; one with capitals inside is an acronym, and written so."""
    words = SPACE.join(map(re.escape, name.split()))
    if name not in (name.lower(), name.capitalize()):
        return rf"(?<![\w-]){words}(?![\w-])"
    return rf"(?<![\w-])(?i:{words}s?)(?![\w-])"
