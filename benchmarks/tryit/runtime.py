"""The program that runs ONNX files in a browser: onnxruntime-web, pinned by its hash, taken from npm's registry."""

import base64
import hashlib
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

PACKAGE = "onnxruntime-web@1.30.0"
SHA512 = "q0y+JrrtukXSzsBWEMccVfqX25LRmosXHF+CaRJmg8pZClzcV7svNc4rKY3jL02Vb7QmRMDs1SigqR4CXAfKYQ=="
FILES = ("ort.wasm.bundle.min.mjs", "ort-wasm-simd-threaded.wasm")
PATIENCE = 300  # seconds


class Unreachable(Exception):
    """The package cannot be had here; the message says why."""


def write_runtime(folder: Path) -> None:
    """Put the runtime's two files into the folder.

    Raises:
        Unreachable: npm is not there, or does not get the package.
        ValueError: what it got is not the package that was pinned.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise Unreachable("npm, which gets onnxruntime-web, is not installed")
    with tempfile.TemporaryDirectory() as scratch:
        try:
            subprocess.run(
                [npm, "pack", "--silent", PACKAGE], cwd=scratch, check=True, capture_output=True, timeout=PATIENCE
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise Unreachable(f"npm did not get {PACKAGE} ({error})") from error
        unpack(next(Path(scratch).glob("*.tgz")), folder)


def unpack(package: Path, folder: Path, sha512: str = SHA512) -> None:
    """Take the runtime's files out of the package. Raises ValueError where its hash is not the pinned one."""
    content = package.read_bytes()
    digest = base64.b64encode(hashlib.sha512(content).digest()).decode()
    if digest != sha512:
        raise ValueError(f"{package.name} has the SHA-512 {digest}, and not the one that {__file__} pins: {sha512}.")
    with tarfile.open(package) as members:
        for name in FILES:
            (folder / name).write_bytes(members.extractfile(f"package/dist/{name}").read())
