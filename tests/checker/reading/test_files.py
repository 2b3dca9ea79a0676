"""Files that are written whole or not at all, and texts that may be printed."""

import pytest

from checker.reading.files import write_beside
from checker.reading.text import one_line


def test_what_could_not_be_written_leaves_nothing_behind(tmp_path):
    """Catches a folder that fills with halves of files, one for each try."""
    path = tmp_path / "notebook.ipynb"
    path.write_text("before")
    with pytest.raises(UnicodeEncodeError):
        write_beside(path, "half a character: \ud800")
    assert [left.name for left in tmp_path.iterdir()] == ["notebook.ipynb"] and path.read_text() == "before"


def test_a_name_cannot_rewrite_what_a_terminal_shows():
    """Catches a file's name that clears the screen, turns the line round, or begins a verdict of its own."""
    shown = one_line("a\x1b[2Jb\u202ec\nd")
    assert shown == "a\ufffd[2Jb\ufffdc d" and shown.isprintable()
