"""The texts of the command line's help: words that are written as words, sentences that begin and end."""

import re

import pytest
import typer
import typer.testing

from checker.commands import app, explain, new
from checker.setup import bootstrap
from tests.checker.command_line import checker

NAMES = {"CSV", "HTML", "JSON", "TODOs", "JupyterLab", "TODO", "CONTRIBUTING"}
PROGRAMS = {"Quarto", "Canvas", "Moodle", "Gradescope"}
COMMANDS = typer.main.get_command(app).commands
TEXTS = {"checker": app.info.help, "what a question is": explain.ONLY_ASKED, "after new": new.NEXT}
TEXTS |= {name: command.help for name, command in COMMANDS.items()}
TEXTS |= {
    f"{name} {option.opts[0]}": option.help
    for name, command in COMMANDS.items()
    for option in command.params
    if getattr(option, "help", None) is not None
}


@pytest.mark.parametrize("name", TEXTS)
def test_help_is_prose(name):
    """Catches a word with a capital inside, a sentence without one, and an option of which nothing is said."""
    text = re.sub(r"\[/?bold\]", "", TEXTS[name]).strip()
    assert re.match(r"[A-Z][a-z]|A |[\w-]+: ", text), "it begins"
    assert re.search(r"[.)\"]$|ipynb$", text), "it ends"
    text = re.sub(r"`[^`]*`|(?<!\w)'[^']*'|\"[^\"]*\"|\{\w+\}", "x", text)
    words = [word.strip("(),.:;?!") for word in text.split()]
    plain = [word.removesuffix("'s") for word in words if re.fullmatch(r"[A-Za-z']+", word)]
    odd = [word for word in plain if not re.fullmatch(r"[A-Z]?[a-z]+|[A-Z]", word) and word not in NAMES]
    assert not odd
    assert not {program.lower() for program in PROGRAMS} & set(plain), "a program's name is written as it writes it"
    assert not re.findall(r"[a-z)]\. +[a-z](?![\w]*\))|\n\n[a-z]", text), "a sentence begins with a small letter"


def test_every_option_says_what_it_is_for():
    """Catches an option that only its author understands."""
    silent = [
        f"{name} {option.opts[0]}"
        for name, command in COMMANDS.items()
        for option in command.params
        if not getattr(option, "help", None) and not getattr(option, "hidden", False)
    ]
    assert not silent


def test_the_help_lists_each_command_and_both_ways_to_it():
    """Catches a command under another name than the one that the course's pages give it."""
    said = checker("--help").stdout
    assert said.split() == checker("-h").stdout.split() == checker().stdout.split()
    listed = {*COMMANDS}
    assert listed == {
        *bootstrap.COMMANDS,
        *("check", "report", "convert", "slides", "render", "site", "release", "grade", "autograder", "undo", "forget"),
        *("grades", "challenge", "new", "assign", "explain"),
    }
    assert all(re.search(rf"\b{name}\b", said) for name in listed)
    assert "Before you hand in:" in said and "--install-completion" not in said


@pytest.mark.parametrize("name", ["check", "convert"])
def test_the_output_that_is_kept_is_no_negative_number(name, good, save):
    done = checker(name, save(good), "--max-output", "-1")
    assert done.returncode == 2 and "--max-output" in done.stderr
    assert checker(name, save(good), "--max-output", "0").returncode == 0


@pytest.mark.parametrize("status", [0, 3])
def test_what_a_command_without_packages_ends_with_is_passed_on(status, monkeypatch):
    """Catches a setup that fails and a `make` that goes on."""
    handed = []
    monkeypatch.setattr(bootstrap, "main", lambda arguments: handed.append(arguments) or status)
    runner = typer.testing.CliRunner()
    done = runner.invoke(app, ["test", "-k", "kl", "-h", "--help"])
    assert done.exit_code == status and handed == [["test", "-k", "kl", "-h", "--help"]]
