"""The commands that work before anything is installed, on a bare Python as well."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from jupyterlab_server.settings_utils import get_settings

from checker import __version__
from checker.editions.assign import assign
from checker.setup import bootstrap, environment
from checker.setup.start import editions, start
from tests.checker.command_line import checker
from tests.test_notebook_form import opens_on_its_title

ROOT = Path(__file__).parents[3]


def bare(*arguments, cwd=ROOT):
    """`python -m checker` without site-packages, as on a machine where nothing is installed."""
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); sys.argv = ['checker', *{list(arguments)}]; import runpy;"
        " runpy.run_module('checker', run_name='__main__', alter_sys=True)"
    )
    return subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, cwd=cwd)


def test_a_bare_python_knows_setup():
    """Catches an import of what setup is there to install."""
    done = bare("setup", "--help")
    assert done.returncode == 0, done.stderr
    assert "--torch {cpu,cuda}" in done.stdout and "--tests" in done.stdout


def test_what_a_command_does_not_know_is_said(capsys):
    done = bare("start", "dots", "--again")
    assert done.returncode == 2 and "start does not know --again" in done.stderr and "Traceback" not in done.stderr
    with pytest.raises(SystemExit, match="^2$"):
        bootstrap.main(["start", "dots", "--again", "--and"])
    assert "start does not know --again --and\n" in capsys.readouterr().err


@pytest.mark.parametrize("asked", [["report", "x.ipynb"], ["--help"], ["help", "report"], []])
def test_any_other_command_is_handed_to_the_environment(asked, monkeypatch):
    """Catches a help that lists four commands of seventeen where all are installed."""
    calls = []
    monkeypatch.setattr(bootstrap, "find_spec", lambda name: None)
    monkeypatch.setattr(bootstrap.environment, "in_use", lambda: False)
    monkeypatch.setattr(bootstrap.environment, "interpreter", lambda: Path(sys.executable))
    monkeypatch.setattr(bootstrap.environment, "stamp", lambda tests: ROOT / "pyproject.toml")
    monkeypatch.setattr(bootstrap.subprocess, "call", lambda command: calls.append(command) or 1)
    with pytest.raises(SystemExit) as ended:
        bootstrap.before_packages(asked)
    assert calls == [[sys.executable, "-m", "checker", *asked]] and ended.value.code == 1


def test_the_first_command_that_needs_packages_installs_them(monkeypatch, tmp_path):
    """Catches the README's promise broken: "not installed" as the first thing that a student sees."""
    steps = []
    monkeypatch.setattr(bootstrap, "find_spec", lambda name: None)
    monkeypatch.setattr(bootstrap.environment, "ENVIRONMENT", tmp_path)
    monkeypatch.setattr(bootstrap.environment, "setup", lambda: steps.append("setup"))
    monkeypatch.setattr(bootstrap.subprocess, "call", lambda command: steps.append(command[2:]) or 0)
    with pytest.raises(SystemExit) as ended:
        bootstrap.before_packages(["report", "x.ipynb"])
    assert ended.value.code == 0 and steps == ["setup", ["checker", "report", "x.ipynb"]]


def test_a_setup_that_fails_is_a_sentence_and_runs_nothing(monkeypatch, tmp_path, capsys):
    def fail():
        raise environment.SetupError("pip could not install torch.")

    monkeypatch.setattr(bootstrap, "find_spec", lambda name: None)
    monkeypatch.setattr(bootstrap.environment, "ENVIRONMENT", tmp_path)
    monkeypatch.setattr(bootstrap.environment, "setup", fail)
    monkeypatch.setattr(bootstrap.subprocess, "call", lambda command: pytest.fail("it was run"))
    with pytest.raises(SystemExit) as ended:
        bootstrap.before_packages(["report", "x.ipynb"])
    assert ended.value.code == 2 and "pip could not install torch." in capsys.readouterr().err


def test_an_environment_that_lacks_a_package_does_not_call_itself(monkeypatch):
    """Catches an endless chain of calls."""
    monkeypatch.setattr(bootstrap, "find_spec", lambda name: None)
    monkeypatch.setattr(bootstrap.environment, "in_use", lambda: True)
    monkeypatch.setattr(bootstrap.subprocess, "call", lambda command: pytest.fail("it called itself"))
    with pytest.raises(SystemExit, match="^A package of the course is missing in .venv.*make setup"):
        bootstrap.before_packages([])


@pytest.mark.parametrize("asked", ["-h", "--help", "help", "--version"])
def test_help_and_version_install_nothing(asked):
    """Catches gigabytes for a question."""
    done = bare(asked)
    assert done.returncode == 0 and "Installing" not in done.stdout, done.stderr
    assert ("setup" in done.stdout) == (asked != "--version")


