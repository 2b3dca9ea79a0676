"""A program for browsers from npm's registry, pinned by its hash. Its scripts are unpacked and nothing of it is run."""

import base64
import hashlib
import shutil
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 300  # seconds


class Unreachable(Exception):
    """The package cannot be had here; the message says why."""


@dataclass(frozen=True)
class Package:
    """name: with its version, `onnxruntime-web@1.30.0`.    sha512: of the packed package, in base64.

    files: those that are taken, by their paths in the package.
    """

    name: str
    sha512: str
    files: tuple[str, ...]

    def write(self, folder: Path) -> None:
        """Put the package's files into the folder.

        Raises:
            Unreachable: npm is not there, or does not get the package.
            ValueError: what it got is not the package that was pinned.
        """
        npm = shutil.which("npm")
        if npm is None:
            raise Unreachable(f"npm, which gets {self.name}, is not installed")
        with tempfile.TemporaryDirectory() as scratch:
            command = [npm, "pack", "--silent", "--fetch-retries=0", self.name]
            try:
                subprocess.run(command, cwd=scratch, check=True, capture_output=True, timeout=PATIENCE)
            except (OSError, subprocess.SubprocessError) as error:
                raise Unreachable(f"npm did not get {self.name} ({error})") from error
            self.unpack(next(Path(scratch).glob("*.tgz")), folder)

    def unpack(self, packed: Path, folder: Path) -> None:
        """Take the files out of the packed package. Raises ValueError where its hash is not the pinned one."""
        digest = base64.b64encode(hashlib.sha512(packed.read_bytes()).digest()).decode()
        if digest != self.sha512:
            raise ValueError(f"{packed.name} has the SHA-512 {digest}; pinned for {self.name} is {self.sha512}.")
        with tarfile.open(packed) as members:
            for path in self.files:
                (folder / Path(path).name).write_bytes(members.extractfile(f"package/{path}").read())
