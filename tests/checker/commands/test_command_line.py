"""The command line: the text it prints, the places of its files, its exit status."""

import json
import os
import re
import tomllib
import zipfile
from pathlib import Path

import pytest

from checker import __version__
from checker.commands import names
from checker.commands.report import TO_RUN
from tests.checker.command_line import checker, process

PROJECT = Path(__file__).parents[3]


def test_a_good_notebook_passes(good, save):
    """Called as a reader calls it: in a process that has imported nothing yet."""
    done = process("-m", "checker", save(good, "name with 'quotes' and spaces.ipynb"))
    assert done.returncode == 0 and not done.stderr
    assert done.stdout.startswith("pass")
    assert "of 40,000 characters, 9 of 9 cells, reward 0.250 to 0.970" in done.stdout


def test_one_bad_file_does_not_stop_the_rest(good, save, tmp_path):
    save(good, "a.ipynb"), save("not json", "b.ipynb")
    del good["cells"][0]
    save(good, "c.ipynb")
    done = checker(tmp_path)
    assert done.returncode == 2
    assert [line.split()[0] for line in done.stdout.splitlines() if ".ipynb" in line] == [
        "pass",
        "unreadable",
        "fail",
    ]
    assert "1 of 3 notebooks pass, 1 cannot be read." in done.stdout
    assert checker(tmp_path / "c.ipynb").returncode == 1


def test_one_file_that_may_not_be_read_does_not_stop_the_rest(good, save, tmp_path, monkeypatch):
    """Catches a command line that looks at its arguments before it looks at the notebooks, and refuses them all."""
    save(good, "a.ipynb")
    closed = save(good, "b.ipynb")
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != closed)  # root may read everything
    done = checker("a.ipynb", "b.ipynb", cwd=tmp_path)
    assert "2 of 2 notebooks pass" in done.stdout


def test_the_checker_starts_without_what_a_check_does_not_need():
    """Catches an import of what runs notebooks, which a hook does not install, and of what takes seconds to import."""
    names = ["torch", "nbclient", "ipykernel", "jupyter_client", "nbformat", "nbconvert", "yaml"]
    code = f"import sys, checker.__main__, checker.checking.check; print([m for m in {names} if m in sys.modules])"
    assert process("-c", code).stdout.strip() == "[]"


def test_a_hook_installs_neither_torch_nor_what_runs_notebooks():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    required = {re.match(r"[\w.-]+", line)[0].lower() for line in project["dependencies"]}
    assert not required & {"torch", *TO_RUN}
    run_extra = {re.match(r"[\w.-]+", line)[0].lower() for line in project["optional-dependencies"]["run"]}
    assert run_extra == set(TO_RUN)


# Calls the command line once for each of several arguments, and ends each with a line that tells its status.
WITHOUT = """
import json, sys
missing, calls = map(json.loads, sys.argv[1:])
sys.modules.update(dict.fromkeys(missing))
from checker.__main__ import main
for arguments in calls:
    sys.argv[1:] = arguments
    try:
        main()
    except SystemExit as ended:
        print("status", arguments[0], ended.code or 0)
"""


@pytest.mark.parametrize("missing", [("nbclient", "ipykernel"), ("ipykernel",)])
def test_without_what_runs_notebooks_only_report_is_refused(good, save, tmp_path, missing):
    """Catches a traceback, or a notebook half run, where the checker was installed as a hook."""
    path = str(save(good))
    calls = [["check", path], ["convert", path], ["report", path, "-o", str(tmp_path / "build")]]
    if "nbclient" not in missing:  # which nbconvert imports too
        calls.append(["render", path, "-o", str(tmp_path / "out"), "--engine", "builtin"])
    done = process("-c", WITHOUT, json.dumps(missing), json.dumps(calls))
    statuses = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("status ")]
    assert statuses == [[call[0], "2" if call[0] == "report" else "0"] for call in calls]
    assert "Traceback" not in done.stderr and 'pip install -e ".[run]"' in done.stderr
    assert all(name in done.stderr for name in missing)
    assert not (tmp_path / "build").exists()


def test_a_page_is_made_without_the_grammar_of_addresses(good, save, tmp_path):
    """Catches a second lost at each start, where jsonschema finds a package that no notebook needs."""
    code = "import sys; from checker.__main__ import main\ntry: main()\nfinally: print('lark' in sys.modules)"
    done = process("-c", code, "render", save(good), "-o", tmp_path / "out", "--engine", "builtin")
    assert done.stdout.splitlines()[-1] == "False", done.stderr


def zipped(tmp_path, entries, name="export.zip"):
    path = tmp_path / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, content in entries.items():
            archive.writestr(entry, content)
    return path


def test_a_zip_is_read_without_trusting_it(good, tmp_path):
    """Names that climb out, an entry that expands a thousandfold, hidden files: none of it leaves a trace."""
    export = tmp_path / "export"
    export.mkdir()
    path = zipped(
        export,
        {
            "student one/hw.ipynb": json.dumps(good),
            "../../climbed.ipynb": json.dumps(good),
            "bomb.ipynb": " " * 50_000_000,
            "__MACOSX/._hw.ipynb": "x",
            "readme.pdf": "x",
        },
    )
    done = checker(path)
    assert done.returncode == 2
    assert "1 notebooks pass" not in done.stdout and "2 of 3 notebooks pass, 1 cannot be read." in done.stdout
    assert "student one/hw.ipynb" in done.stdout and "It unpacks to 50 MB" in done.stdout
    assert not list(tmp_path.rglob("climbed*")) and [p.name for p in export.iterdir()] == ["export.zip"]


def test_the_hook_calls_a_command_that_exists():
    import yaml

    (hook,) = yaml.safe_load((PROJECT / ".pre-commit-hooks.yaml").read_text())
    assert hook["entry"] == "checker check" and hook["types"] == ["jupyter"]


@pytest.mark.parametrize("arguments", [["-h"], *([name, "-h"] for name in names())], ids=" ".join)
def test_h_asks_for_help_everywhere(arguments):
    """Catches "no such option" as the answer to a call for help."""
    done = checker(*arguments)
    assert done.returncode == 0 and "usage" in done.stdout.lower() and not done.stderr


def test_the_version_is_told():
    assert checker("--version").stdout.strip() == f"checker {__version__}"


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["nope"], "There is no command nope, and no such file. `checker --help` lists the commands."),
        (["version"], "Did you mean --version?"),
        (["render", "nope.ipynb"], "nope.ipynb: There is no such file."),
        (["report", "nope.ipynb"], "nope.ipynb: There is no such file."),
        (["convert", "."], ".: This is a folder. Give the notebook in it."),
        (["assign", "nope.ipynb"], "nope.ipynb: There is no such file."),
        (["start", "dotz"], "Did you mean dots?"),
    ],
)
def test_what_is_not_there_is_told_on_stderr_and_nothing_is_made(arguments, said, tmp_path):
    """Catches an index of no pages, and an error among the results where no program looks for it."""
    done = checker(*arguments, cwd=tmp_path)
    assert done.returncode == 2 and said in done.stderr and "error" not in done.stdout
    assert not list(tmp_path.iterdir())


def test_help_is_a_command_too():
    assert "--require-claim" in checker("help", "report").stdout
    assert checker("help").stdout == checker("--help").stdout


def test_help_names_the_choices():
    assert "dots, " in " ".join(checker("start", "-h").stdout.split())
    assert "S002" in checker("explain", "-h").stdout and "M013" in checker("explain", "-h").stdout
