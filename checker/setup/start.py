"""A student's own copy of a blank edition, in `work/`, which git leaves alone. Standard library alone."""

import json
from pathlib import Path

from checker.reading.files import write_beside
from checker.reading.notebook import dump


class StartError(Exception):
    """No copy was made; the message says why and what to do."""


def editions(folder: Path) -> list[str]:
    """The names of the blank editions in a folder."""
    return sorted(path.stem for path in folder.glob("*.ipynb"))


def start(name: str, folder: Path, work: Path) -> Path:
    """Copy a blank edition into `work` and return the copy.

    The note that the edition is generated and built again is left out: it is not true of the copy.

    Args:
        name: "dots", "dots.ipynb" or a path that ends so, in capitals or not.
        folder: the blank editions.

    Raises:
        StartError: there is no such edition, or a copy of it is there already, which is left as it is.
    """
    known = editions(folder)
    wanted = Path(name).stem.lower()
    if wanted not in known:
        raise StartError(f"There is no notebook {name}. There are {', '.join(known)}.")
    edition = folder / f"{wanted}.ipynb"
    copy = work / edition.name
    if copy.exists():
        raise StartError(
            f"{copy} is there already and was not touched. Go on in it with `make lab` (or `python -m checker lab`), or"
            " rename it to begin afresh."
        )
    notebook = json.loads(edition.read_text(encoding="utf-8"))
    notebook["cells"] = [cell for cell in notebook["cells"] if not cell.get("id", "").endswith("-generated")]
    write_beside(copy, dump(notebook))
    return copy