def test_a_command_of_this_module_is_run_before_packages_are_looked_for(monkeypatch):
    """Catches a setup that asks for what it is there to install."""
    handed = []
    monkeypatch.setattr(bootstrap, "find_spec", lambda name: pytest.fail("it was looked for"))
    monkeypatch.setattr(bootstrap, "main", lambda arguments: handed.append(arguments) or 7)
    for name in bootstrap.COMMANDS:
        with pytest.raises(SystemExit) as ended:
            bootstrap.before_packages([name, "--help"])
        assert ended.value.code == 7 and handed[-1] == [name, "--help"]


def test_where_nothing_is_installed_help_lists_these_commands_and_says_that_there_are_others(
    monkeypatch, tmp_path, capsys
):
    monkeypatch.setattr(bootstrap, "find_spec", lambda name: None)
    monkeypatch.setattr(environment, "ENVIRONMENT", tmp_path)
    monkeypatch.setattr(bootstrap.subprocess, "call", lambda command: 0)
    for asked in ([], ["-h"], ["--help"], ["help"]):
        with pytest.raises(SystemExit) as ended:
            bootstrap.before_packages(asked)
        said = capsys.readouterr().out
        assert not ended.value.code
        assert said.endswith("\n\nThe other commands are listed once the packages are there.\n")
        for name, says in bootstrap.COMMANDS.items():
            assert f" {name} {says}" in " ".join(said.split())
    (tmp_path / "installed").touch()
    with pytest.raises(SystemExit):
        bootstrap.before_packages(["--help"])
    assert capsys.readouterr().out == "", "the environment's Python says it"


def test_the_version_needs_no_packages(monkeypatch, capsys):
    monkeypatch.setattr(bootstrap, "find_spec", lambda name: pytest.fail("it was looked for"))
    with pytest.raises(SystemExit):
        bootstrap.before_packages(["--version"])
    assert capsys.readouterr().out == f"checker {__version__}\n"


def test_each_command_says_what_it_does_and_what_it_takes(capsys):
    """Catches a list of names that only those understand who know them."""

    def help_of(name) -> str:
        with pytest.raises(SystemExit):
            bootstrap.main([name, "--help"])
        return " ".join(capsys.readouterr().out.split())

    about = {"setup": ".venv", "start": "blank notebook into work/", "lab": "JupyterLab on work/", "test": "to pytest"}
    assert about.keys() == bootstrap.COMMANDS.keys()
    for name, words in about.items():
        says = bootstrap.COMMANDS[name]
        assert words in says and re.match("[A-Z][a-z]", says) and says.endswith(".")
        assert says in help_of(name) and f"usage: checker {name} " in help_of(name)
    assert "--tests what the tests need" in help_of("setup")
    assert re.search(r"--torch \{cpu,cuda\} the build of torch; .* at first cpu --model", help_of("setup"))
    assert "its name: " in help_of("start") and "dots" in help_of("start")
    assert "[-- options of JupyterLab]" in help_of("lab") and "[-- options of pytest]" in help_of("test")


def test_setup_makes_what_was_asked_for_and_says_what_is_next(monkeypatch, capsys):
    """Catches tests that nothing was installed for."""
    made = []
    monkeypatch.setattr(environment, "setup", lambda build, tests: made.append((build, tests)))
    assert bootstrap.main(["setup"]) == bootstrap.main(["setup", "--tests", "--torch", "cuda"]) == 0
    assert made == [(None, False), ("cuda", True)]
    with pytest.raises(SystemExit):
        bootstrap.main(["setup", "--torch", "rocm"])
    assert len(made) == 2, "there is no such build"
    assert capsys.readouterr().out.startswith("Ready. A notebook to fill in: make start ")


