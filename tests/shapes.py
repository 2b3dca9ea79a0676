"""The annotations in `shared/` that every test checks: shapes and dtypes.

A plugin of pytest, named in pyproject.toml: as modules of `shared/` are imported, jaxtyping puts `shapes_checked` on every
function and dataclass. The judge of exercises is left out: it annotates no array, and its many small calls would be slower.
Annotations without an array are left alone: tests pass wrong texts and numbers on purpose, to read the sentence that
refuses them, and small fakes for models. A test that passes wrong shapes on purpose says so with the fixture `wrong_shapes`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import get_args

from beartype import BeartypeConf, beartype
from jaxtyping import AbstractArray, install_import_hook

SHARED = Path(__file__).parents[1] / "shared"
# As for any type checker an int will do for a float.
CONFIGURATION = BeartypeConf(is_pep484_tower=True)


def pytest_load_initial_conftests():
    install_import_hook(modules_checked(), f"{__name__}.shapes_checked")


def modules_checked() -> list[str]:
    """The names of the modules that are looked at."""
    return [name for name in modules_of_shared() if not name.startswith("shared.exercises.")]


def modules_of_shared() -> list[str]:
    """The names of all modules of `shared/`."""
    paths = sorted(SHARED.rglob("*.py"))
    return [".".join(path.relative_to(SHARED.parent).with_suffix("").parts) for path in paths]


def shapes_checked(function: Callable) -> Callable:
    """The function with a check of its annotations that name an array; its others are removed."""
    function.__annotations__ = {name: hint for name, hint in function.__annotations__.items() if names_an_array(hint)}
    return beartype(function, conf=CONFIGURATION)


def names_an_array(hint: object) -> bool:
    """True for an annotation such as Float[Tensor, "B C"], and for one that holds such, as an optional or in a tuple."""
    if isinstance(hint, type) and issubclass(hint, AbstractArray):
        return True
    return any(map(names_an_array, get_args(hint)))
