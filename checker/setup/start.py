"""A student's own copy of a blank edition, in `work/`, which git leaves alone. Standard library alone."""

import difflib
import json
import os
import re
from pathlib import Path

from checker.reading.files import write_beside
from checker.reading.notebook import dump, joined

LINK = re.compile(r"\[(?P<words>[^\]\n]+)\]\((?P<name>\w+)\.ipynb\)")  # to a notebook in the same folder


class StartError(Exception):
    """No copy was made; the message says why and what to do."""


def editions(folder: Path) -> list[str]:
    """The names of the blank editions in a folder."""
    return sorted(path.stem for path in folder.glob("*.ipynb"))


def start(name: str, folder: Path, work: Path) -> Path:
    """Copy a blank edition into `work` and return the copy.

    The note that the edition is generated and built again is left out: it is not true of the copy. Links to other
    notebooks lead to their blank editions.

    Args:
        name: "dots", "dots.ipynb" or a path that ends so, in capitals or not.
        folder: the blank editions.

    Raises:
        StartError: there is no such edition, or a copy of it is there already, which is left as it is.
    """
    known = editions(folder)
    wanted = Path(name).stem.lower()
    if wanted not in known:
        alike = difflib.get_close_matches(wanted, known)
        meant = f"Did you mean {alike[0]}?" if alike else f"There are {', '.join(known)}."
        raise StartError(f"There is no notebook {name}. {meant}")
    edition = folder / f"{wanted}.ipynb"
    copy = work / edition.name
    if copy.exists():
        raise StartError(
            f"{copy} is there already and was not touched. Go on in it with `make lab` (or `python -m checker lab`), or"
            " rename it to begin afresh."
        )
    notebook = json.loads(edition.read_text(encoding="utf-8"))
    notebook["cells"] = [
        linked(cell, folder, work) for cell in notebook["cells"] if not cell.get("id", "").endswith("-generated")
    ]
    write_beside(copy, dump(notebook))
    return copy


def linked(cell: dict, folder: Path, work: Path) -> dict:
    """The cell with its links to notebooks of `folder` as they are from `work`; a link to one that is not there is text."""
    if cell["cell_type"] != "markdown":
        return cell
    known = editions(folder)
    from_work = Path(os.path.relpath(folder, work)).as_posix()

    def link(found: re.Match) -> str:
        return f"[{found['words']}]({from_work}/{found['name']}.ipynb)" if found["name"] in known else found["words"]

    return cell | {"source": LINK.sub(link, joined(cell["source"]))}
