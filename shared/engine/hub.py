"""Finding a model, and one sentence that a student can act on where it cannot be had.

Before anything is downloaded the hub is asked what it has: the commit, the sizes, whether the model is gated. Without a
network that fails at once, where the loader would ask for each file again and again for minutes; and a model that is in
the cache is then loaded from there.
"""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from huggingface_hub import HfApi, constants, try_to_load_from_cache
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.hf_api import ModelInfo
from safetensors import SafetensorError, safe_open

from shared.engine import gguf, named

SECONDS_TO_ANSWER = 10
ADAPTERS = "adapter_config.json"
HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
# What the loader reads, in the order in which it looks: safetensors first, older files only without them.
WEIGHT_FILES = (re.compile(r"model.*\.safetensors"), re.compile(r"pytorch_model.*\.bin"))
BYTES_OF_A_WEIGHT_IN_A_BIN_FILE = 4  # float32, as most of these old files
# A tokenizer of any kind has at least one of these: tokenizer.json, vocab.txt, spiece.model, tekken.json, ...
TOKENIZER_FILE = re.compile(r".*(token|vocab|tekken).*|.*\.model")
WHERE_A_MODEL_COMES_FROM = (
    "Give a folder that holds config.json and the weights, or the name of a model on the hub, as COURSE_MODEL or as "
    "the first argument."
)


class NoModel(ValueError):
    """The model cannot be had; the message says why and what to do."""


@dataclass(frozen=True)
class Source:
    """A model that was found.

    name: what it is called: by the course, else the folder, absolute, or the name on the hub.
    revision: the commit on the hub, None for a folder.       folder: None on the hub.
    gguf: the file of a folder that holds the weights as GGUF; "" for any other.
    parameters: how many weights its files hold, as far as that is known without reading them, else None.
    download: bytes that are still to be downloaded.
    cached_only: the hub cannot be asked, so that the cache has to do.
    adapters: it holds LoRA adapters, and names the model that they belong to.
    """

    name: str
    revision: str | None = None
    parameters: int | None = None
    download: int = 0
    cached_only: bool = False
    adapters: bool = False
    folder: Path | None = None
    gguf: str = ""

    @property
    def location(self) -> str:
        """The name or the folder that `from_pretrained` finds it by."""
        return self.name if self.folder is None else str(self.folder)

    @property
    def options(self) -> dict:
        """The arguments of `from_pretrained` beside the location."""
        if self.gguf:
            return {"gguf_file": self.gguf}
        if self.revision is None:
            return {}
        return {"revision": self.revision, "local_files_only": self.cached_only}


def split_revision(name: str) -> tuple[str, str | None]:
    """ "name@revision" to (name, revision), and any other name, or a folder with an @ in its path, to (name, None)."""
    before, at, revision = name.rpartition("@")
    if at and HUB_NAME.fullmatch(before) and not Path(name).is_dir():
        return before, revision
    return name, None


def find(name: str, revision: str | None = None) -> Source:
    """The model of this name: one that the course names, else a folder, else in the cache or on the hub.

    Raises:
        NoModel: there is none, it is gated, or there is no network and it was never downloaded.
    """
    if name in named.NAMED:
        return _named(name, revision)
    folder = Path(name).expanduser().absolute()
    if folder.is_dir():
        return _in_folder(folder, revision)
    if not HUB_NAME.fullmatch(name):
        raise NoModel(f"There is no folder {name!r}. {WHERE_A_MODEL_COMES_FROM}")
    hub = HfApi()
    try:
        # Keeps in the cache which commit the revision is, so that it is found again without a network.
        commit = str(hub.resolve_revision(name, revision=revision))
        info = hub.model_info(name, revision=commit, files_metadata=True, timeout=SECONDS_TO_ANSWER)
        if info.gated:
            hub.auth_check(name)
    except Exception as error:
        cached = _in_cache(name, revision)
        if cached is None:
            raise NoModel(why(error, name, revision)) from error
        return cached
    return _on_hub(name, info)