def test_the_command_line_lists_and_hands_on(monkeypatch):
    from typer.testing import CliRunner

    from checker.__main__ import app

    handed = []
    monkeypatch.setattr(bootstrap, "main", lambda arguments: handed.append(arguments) or 0)
    said = CliRunner().invoke(app, ["--help"]).output
    assert all(name in said for name in bootstrap.COMMANDS)
    CliRunner().invoke(app, ["setup", "--torch", "cuda"])
    CliRunner().invoke(app, ["test", "-k", "kl", "--help"])
    assert handed == [["setup", "--torch", "cuda"], ["test", "-k", "kl", "--help"]]


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A clone with one blank edition, whose environment is there; what would be run is returned as a list."""
    ran = []
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(bootstrap, "EDITIONS", tmp_path / "notebooks" / "student")
    monkeypatch.setattr(bootstrap, "WORK", tmp_path / "work")
    monkeypatch.setattr(environment, "up_to_date", lambda tests: True)
    monkeypatch.setattr(bootstrap.subprocess, "call", lambda command, **_: ran.append(command[1:]) or 0)
    assign(ROOT / "notebooks" / "dots.ipynb", bootstrap.EDITIONS)
    (tmp_path / "tests").mkdir()
    return ran


@pytest.mark.parametrize("name", ["dots", "Dots", "dots.ipynb", "notebooks/dots.ipynb"])
def test_start_copies_a_blank_edition_and_says_how_to_open_it(course, capsys, name):
    assert bootstrap.main(["start", name]) == 0
    copy = json.loads((bootstrap.WORK / "dots.ipynb").read_text(encoding="utf-8"))
    blank = json.loads((bootstrap.EDITIONS / "dots.ipynb").read_text(encoding="utf-8"))
    assert copy["metadata"] == blank["metadata"]
    (only_there,) = {c["id"] for c in blank["cells"]} - {c["id"] for c in copy["cells"]}
    assert only_there.endswith("-generated")
    differ = [c["cell_type"] for c in copy["cells"] if c not in blank["cells"]]
    assert differ and set(differ) == {"markdown"}  # its links
    assert opens_on_its_title(copy)
    assert "work/dots.ipynb" in (said := capsys.readouterr().out) and "make lab" in said


def test_every_link_of_a_copy_leads_to_a_file(tmp_path):
    """Catches a link to another chapter that leads into `work/`, where the chapter is not."""
    student, work = ROOT / "notebooks" / "student", tmp_path / "work"
    for name in editions(student):
        copy = json.loads(start(name, student, work).read_text(encoding="utf-8"))
        texts = ["".join(cell["source"]) for cell in copy["cells"] if cell["cell_type"] == "markdown"]
        links = [
            link
            for text in texts
            for link in re.findall(r"\]\(([^)]+)\)", text)
            if "://" not in link and not link.startswith("attachment:")
        ]
        assert links and all((work / link).resolve().is_relative_to(student) for link in links)
        assert all((work / link).exists() for link in links), name


def test_a_link_to_a_chapter_that_was_not_handed_out_is_text(course):
    bootstrap.main(["start", "dots"])
    text = (bootstrap.WORK / "dots.ipynb").read_text(encoding="utf-8")
    assert ".ipynb)" not in text and "off_policy makes more" in text


def test_start_never_overwrites_what_is_begun(course, capsys):
    """Catches an evening's work lost to a command typed twice."""
    bootstrap.WORK.mkdir()
    (bootstrap.WORK / "dots.ipynb").write_text("an evening's work")
    assert bootstrap.main(["start", "dots"]) == 2
    assert (bootstrap.WORK / "dots.ipynb").read_text() == "an evening's work"
    assert "is there already and was not touched" in capsys.readouterr().err


def test_start_names_the_notebooks_there_are(course, capsys):
    assert bootstrap.main(["start", "chess"]) == 2
    assert "There is no notebook chess. There are dots." in capsys.readouterr().err
    assert bootstrap.main(["start", "dot"]) == 2
    assert "There is no notebook dot. Did you mean dots?" in capsys.readouterr().err
    assert not bootstrap.WORK.exists()


def test_a_cell_without_an_id_is_copied_and_code_is_as_it_was(tmp_path):
    """Catches a traceback on an edition in an older format, and a link that is changed in a program."""
    (tmp_path / "blank").mkdir()
    source = "see [dots](dots.ipynb) and [gone](gone.ipynb)"
    cells = [{"cell_type": kind, "source": source, "metadata": {}} for kind in ("markdown", "code")]
    (tmp_path / "blank" / "dots.ipynb").write_text(json.dumps({"cells": cells}))
    copy = json.loads(start("dots", tmp_path / "blank", tmp_path / "work").read_text())
    linked = "see [dots](../blank/dots.ipynb) and gone"
    assert ["".join(cell["source"]) for cell in copy["cells"]] == [linked, source]


def test_git_leaves_work_alone():
    assert "work/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()


def test_lab_opens_on_the_copies_and_before_there_are_any_on_the_blank_editions(course, capsys):
    bootstrap.main(["lab"])
    assert capsys.readouterr().out.startswith("Nothing is begun in work/ yet. First: make start NOTEBOOK=dots ")
    bootstrap.main(["start", "dots"])
    bootstrap.main(["lab"])
    root = f"--ServerApp.root_dir={environment.ROOT}"
    settings = f"--LabApp.app_settings_dir={bootstrap.LAB_SETTINGS}"
    assert course == [
        ["-m", "jupyterlab", root, "--LabApp.default_url=/lab/tree/notebooks/student", settings],
        ["-m", "jupyterlab", root, "--LabApp.default_url=/lab/tree/work", settings],
    ]


