"""Programs from npm: taken only with their pinned hash, and named where they cannot be had."""

import base64
import hashlib
import io
import re
import subprocess
import tarfile
from dataclasses import replace

import pytest

from checker.site.loaded.npm import Package, Unreachable

FILES = ("dist/program.mjs", "program.wasm")


def packed(path, content: bytes) -> Package:
    """A package with these files, each of that content, packed at a path."""
    with tarfile.open(path, "w:gz") as members:
        for name in FILES:
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(content)
            members.addfile(entry, io.BytesIO(content))
    return Package("program@1.0", base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode(), FILES)


def test_a_package_is_unpacked_only_with_the_pinned_hash(tmp_path):
    """Catches another program served to everybody who opens the page."""
    package = packed(tmp_path / "package.tgz", b"program")
    package.unpack(tmp_path / "package.tgz", tmp_path)
    assert {(tmp_path / name).read_bytes() for name in ("program.mjs", "program.wasm")} == {b"program"}
    packed(tmp_path / "package.tgz", b"another")
    with pytest.raises(ValueError, match="pinned for program@1.0"):
        package.unpack(tmp_path / "package.tgz", tmp_path)
    assert (tmp_path / "program.mjs").read_bytes() == b"program"


# npm as far as `npm pack` goes, which was seen to put the packed package into the folder where it is called, and to
# take what is no flag for a package. It gets nothing from a registry and knows no other command.
NPM = """#!/bin/sh
[ "$1" = pack ] || {{ echo "npm error unknown command $1" >&2; exit 1; }}
for one in "$@"; do
  case "$one" in pack|--silent|--fetch-retries=0|program@1.0) ;; *) echo "npm error 404 $one" >&2; exit 1 ;; esac
done
echo program-1.0.tgz
cp {packed} program-1.0.tgz
"""


@pytest.fixture
def npm(tmp_path, monkeypatch) -> Package:
    """A package that an `npm` of ours gets, the only program that is found."""
    package = packed(tmp_path / "package.tgz", b"program")
    program = tmp_path / "bin" / "npm"
    program.parent.mkdir()
    program.write_text(NPM.format(packed=tmp_path / "package.tgz"))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    return package


def test_a_package_comes_from_npm_into_the_folder(npm, tmp_path, monkeypatch, capfd):
    """Catches a package that is asked for in a way that npm does not know, and one that is left where `make` is called."""
    (tmp_path / "here").mkdir()
    (tmp_path / "made").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    npm.write(tmp_path / "made")
    assert {file.name: file.read_bytes() for file in (tmp_path / "made").iterdir()} == {
        "program.mjs": b"program",
        "program.wasm": b"program",
    }
    assert list((tmp_path / "here").iterdir()) == [] and capfd.readouterr() == ("", "")


def test_what_npm_does_not_get_is_told(npm, tmp_path):
    """Catches a traceback for a package that the registry does not have."""
    with pytest.raises(Unreachable, match=r"npm did not get another@2 \(.*exit status 1"):
        replace(npm, name="another@2").write(tmp_path)


def test_a_registry_that_does_not_answer_is_waited_for_some_minutes(npm, tmp_path, monkeypatch):
    """Catches a site that waits for ever."""

    def run(command, timeout, **options):
        assert 60 <= timeout <= 900
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(Unreachable, match="npm did not get program@1.0 .*timed out"):
        npm.write(tmp_path)


def test_another_package_than_the_pinned_one_is_refused(npm, tmp_path):
    """Catches what a registry serves under a name that it had before."""
    pinned = base64.b64encode(bytes(64)).decode()
    with pytest.raises(
        ValueError, match=rf"^program-1\.0\.tgz has the SHA-512 {re.escape(npm.sha512)}; pinned .* {pinned}\.$"
    ):
        replace(npm, sha512=pinned).write(tmp_path)


def test_without_npm_a_package_cannot_be_had(tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(Unreachable, match="npm, which gets program@1.0, is not installed"):
        packed(tmp_path / "package.tgz", b"program").write(tmp_path)
