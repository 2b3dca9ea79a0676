"""The command line. `checker NOTEBOOK` checks; `checker --help` lists the rest, which is in `checker/commands/`."""

import sys

from checker.setup import bootstrap

if __name__ == "__main__":  # what follows imports packages that may not be installed yet
    bootstrap.before_packages(sys.argv[1:])

import difflib
import io
from pathlib import Path

from checker.checking.terminal import UNREADABLE, complain
from checker.commands import app, names


def main() -> None:
    """`checker PATH` is short for `checker check PATH`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    # nbformat and nbconvert import jsonschema, which spends over a second on a grammar of international addresses. No
    # notebook holds such an address, and jsonschema does without the grammar where its package cannot be imported.
    sys.modules.setdefault("rfc3987_syntax", None)
    arguments = sys.argv[1:]
    if arguments and arguments[0] in bootstrap.COMMANDS:
        sys.exit(bootstrap.main(arguments))
    if arguments[:1] == ["help"] and not Path("help").exists():
        sys.argv[1:] = [*arguments[1:2], "--help"]
    elif arguments and arguments[0] not in (*names(), "--help", "-h", "--version"):
        if _is_no_file(arguments[0]):
            complain(f"There is no command {arguments[0]}, and no such file. {_meant(arguments[0])}")
            sys.exit(UNREADABLE)
        sys.argv.insert(1, "check")
    try:
        app(prog_name="checker")
    except OSError as error:  # every input is read under guard: what is left is a file that cannot be written
        complain(f"{error.filename} cannot be written: {error.strerror}. Give another place.")
        sys.exit(UNREADABLE)


def _is_no_file(word: str) -> bool:
    """True for a word that is no file's name and names none."""
    return word.isalpha() and not Path(word).exists()


def _meant(word: str) -> str:
    """A sentence on the command that a word resembles, or on where all of them stand."""
    known = [*names(), "--version"]
    alike = difflib.get_close_matches(word.lower(), known)
    return f"Did you mean {alike[0]}?" if alike else "`checker --help` lists the commands."


if __name__ == "__main__":
    main()