def _named(name: str, revision: str | None) -> Source:
    folder = named.NAMED[name].folder
    if revision is not None:
        raise NoModel(f"{name!r} is a model of the course, which has no revision {revision!r}; leave the revision out.")
    if not folder.is_dir():
        raise NoModel(named.how_to_fetch(name))
    return _in_folder(folder, None)


def _in_folder(folder: Path, revision: str | None) -> Source:
    if revision is not None:
        raise NoModel(f"{str(folder)!r} is a folder, which has no revision {revision!r}; leave the revision out.")
    source = Source(named.name_of(folder), folder=folder)
    if (folder / ADAPTERS).is_file():
        return replace(source, adapters=True)
    if (folder / "config.json").is_file():
        return replace(source, parameters=_parameters_in(folder))
    return replace(source, **_gguf_in(folder))


def _gguf_in(folder: Path) -> dict[str, object]:
    """The one GGUF file of a folder and the number of its weights. Raises NoModel when there is none, or another than one."""
    files = sorted(folder.glob(f"*{gguf.SUFFIX}"))
    if not files:
        raise NoModel(f"The folder {str(folder)!r} holds no config.json. {WHERE_A_MODEL_COMES_FROM}")
    if len(files) > 1:
        raise NoModel(
            f"The folder {str(folder)!r} holds {len(files)} GGUF files, of which one has to be chosen: put it into a folder "
            "of its own."
        )
    try:
        return {"gguf": files[0].name, "parameters": gguf.parameters_in(files[0])}
    except gguf.UnknownKind as error:
        raise NoModel(str(error)) from error


def _in_cache(name: str, revision: str | None) -> Source | None:
    """The model as the cache holds it, in a folder named after its commit; None when it was never downloaded whole."""
    config = _cached(name, "config.json", revision) or _cached(name, ADAPTERS, revision)
    if config is None:
        return None
    folder = Path(config).parent
    if (folder / ADAPTERS).is_file():
        return Source(name, folder.name, cached_only=True, adapters=True)
    if not weight_files(path.name for path in folder.iterdir()):
        return None
    return Source(name, folder.name, _parameters_in(folder), cached_only=True)


def _on_hub(name: str, info: ModelInfo) -> Source:
    sizes = {file.rfilename: file.size or 0 for file in info.siblings or []}
    weights = weight_files(sizes)
    missing = [file for file in weights if _cached(name, file, info.sha) is None]
    parameters = info.safetensors.total if info.safetensors else None
    if parameters is None and weights:
        parameters = sum(sizes[file] for file in weights) // BYTES_OF_A_WEIGHT_IN_A_BIN_FILE
    download = sum(sizes[file] for file in missing)
    return Source(name, info.sha, parameters, download, adapters=ADAPTERS in sizes)


def weight_files(names: Iterable[str]) -> list[str]:
    """The file names in a model's folder that the loader reads weights from."""
    present = sorted(names)
    for pattern in WEIGHT_FILES:
        found = [name for name in present if pattern.fullmatch(name)]
        if found:
            return found
    return []


def refuse_without_tokenizer(source: Source) -> None:
    """NoModel for a folder without a tokenizer: of some models one of no words would be made, in silence."""
    if source.folder is None or source.gguf:
        return
    if any(TOKENIZER_FILE.fullmatch(path.name) for path in source.folder.iterdir()):
        return
    raise NoModel(
        f"The folder {source.name!r} holds no tokenizer (tokenizer.json). Put the one that the model was trained with "
        "beside its weights: AutoTokenizer.from_pretrained(NAME).save_pretrained(FOLDER)."
    )


