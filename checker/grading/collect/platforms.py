"""The names that learning platforms give what they export: they tell whose a file is and whether it was late.

Canvas      doejane_LATE_1234_567_dots.ipynb           sortable name, LATE or nothing, ids of person and upload, file
Moodle      Jane Doe_1234_assignsubmission_file_/dots.ipynb
Gradescope  submission_1234/dots.ipynb                 with submission_metadata.yml beside the folders
a folder    jane/dots.ipynb
"""

import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePath

import yaml

CANVAS = re.compile(r"(?P<name>[^_]+)_(?P<late>LATE_)?(?P<user>\d+)_(?P<upload>\d+)_(?P<file>.+)", re.DOTALL)
MOODLE = re.compile(r"(?P<name>.+?)_(?P<user>\d+)_assignsubmission_(?:file|onlinetext)_?")
GRADESCOPE = re.compile(r"submission_\d+")
METADATA = "submission_metadata.yml"
WHOLE = "submissions"  # the folder that an export is often unpacked to, or has inside
LARGEST_METADATA = 50_000_000  # bytes; 300 submissions take less than one million
AGAIN = re.compile(r"-(\d+)(?=\.ipynb$)", re.IGNORECASE)  # what Canvas adds to a file that was handed in again


@dataclass(frozen=True)
class Sender:
    """The sender of a file, as its place in an export tells.

    names: under which to look the sender up, the surest first; none where the place says nothing.
    label: what to call the sender where there is no roster.
    file: the name that the student gave the file.   late: whether the platform marks it as late.
    upload: what orders several uploads of one file, later ones larger.
    handed_in: when, where the platform says so.
    """

    names: tuple[str, ...]
    label: str
    file: str
    late: bool = False
    upload: tuple[int, ...] = ()
    handed_in: datetime | None = None


def senders(place: PurePath, submissions: dict) -> list[Sender]:
    """The senders that a file's place below the export tells: one, or the members of a group.

    `submissions` is what Gradescope's metadata says of each folder.

    A folder's name comes from the platform or the instructor, and goes before that of the file in it, which is the
    student's to choose.
    """
    folders = place.parts[:-1]
    if folders and folders[0].lower() == WHOLE:
        folders = folders[1:]
    for folder in folders:
        if match := MOODLE.fullmatch(folder):
            return [Sender((match["user"], match["name"]), f"{match['name']} {match['user']}", place.name)]
        if GRADESCOPE.fullmatch(folder):
            return _gradescope(submissions.get(folder), place.name)
    if folders:
        return [Sender(folders[:1], folders[0], place.name)]
    if match := CANVAS.fullmatch(place.name):
        again = AGAIN.search(match["file"])
        upload = (int(match["upload"]), int(again[1]) if again else 0)
        names = (match["user"], match["name"])
        return [Sender(names, f"{match['name']} {match['user']}", match["file"], bool(match["late"]), upload)]
    return [Sender((), "", place.name)]


def without_number(file: str) -> str:
    """A file's name without what Canvas adds to one that was handed in again; "" where there is nothing to leave out."""
    return AGAIN.sub("", file) if AGAIN.search(file) else ""


def _gradescope(entry: object, file: str) -> list[Sender]:
    """The senders in Gradescope's metadata: a dict with symbols of Ruby as keys, ":submitters" a list of people.

    A group hands in once, for each of its members.
    """
    entry = entry if isinstance(entry, dict) else {}
    people = entry.get(":submitters")
    people = [person for person in people if isinstance(person, dict)] if isinstance(people, list) else []
    created = entry.get(":created_at")
    handed_in = created if isinstance(created, datetime) else None
    named = [tuple(str(person[key]) for key in (":sid", ":email", ":name") if person.get(key)) for person in people]
    return [Sender(names, names[0], file, handed_in=handed_in) for names in named if names] or [Sender((), "", file)]


def metadata(paths: Iterable[Path]) -> dict:
    """Gradescope's metadata by folder, read from every folder or zip that holds such a file."""
    found = {}
    for path in paths:
        try:
            for text in _texts(path):
                loaded = yaml.safe_load(text)
                found |= loaded if isinstance(loaded, dict) else {}
        except (OSError, ValueError, yaml.YAMLError, zipfile.BadZipFile, RuntimeError):
            continue  # whose the notebooks are is then not known, which is said of each
    return found


def _texts(path: Path) -> list[str]:
    if path.is_dir():
        files = (path / METADATA, *path.glob(f"*/{METADATA}"))
        found = [file for file in files if file.is_file() and not _handed_in(file.relative_to(path))]
        return [file.read_text(encoding="utf-8") for file in found]
    if path.suffix.lower() != ".zip":
        return []
    with zipfile.ZipFile(path) as archive:
        entries = [entry for entry in archive.infolist() if PurePath(entry.filename).name == METADATA]
        own = [entry for entry in entries if not _handed_in(PurePath(entry.filename))]
        return [archive.read(entry).decode() for entry in own if entry.file_size < LARGEST_METADATA]


def _handed_in(place: PurePath) -> bool:
    """True if a file lies in what a student handed in: a metadata file there is the student's, not Gradescope's."""
    return len(place.parts) > 2 or GRADESCOPE.fullmatch(place.parts[0]) is not None
