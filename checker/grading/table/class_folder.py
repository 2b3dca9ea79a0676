"""The folder of a graded class, which only its owner may open: what lies where, and how nothing in it is half there.

graded/
  class.yml             the rules of the class; see rules.py
  secret                by which the forms of this class are known
  results/<hash>.json   one for each notebook, by what it was graded from
  pages/, feedback/     for the instructor, with an index; for each student
  questions/            for the instructor: all answers to a question on one page
  forms/                those that were filled in, as a run was given them
  scratch/              temporary files of a run; see scratch.py
  gradebooks/           those of platforms, filled
  feedback.zip          the students' pages, as the platform takes them back
  disputes/             hidden cases that a function failed, for the instructor
  grades.csv            the table
  before/               all of this as the last run found it; see ../undo.py
  worked.json           what worked notebooks take on this machine; see ../judge/worked_run.py
  statistics.html       the class in numbers, without names
"""

import hashlib
import json
import os
import secrets
import shutil
import stat
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from checker.grading.judge.one_notebook import FORMAT
from checker.points.forms import NAMES, Form, merged, read_forms
from checker.reading.files import write_beside
from checker.reading.notebook import Unreadable

MARK = ".checker-grade"
RULES = "class.yml"
IGNORE = ".gitignore"
SECRET = "secret"
WORKED = "worked.json"
MARK_OF_UTF8 = "\ufeff"
FORMS = "forms"
KEPT = ("student", "notebook", "question", "scores", "comments", "comment")  # of a form, beside when it was saved
IGNORED = "*\n"  # for git, so that no one commits a class by accident
OWNER_ONLY = 0o700


class Folder:
    """A folder for one class. Made with a mark, so that only such a folder is ever deleted."""

    def __init__(self, path: Path):
        self.path = path

    def prepare(self) -> None:
        """Make the folder, or take up one that was made before. Raises Unreadable for one that holds something else."""
        if (
            self.path.exists()
            and not (self.path / MARK).exists()
            and {file.name for file in self.path.iterdir()} - {RULES}
        ):
            raise Unreadable(
                f"{self.path} holds something else. Give a folder that is empty or not there yet: -o graded."
            )
        self.path.mkdir(parents=True, exist_ok=True, mode=OWNER_ONLY)
        self.path.chmod(OWNER_ONLY)
        self.write(MARK, "A class that was graded. `checker forget` deletes it.\n")
        self.write(IGNORE, IGNORED)

    def secret(self) -> str:
        """The secret of the instructor's pages: a form without it was not saved on one of them. It is made once."""
        place = self.path / SECRET
        if not place.is_file():
            self.write(SECRET, f"{secrets.token_hex(16)}\n")
        return place.read_text(encoding="utf-8").strip()

    @property
    def of_an_earlier_version(self) -> bool:
        """True where an earlier version graded this class, whose pages bore no secret."""
        return (self.path / "grades.csv").is_file() and not (self.path / SECRET).is_file()

    def seed(self) -> int:
        """A seed for the hidden cases: that of an earlier version's run, else a new one."""
        place = self.path / "seed"
        return int(place.read_text(encoding="utf-8")) if place.is_file() else secrets.randbelow(2**31)

    def result(self, digest: str) -> dict | None:
        """A result that is there; None for one that is not, or is damaged."""
        try:
            found = json.loads((self.path / "results" / f"{digest}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def earlier(self) -> dict[str, dict]:
        """The latest result of each upload, whatever edition of the course gave it; none that is written otherwise."""
        found = {}
        for path in sorted((self.path / "results").glob("*.json"), key=lambda path: path.stat().st_mtime):
            result = self.result(path.stem)
            if result is None or result.get("format") != FORMAT:
                continue
            if result.get("upload") and not result.get("ungraded"):
                found[result["upload"]] = result
        return found

    def keep(self, digest: str, result: dict) -> None:
        """Write a result, whole or not at all."""
        self.write(f"results/{digest}.json", json.dumps(result, ensure_ascii=False))

    def keep_forms(self, forms: Iterable[Form]) -> None:
        """Write down filled forms for the runs to come, each state of one in a file of its own."""
        for form in forms:
            saved = datetime.fromtimestamp(form.saved, UTC).isoformat()
            content = {name: getattr(form, name) for name in KEPT}
            page = file_name(f"{form.notebook} {form.question}".rstrip())
            place = f"{FORMS}/{file_name(form.student)}/{page}-{form.saved:f}.grades.json"
            self.write(place, json.dumps(content | {"saved": saved}, indent=1))

    def forms(self) -> list[Form]:
        """The forms of all runs so far, one for each student's notebook."""
        kept = self.path / FORMS
        return merged(read_forms(kept)[0]) if any(kept.rglob(NAMES)) else []

    def write(self, inside: str, content: str | bytes) -> Path:
        """Write a file below the folder, whole or not at all, for its owner alone."""
        target = self.path / inside
        write_beside(target, content)
        os.chmod(target, stat.S_IRUSR | stat.S_IWUSR)
        return target

    def write_table(self, inside: str, text: str) -> Path:
        """Write a CSV with the mark by which Excel knows UTF-8; without it, it reads umlauts as something else."""
        return self.write(inside, MARK_OF_UTF8 + text)


def forget(path: Path) -> int:
    """Delete the folder of a class with all that is in it; how many files that were. Raises Unreadable for any other."""
    if path.is_symlink() or not (path / MARK).is_file():
        raise Unreadable(f"{path} is not a folder that `checker grade` made. Nothing was deleted.")
    count = sum(len(files) for _, _, files in os.walk(path))
    shutil.rmtree(path)
    return count


def file_name(text: str) -> str:
    """A student's or a notebook's name as a file's: two that differ get two, and none leaves the folder.

    Two that differ in capitals get two as well, also on a disk that does not tell these apart; none is a page's.
    """
    kept = "".join(char if char.isalnum() or char in "-." else "_" for char in text).strip(".")[:80]
    plain = kept == text.lower() and kept.isascii() and not kept.endswith(".html")
    return kept if plain else f"{kept}-{hashlib.sha256(text.encode()).hexdigest()[:6]}"
