"""Checkpoints: whole or not there, damage noticed, one writer at a time, nothing run when one is read.

A file is one line of text, which carries the version of this format and the sha256 of all that follows, and then what
torch.save writes. That alone would not do: torch.load checks no sums, and a flipped byte comes back as another weight.
"""

import hashlib
import os
import re
import socket
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import torch
from filelock import FileLock, Timeout

from shared.engine.files import remove_leftovers, written_beside

VERSION = 1
HEAD = "tiny-grpo checkpoint, version {version:02d}, sha256 {digest}\n"
HEAD_BYTES = len(HEAD.format(version=VERSION, digest="0" * 64))
# What torch.load gives back without running anything. Exact types: a numpy.float64 is a float too.
PLAIN = (type(None), bool, int, float, str, torch.Tensor, torch.nn.Parameter)


def save(path: str | os.PathLike, state: dict) -> None:
    """Write `state` to `path`; a write that is interrupted or fails leaves the file that was there.

    Args:
        state: dicts, lists and tuples of tensors, numbers, texts and None.

    Raises:
        TypeError: something else is in the state, which `load` would not give back.
        OSError: the file cannot be written.
    """
    _refuse_other_types(state)
    path = _real(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with written_beside(path) as file:
            _write(file, state)
    except OSError as error:
        raise OSError(
            f"The checkpoint {path} could not be written ({error}). What stood there before is as it was. Make room on "
            "the disk, or choose another path."
        ) from error


def load(path: str | os.PathLike, map_location: str | torch.device = "cpu") -> dict | None:
    """The state in `path`, its tensors on `map_location`; None when there is no such file.

    Raises:
        ValueError: the file is no checkpoint of this course, of a newer version, damaged, or cannot be read.
    """
    try:
        with open(path, "rb") as file:
            _check_head(file, path)
            return _state_in(file, path, map_location)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ValueError(f"The checkpoint {path} cannot be read ({error.strerror}). Choose another path.") from error


@contextmanager
def hold(path: str | os.PathLike) -> Iterator[None]:
    """Keep `path` for this run while the block lasts, so that two runs never write one checkpoint.

    What a killed writer left beside it is removed. A file named like it with `.lock` behind stays.

    Raises:
        ValueError: another run holds it, or this process does already.
        OSError: the folder cannot be written.
    """
    path = _real(path)
    lock = _lock_of(path)
    try:
        remove_leftovers(path)
        yield
    finally:
        lock.release()


def _real(path: str | os.PathLike) -> Path:
    """The file behind links: two names of one checkpoint are one, and a link is not replaced by a file."""
    return Path(os.path.realpath(path))


def _lock_of(path: Path) -> FileLock:
    """The system's lock on a file beside the checkpoint: it dies with its process, however that ends; the file stays."""
    file = path.with_name(path.name + ".lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Where a file system knows no locks, a file whose existence is one would outlive a killed run.
        lock = FileLock(file, timeout=0, fallback_to_soft=False, on_acquired=_sign)
        lock.acquire()
        return lock
    except Timeout as error:
        raise ValueError(
            f"The checkpoint {path} is in use by {_signature(file)}. Wait until that run ends, stop it (a notebook's by "
            "shutting down its kernel), or give this run another path."
        ) from error
    except OSError as error:
        raise OSError(
            f"The checkpoint {path} cannot be kept for this run ({error}). Choose a path in a folder that you can "
            "write."
        ) from error


def _sign(descriptor: int) -> None:
    """Write into a lock's file who has it, behind the first byte, which on Windows nobody else may read."""
    with suppress(OSError):  # on a full disk the lock is as good without its text
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"\nprocess {os.getpid()} on {socket.gethostname()}\n".encode())


def _signature(file: Path) -> str:
    """The holder of a lock, as its file says."""
    with suppress(OSError), open(file, "rb") as signed:
        signed.seek(1)
        return signed.read(200).decode(errors="replace").strip() or "another process"
    return "another process"


class _Digested:
    """Passes on to `file` what torch.save writes, and takes its digest on the way.

    torch.save hides an error in writing, a full disk or an interrupt, behind one of its own; `error` keeps the first.
    """

    def __init__(self, file: BinaryIO):
        self.file = file
        self.digest = hashlib.sha256()
        self.error: BaseException | None = None

    def write(self, data: bytes | memoryview) -> int:
        try:
            self.digest.update(data)
            return self.file.write(data)
        except BaseException as error:
            self.error = self.error or error
            raise

    def flush(self) -> None:
        """torch.save asks for it; `written_beside` does it."""


def _write(file: BinaryIO, state: dict) -> None:
    """The head with no digest yet, the payload, and the head again."""
    file.write(HEAD.format(version=VERSION, digest="0" * 64).encode())
    payload = _Digested(file)
    try:
        torch.save(state, payload)
    except RuntimeError as error:
        raise (payload.error or error) from None
    file.seek(0)
    file.write(HEAD.format(version=VERSION, digest=payload.digest.hexdigest()).encode())


def _check_head(file: BinaryIO, path: str | os.PathLike) -> None:
    """Read past the head; ValueError when it is not one, or does not belong to what follows."""
    head = file.read(HEAD_BYTES)
    if head.startswith(b"PK"):
        raise ValueError(
            f"{path} is a bare torch.save (or another zip) file, as earlier versions of this course wrote them; this "
            "version cannot go on from it. Move it away to start over, or choose another path."
        )
    magic = re.match(rb"tiny-grpo checkpoint, version (\d\d), ", head)
    if not magic:
        raise ValueError(
            f"{path} is not a checkpoint of this course: its first bytes are {head[:16]!r}. Choose another path, or "
            "move that file away."
        )
    version = int(magic[1])
    if version > VERSION:
        raise ValueError(
            f"The checkpoint {path} has format {version}, and this version of the course reads formats up to "
            f"{VERSION}. Update the course, or choose another path."
        )
    digest = hashlib.file_digest(file, "sha256").hexdigest()
    if head != HEAD.format(version=VERSION, digest=digest).encode():
        raise ValueError(
            f"The checkpoint {path} is damaged: its content does not belong to its digest. Take a copy of it, if you "
            "have one, or delete it to start over."
        )
    file.seek(HEAD_BYTES)


def _state_in(file: BinaryIO, path: str | os.PathLike, map_location: str | torch.device) -> dict:
    """The state from here to the end of the file. With weights_only no pickle can run anything."""
    try:
        state = torch.load(file, map_location=map_location, weights_only=True)
    except Exception as error:
        raise ValueError(
            f"The checkpoint {path} is whole but cannot be read ({error}). Was it written by this course?"
        ) from error
    if not isinstance(state, dict):
        raise ValueError(f"The checkpoint {path} holds a {type(state).__name__}, not a dict. Choose another path.")
    return state


def _refuse_other_types(state: dict) -> None:
    found = _other_type(state)
    if found is None:
        return
    place, value = found
    raise TypeError(
        f"A checkpoint cannot hold state{place}, a {type(value).__module__}.{type(value).__qualname__}: only tensors, "
        "numbers, texts, None, lists, tuples and dicts are read back. Convert it first, for instance with float(...)."
    )


def _other_type(value: object) -> tuple[str, object] | None:
    """The first part that `load` would refuse and where it stands, like ('["history"][3]', value); None for none."""
    kind = type(value)
    if kind in PLAIN:
        return None
    if kind in (dict, OrderedDict):
        parts = value.items()
    elif kind in (list, tuple):
        parts = enumerate(value)
    else:
        return "", value
    for key, part in parts:
        found = _other_type(key) or _other_type(part)
        if found:
            place, other = found
            return f"[{key!r}]{place}", other
    return None