def test_lab_wraps_lines_of_code_and_asks_nobody_for_news(tmp_path):
    """Catches a setting that JupyterLab does not know: a TODO runs out of a window of 1,000 pixels, unseen."""
    schemas = Path(sys.prefix) / "share" / "jupyter" / "lab" / "schemas"

    def default(plugin, name):
        read, _ = get_settings(str(bootstrap.LAB_SETTINGS), str(schemas), str(tmp_path), schema_name=plugin)
        return read["schema"]["properties"][name]["default"]

    assert default("@jupyterlab/notebook-extension:tracker", "codeCellConfig")["lineWrap"] is True
    assert default("@jupyterlab/apputils-extension:notification", "fetchNews") == "false"
    assert default("@jupyterlab/apputils-extension:notification", "checkForUpdates") is False


def test_what_somebody_set_for_threads_stays(course, monkeypatch):
    """Catches a setting of the environment that is written over, and one of ours that is not there."""
    given = []
    monkeypatch.setattr(bootstrap.subprocess, "call", lambda command, *, env, **_: given.append(env) or 0)
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")
    monkeypatch.delenv("TOKENIZERS_PARALLELISM", raising=False)
    bootstrap.main(["test"])
    assert [(env["OMP_WAIT_POLICY"], env["TOKENIZERS_PARALLELISM"]) for env in given] == [("ACTIVE", "false")]


@pytest.mark.parametrize("options", [["--", "--no-browser", "--ip", "0.0.0.0"], ["--no-browser", "--ip", "0.0.0.0"]])
def test_what_follows_lab_goes_to_jupyter(course, options):
    """Catches a container or a server on which JupyterLab cannot be told where it is."""
    bootstrap.main(["lab", *options])
    (call,) = course
    assert call[-3:] == ["--no-browser", "--ip", "0.0.0.0"] and "--" not in call


def test_a_help_that_is_asked_of_jupyter_goes_to_jupyter(course):
    done = checker("lab", "--", "--help")
    assert done.returncode == 0 and course[0][-1] == "--help" and "usage: checker" not in done.stdout


def test_what_follows_test_goes_to_pytest(course):
    bootstrap.main(["test"])
    bootstrap.main(["test", "tests/test_kl.py", "-k", "sign"])
    usual = [
        "-m",
        "pytest",
        "-n",
        "auto",
        "--dist",
        "loadfile",
        "--no-loadscope-reorder",
        "-m",
        "not slow",
        "-o",
        "addopts=-q",
        *("-p", "no:anyio", "-p", "no:jaxtyping", "-p", "no:logging", "-p", "no:platformdirs"),
    ]
    assert course == [usual, [*usual, "tests/test_kl.py", "-k", "sign"]]


def test_where_there_are_no_tests_it_is_said_and_nothing_installed(course, capsys):
    """Catches pip's word on a missing list of requirements, in the students' edition, which has no tests."""
    (environment.ROOT / "tests").rmdir()
    assert bootstrap.main(["test"]) == 2
    assert course == [] and "There are no tests here" in capsys.readouterr().err


def test_an_environment_that_is_out_of_date_is_made_before_it_is_used(course, monkeypatch):
    monkeypatch.setattr(environment, "up_to_date", lambda tests: False)
    monkeypatch.setattr(environment, "setup", lambda build=None, tests=False: course.append(f"setup {tests}"))
    bootstrap.main(["test"])
    bootstrap.main(["lab"])
    assert [step if isinstance(step, str) else step[1] for step in course] == [
        "setup True",
        "pytest",
        "setup False",
        "jupyterlab",
    ]


def test_the_checker_without_the_course_says_so(monkeypatch, tmp_path, capsys):
    """Installed as a hook it has no requirements.txt beside it, and no notebooks."""
    monkeypatch.setattr(environment, "REQUIREMENTS", tmp_path / "requirements.txt")
    assert bootstrap.main(["setup"]) == 2
    assert "no clone of the course" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["release", "autograder", "grade submissions"])
def test_what_hands_on_the_course_needs_it(command, monkeypatch, tmp_path):
    """Catches a zip without model and notebooks that says it is whole, and a folder that is left behind."""
    monkeypatch.setattr(environment, "REQUIREMENTS", tmp_path / "requirements.txt")
    done = checker(*command.split(), cwd=tmp_path)
    assert done.returncode == 2 and "no clone of the course" in done.stderr
    assert not any(tmp_path.iterdir())


def test_a_site_is_made_in_the_courses_folder(tmp_path):
    """Catches an error of Python in a sentence about settings."""
    done = checker("site", cwd=tmp_path)
    assert done.returncode == 2 and "no _quarto.yml here" in done.stderr and "Error(" not in done.stderr


def test_ctrl_c_is_no_traceback(monkeypatch, capsys):
    def interrupted(build, tests):
        raise KeyboardInterrupt

    monkeypatch.setattr(environment, "setup", interrupted)
    assert bootstrap.main(["setup"]) == 130
    assert capsys.readouterr().err == "Stopped. The same command goes on where this one was.\n"
