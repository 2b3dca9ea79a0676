"""The beginning of every command: the words that may stand first, and the streams that are written to."""

import importlib
import io
import json
import sys

import pytest

from checker.__main__ import main
from tests.checker.command_line import checker


def test_a_terminal_without_a_letter_gets_a_question_mark(monkeypatch):
    """Catches a traceback, in place of the sentence, on a terminal that is not UTF-8."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(sys, "argv", ["checker", "convert", "\u00dcbung.ipynb"])
    with pytest.raises(SystemExit):
        main()
    stream.flush()
    assert b"?bung.ipynb: There is no such file." in stream.buffer.getvalue()


def test_the_grammar_of_addresses_is_not_imported_where_it_is_installed(monkeypatch, tmp_path):
    """Catches a second lost at each start: jsonschema imports that package wherever it can."""
    name = "rfc3987_syntax"
    (tmp_path / f"{name}.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, name, raising=False)
    checker("--version")
    with pytest.raises(ImportError):
        importlib.import_module(name)


def test_a_folder_that_is_called_help_is_checked(good, tmp_path):
    """Catches a student's folder that no command can name."""
    (tmp_path / "help").mkdir()
    (tmp_path / "help" / "mine.ipynb").write_text(json.dumps(good))
    assert checker("help", cwd=tmp_path).stdout.startswith("pass")


def test_the_help_calls_the_program_by_its_name():
    assert "Usage: checker [OPTIONS] COMMAND" in checker("--help").stdout


@pytest.mark.parametrize(("word", "said"), [("chekc", "Did you mean check?"), ("REPROT", "Did you mean report?")])
def test_the_command_that_a_word_resembles_is_named(word, said, tmp_path):
    """Catches a word in capitals that resembles nothing."""
    done = checker(word, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == f"error  There is no command {word}, and no such file. {said}\n"
    (tmp_path / word).mkdir()
    assert "There is no command" not in checker(word, cwd=tmp_path).stderr, "a folder may be called so"


def test_where_no_command_is_meant_the_list_of_them_is_named(tmp_path):
    assert "`checker --help` lists the commands." in checker("xyzzy", cwd=tmp_path).stderr
