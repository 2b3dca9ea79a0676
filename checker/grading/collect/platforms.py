"""The names that learning platforms give what they export: they tell whose a file is and whether it was late.

Canvas      doejane_LATE_1234_567_dots.ipynb           sortable name, LATE or nothing, ids of person and upload, file
Moodle      Jane Doe_1234_assignsubmission_file_/dots.ipynb
Gradescope  submission_1234/dots.ipynb                 with submission_metadata.yml beside the folders
a folder    jane/dots.ipynb

Only the topmost names of an export are the platform's. What lies below is the student's, who may call it anything: a
folder as Moodle calls somebody else's, a file as Gradescope calls its metadata. A zip that was handed in becomes a folder.
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
# The folder that an export often has around all, or is unpacked to.
WHOLE = re.compile(r"submissions|assignment_\d+_export", re.IGNORECASE)
LARGEST_METADATA = 50_000_000  # bytes; 300 submissions take less than one million
# Taken back under the names that were downloaded: `generate_comments_from_files` of Canvas (app/models/assignment.rb),
# `assignfeedback_file_zip_importer` of Moodle (mod/assign/feedback/file/importziplib.php).
FEEDBACK = "feedback.html"
MADE_BY = (CANVAS, MOODLE, GRADESCOPE)
AGAIN = re.compile(r"-(\d+)(?=\.(?:ipynb|py)$)", re.IGNORECASE)  # what Canvas adds to a file that was handed in again


@dataclass(frozen=True)
class Sender:
    """The sender of a file, as its place in an export tells.

    names: under which to look the sender up, the surest first; none where the place says nothing.
    label: what to call the sender where there is no roster.
    file: the name that the student gave the file.   late: whether the platform marks it as late.
    upload: what orders several uploads of one file, later ones larger.
    handed_in: when, where the platform says so.
    back: the place in a zip from which the platform gives this sender a file; "" where it takes none.
    """

    names: tuple[str, ...]
    label: str
    file: str
    late: bool = False
    upload: tuple[int, ...] = ()
    handed_in: datetime | None = None
    back: str = ""


def inside_export(place: PurePath) -> PurePath:
    """A place without the folder that the export has around all."""
    return PurePath(*place.parts[1:]) if len(place.parts) > 1 and WHOLE.fullmatch(place.parts[0]) else place


def naming(places: Iterable[PurePath]) -> re.Pattern | None:
    """The pattern by which most of an export's topmost names are made; None where they are of no platform.

    A name that fits two patterns, since its student chose a part of it, is read by that of the others.
    """
    tops = {inside_export(place).parts[:1] for place in places}
    counts = {made: sum(made.fullmatch(name) is not None for top in tops for name in top) for made in MADE_BY}
    most = max(MADE_BY, key=counts.get)
    return most if counts[most] else None


def owner_key(place: PurePath) -> str:
    """A key that is the same for all that one person handed in, by the topmost name; "" for nobody's."""
    top = next(iter(inside_export(place).parts), "")
    match = CANVAS.fullmatch(top)
    return f"{match['name']}_{match['user']}" if match else top


def senders(place: PurePath, submissions: dict, made: re.Pattern | None) -> list[Sender]:
    """The senders that the topmost name of a file's place tells: one, or the members of a group.

    Args:
        submissions: what Gradescope's metadata says of each folder.
        made: the pattern by which the export's names are made.
    """
    place = inside_export(place)
    top = place.parts[0]
    is_folder = len(place.parts) > 1
    match = made.fullmatch(top) if made else None
    if match and made is CANVAS:
        again = AGAIN.search(match["file"])
        upload = (int(match["upload"]), int(again[1]) if again else 0)
        names = (match["user"], match["name"])
        file = place.name if is_folder else match["file"]
        label = f"{match['name']} {match['user']}"
        back = top[: match.start("file")] + FEEDBACK
        return [Sender(names, label, file, bool(match["late"]), upload, back=back)]
    if match and made is MOODLE and is_folder:
        label = f"{match['name']} {match['user']}"
        return [Sender((match["user"], match["name"]), label, place.name, back=f"{top}/{FEEDBACK}")]
    if match and made is GRADESCOPE and is_folder:
        return _gradescope(submissions.get(top), place.name)
    return [Sender((top,), top, place.name)] if is_folder else [Sender((), "", place.name)]


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
    """The metadata files of an export: at its top, or in its own folder."""
    if path.is_dir():
        own = [folder for folder in sorted(path.iterdir()) if folder.is_dir() and WHOLE.fullmatch(folder.name)]
        files = [folder / METADATA for folder in (path, *own)]
        return [file.read_text(encoding="utf-8") for file in files if file.is_file()]
    if path.suffix.lower() != ".zip":
        return []
    with zipfile.ZipFile(path) as archive:
        own = [entry for entry in archive.infolist() if str(inside_export(PurePath(entry.filename))) == METADATA]
        return [archive.read(entry).decode() for entry in own if entry.file_size < LARGEST_METADATA]
