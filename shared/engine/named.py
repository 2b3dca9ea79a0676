"""Models with a name of the course's own: the embedded one, and those that one command fetches.

Such a name goes before a folder and before a model of the hub. It is what saved policies, adapters and recorded runs
say, for a path means nothing on another machine. `named.toml`, beside this file, lists what can be fetched and from where.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

MODELS = Path(__file__).resolve().parents[2] / "models"
TABLE = Path(__file__).with_suffix(".toml")
EMBEDDED = "models/course-lm"


@dataclass(frozen=True)
class Named:
    """A model with a name of the course's own.

    folder: where it lies, or will lie once it is fetched.
    license: as the hub calls it.     original: what it was made from, by its name on the hub; "" for our own.
    """

    folder: Path
    license: str
    original: str = ""


def fetched_models() -> dict[str, dict]:
    """The table of the models that can be fetched, by name."""
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


NAMED = {EMBEDDED: Named(MODELS / "course-lm", "mit")} | {
    name: Named(MODELS / name, entry["license"], entry["original"]) for name, entry in fetched_models().items()
}


def name_of(place: Path | str) -> str:
    """The name of what lies in a place: the course's where it has one, else the place itself, a folder or a hub name."""
    return next((name for name, model in NAMED.items() if str(model.folder) == str(place)), str(place))


def location_of(name: str) -> str:
    """The place that transformers finds a model by: the folder of one of the course's, any other name as it is."""
    return str(NAMED[name].folder) if name in NAMED else name


def how_to_fetch(name: str) -> str:
    """A sentence on the command that brings a model that is not here yet."""
    return (
        f"The model {name!r} is not here yet. Fetch it once, over the network, with: make {name} (or: python -m checker "
        f"setup --model {name}). A box that grades has the embedded model alone."
    )
