"""A file for each exercise, `<notebook>/<name>.py`: its reference in steps, its slips, how its arguments are drawn.

The name of the file is that of the check and of the function in the notebook. An exercise of several notebooks stands with
the first. An exercise with so many slips that those of each idea have a file is a folder, `dots/grpo_loss/`, with an
`EXERCISE` like any other. `common/` holds no exercise, but what several of them share.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from shared.exercises.exercise import Exercise

NO_NOTEBOOK = "common"


def _places() -> dict[str, str]:
    """The module of each exercise by its name, "dots.per_token_kl" of "per_token_kl"; none is imported."""
    found = {}
    for notebook in iter_modules(__path__):
        if notebook.ispkg and notebook.name != NO_NOTEBOOK:
            modules = iter_modules([str(Path(__file__).parent / notebook.name)])
            found |= {module.name: f"{notebook.name}.{module.name}" for module in modules}
    return found


PLACES = _places()


class Catalogue(Mapping[str, Exercise]):
    """The exercises by their names. A file is imported when its exercise is asked for."""

    def __getitem__(self, name: str) -> Exercise:
        return import_module(f"{__name__}.{PLACES[name]}").EXERCISE

    def __contains__(self, name: object) -> bool:
        return name in PLACES

    def __iter__(self) -> Iterator[str]:
        return iter(PLACES)

    def __len__(self) -> int:
        return len(PLACES)


EXERCISES = Catalogue()