def _parameters_in(folder: Path) -> int:
    """The number of weights in the files of a folder, read from their headers.

    Raises NoModel when there are none, or a file that is not whole.
    """
    weights = [folder / name for name in weight_files(path.name for path in folder.iterdir())]
    if not weights:
        raise NoModel(f"The folder {str(folder)!r} holds no weights (model.safetensors). {WHERE_A_MODEL_COMES_FROM}")
    return sum(map(_parameters_of_file, weights))


def _parameters_of_file(path: Path) -> int:
    if path.suffix == ".bin":
        return path.stat().st_size // BYTES_OF_A_WEIGHT_IN_A_BIN_FILE
    try:
        with safe_open(path, framework="pt") as file:
            shapes = [file.get_slice(name).get_shape() for name in file.keys()]
    except SafetensorError as error:
        raise NoModel(
            f"{str(path)!r} is not a whole file of weights ({error}): a download that was cut short, or a pointer of "
            f"Git LFS (then run `git lfs pull`). Fetch it again."
        ) from error
    return sum(map(math.prod, shapes))


def _cached(name: str, file: str, revision: str | None) -> str | None:
    """The path of a file of the hub in the cache, None when it is not there."""
    path = try_to_load_from_cache(name, file, revision=revision)
    return path if isinstance(path, str) else None


def why(error: BaseException, name: str, revision: str | None = None) -> str:
    """The reason why a model could not be had, as a sentence that says what to do.

    Args:
        error: of `huggingface_hub`, or of the loader, which wraps those in an OSError.
    """
    errors = list(_chain(error))
    page = f"https://huggingface.co/{name}"
    elsewhere = "Or use a model that is here: leave COURSE_MODEL unset for the embedded one, which needs no network."
    # A gated model's error is a kind of "not found": it is asked for first.
    if _first(errors, GatedRepoError):
        return (
            f"The model {name!r} is gated: its owners let in who has accepted their terms. Accept them at {page}, then "
            f"run `hf auth login` here with a token of that account. {elsewhere}"
        )
    if _first(errors, RevisionNotFoundError):
        return f"The model {name!r} has no revision {revision!r}: no branch, tag or commit. {page}/commits lists them."
    if _first(errors, RepositoryNotFoundError):
        return (
            f"There is no folder {name!r} here and no model of that name on the hub. Check the spelling at "
            f"https://huggingface.co/models; a private model needs `hf auth login` first. {WHERE_A_MODEL_COMES_FROM}"
        )
    if constants.HF_HUB_OFFLINE or _first(errors, OfflineModeIsEnabled):
        return (
            f"The model {name!r} was never downloaded to this machine, and HF_HUB_OFFLINE forbids to do so. "
            f"Unset HF_HUB_OFFLINE and run this again. {elsewhere}"
        )
    refused = _first(errors, HfHubHTTPError)
    if refused is not None:
        return (
            f"The hub refused {name!r}: {_line(refused)} Try again later, or check the token with `hf auth whoami`. "
            f"{elsewhere}"
        )
    if _first(errors, LocalEntryNotFoundError) or any(map(_is_of_the_network, errors)):
        return (
            f"There is no folder {name!r} here, the hub could not be reached ({_line(errors[-1])}), and the model was "
            f"not, or not wholly, downloaded before. Check the network, or run `hf download {name}` where there is one "
            f"(on a cluster: its login node). {elsewhere}"
        )
    return f"No model could be loaded from {name!r}. {WHERE_A_MODEL_COMES_FROM} The loader said: {_line(error)}"


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error, what it was raised from, and so on down to the first cause."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _first(errors: list[BaseException], kind: type) -> BaseException | None:
    return next((error for error in errors if isinstance(error, kind)), None)


def _is_of_the_network(error: BaseException) -> bool:
    """True if the error came from the connection: the http client's own, which its module tells, or the system's.

    The module is "httpx" or "httpx2", by the version of `huggingface_hub`.
    """
    of_the_client = type(error).__module__.startswith("httpx")
    return of_the_client or isinstance(error, (ConnectionError, TimeoutError))


def _line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
