"""A check before grading begins: the packages that notebooks import lie where a box shows them.

A box shows the system's programs and the Python that grades, with the packages of its environment; nothing of a home
folder. Where a package is found in another place, every function would fail in the box and nobody earn a point.
"""

import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from checker.grading.box.walls import SYSTEM

IMPORTED = ("ipykernel", "nbclient", "nbformat", "numpy", "torch", "transformers")


def unseen(names: Iterable[str] = IMPORTED) -> dict[str, Path]:
    """The packages that a box would not see, with the folders in which they lie here; not those that are not here."""
    shown = [Path(folder) for folder in (*SYSTEM, sys.prefix, sys.base_prefix)]
    found = {}
    for name in names:
        spec = find_spec(name)
        place = Path(spec.origin).parent if spec is not None and spec.origin else None
        if place is not None and not any(place.is_relative_to(folder) for folder in shown):
            found[name] = place.parent
    return found
