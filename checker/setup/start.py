"""A student's own copy of a blank edition, in `work/`, which git leaves alone. Standard library alone."""

import json
from pathlib import Path

from checker.assign import dump
from checker.files import write_beside


class StartError(Exception):
    """No copy was made; the message says why and what to do."""


def start(name: str, editions: Path, work: Path) -> Path:
    """Copy a blank edition into `work` and return the copy.

    The note that the edition is generated and built again is left out: it is not true of the copy.

    Args:
        name: "dots", "dots.ipynb" or a path that ends so.

    Raises:
        StartError: there is no such edition, or a copy of it is there already, which is left as it is.
    """
    edition = editions / f"{Path(name).stem}.ipynb"
    if not edition.is_file():
        known = ", ".join(sorted(path.stem for path in editions.glob("*.ipynb")))
        raise StartError(f"There is no notebook {name}. There are {known}.")
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
