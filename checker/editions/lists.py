"""The lists that are made from the record of the chapters: the README's table, what Quarto renders, and the sidebar.

    python -m checker.editions.lists     makes them again

Each stands in its file between a line that says where it is made from and one that ends it.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from checker.outputs.chapters import CHAPTERS, Chapter, chapters
from checker.outputs.claims import needs_of
from checker.reading.files import write_beside
from checker.reading.notebook import Unreadable, read
from checker.reading.website import SETTINGS

README = "README.md"
LIST = re.compile(
    rf"(?P<begins>^(?P<indent> *)(?:#|<!--) (?P<name>\w+), made from {CHAPTERS.as_posix()}.*\n)"
    r"(?P<lines>(?:.*\n)*?)"
    r"(?P<ends> *(?:#|<!--) end of (?P=name).*\n)",
    re.MULTILINE,
)


def rendered(course: list[Chapter]) -> Iterator[str]:
    """The lines of what Quarto renders."""
    return (f"- {chapter.notebook.as_posix()}" for chapter in course)


def sidebar(course: list[Chapter]) -> Iterator[str]:
    for chapter in course:
        page = chapter.notebook.as_posix()
        yield f'- {{text: "{chapter.short}", href: {page}}}' if chapter.short else f"- {page}"


def table(course: list[Chapter]) -> Iterator[str]:
    """The lines of the README's table."""
    yield "| | notebook | what it teaches | measured on held-out data | before | after |"
    yield "|---|---|---|---|---|---|"
    for number, one in enumerate(course, 1):
        cells = f"[{one.name}]({one.notebook.as_posix()})", one.teaches, one.measured, one.before, one.after
        yield f"| {number} | {' | '.join(cells)} |"


LISTS: dict[str, dict[str, Callable[[list[Chapter]], Iterator[str]]]] = {
    SETTINGS: {"rendered": rendered, "sidebar": sidebar},
    README: {"table": table},
}


def with_lists(file: str, text: str, course: list[Chapter]) -> str:
    """The text of one of the files with its lists made anew.

    Raises:
        Unreadable: a list has no place there.
    """
    makers = LISTS[file]
    places = [match["name"] for match in LIST.finditer(text)]
    if sorted(places) != sorted(makers):
        wanted = " and ".join(f'"{name}, made from {CHAPTERS.as_posix()}"' for name in makers)
        raise Unreadable(f"{file} needs one place for each list: a line that says {wanted}, and one that ends it.")

    def made(match: re.Match) -> str:
        lines = "".join(f"{match['indent']}{line}\n" for line in makers[match["name"]](course))
        return match["begins"] + lines + match["ends"]

    return LIST.sub(made, text)


def _with_need(project: Path, chapter: Chapter) -> Chapter:
    """The chapter; of one whose header names a model that it needs, what it teaches says how to fetch that."""
    path = project / chapter.notebook
    needs = needs_of(read(path)) if path.is_file() else ""
    return replace(chapter, teaches=f"{chapter.teaches}; needs `make {needs}`") if needs else chapter


def lists(project: Path, course: list[Chapter]) -> dict[Path, str]:
    """The text of each file that has such a list, with the list of these chapters."""
    course = [_with_need(project, chapter) for chapter in course]
    return {
        project / file: with_lists(file, (project / file).read_text(encoding="utf-8"), course)
        for file in LISTS
        if (project / file).is_file()
    }


def main() -> None:
    for file, text in lists(Path(), chapters(Path())).items():
        write_beside(file, text)


if __name__ == "__main__":
    main()
