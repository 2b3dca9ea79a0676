"""A copy of the project to be spoilt: processes that a test starts read the changed file there as well."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def copied(folder: Path) -> None:
    """Bring a copy of the project up to date: what git tracks, and what it would. Compiled files stay."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        stdout=subprocess.PIPE, text=True, check=True,
    ).stdout.split("\0")  # fmt: skip
    names = {name for name in listed if os.path.isfile(name)}
    for path in list(folder.rglob("*")):
        is_old = path.suffix != ".pyc" and path.relative_to(folder).as_posix() not in names
        if is_old and (path.is_symlink() or not path.is_dir()):
            path.unlink()
    for name in names:
        target = folder / name
        if not target.exists() or _moment(target) != _moment(Path(name)):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(name, target)


def _moment(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def run_in(folder: Path, module: str, *arguments: str) -> int:
    """Run `python -m module` in a copy; its exit status. Whatever is imported below, wherever, is the copy's."""
    environment = os.environ | {"PYTHONPATH": str(folder.resolve())}
    return subprocess.run([sys.executable, "-m", module, *arguments], cwd=folder, env=environment).returncode


@contextmanager
def changed(file: Path, source: str) -> Iterator[None]:
    """A file of the copy with another source. Its time comes back too: what was compiled of it before stays valid."""
    right = file.read_bytes()
    status = file.stat()
    file.write_text(source, encoding="utf-8")
    try:
        yield
    finally:
        file.write_bytes(right)
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
