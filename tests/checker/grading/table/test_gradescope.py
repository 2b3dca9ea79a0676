"""The file for Gradescope, held to Gradescope's own specification; no upload to it was tried."""

import io
import json
import re
import shutil
import subprocess
import tomllib
import zipfile

import pytest

from checker.grading.box.walls import ROOT
from checker.grading.collect.uploads import Ungraded
from checker.grading.table.gradescope import SETUP, autograder, results
from checker.reading.notebook import Unreadable
from tests.checker.command_line import checker


def item(name, earned, points=2.0):
    about = {"section": "Cell 5: One GRPO step", "verdict": f"about {name}"}
    return about | {"name": name, "earned": earned, "points": points}


def test_scores_are_real_and_what_a_person_grades_is_left_to_them():
    """Catches an autograder that gives 0 of 3 for an answer that nobody has read yet."""
    found = [
        {
            "notebook": "dots.ipynb",
            "items": [item("kl", 2.0), item("loss", 1.0), item("step", 0.0), item("analysis", None)],
            "stopped": "",
        }
    ]
    content = json.loads(results(found))
    assert [(test["score"], test["max_score"], test["status"]) for test in content["tests"]] == [
        (2.0, 2.0, "passed"),
        (1.0, 2.0, "failed"),
        (0.0, 2.0, "failed"),
    ]
    assert "score" not in content  # Gradescope adds the tests up
    assert content["visibility"] == "visible"  # one of the four words of the specification
    ran, in_all, of_section = content["output"].splitlines()
    assert "ran to its end" in ran and in_all.startswith("dots.ipynb: 3 of 8") and of_section.startswith("  Cell 5")


def test_nothing_graded_is_said_and_is_no_failure_of_the_autograder():
    """Catches an empty list of tests without a score, which Gradescope takes for a fault of the autograder."""
    content = json.loads(results([]))
    assert content["score"] == 0 and "No notebook could be graded" in content["output"]
    assert "autograder" not in content["output"], "whose mistake it was is said where it was one"


def test_a_student_is_told_why_a_notebook_was_not_graded():
    """Catches a submission that earns nothing without a word: the table that has the reason stays on their machine."""
    ungraded = [Ungraded("/autograder/submission/mine.ipynb", "It was handed out by version 0.1.")]
    for found in ([], [{"notebook": "dots.ipynb", "items": [item("kl", 2.0)], "stopped": ""}]):
        assert "mine.ipynb was not graded. It was handed out by" in json.loads(results(found, ungraded))["output"]


def test_a_machine_that_refuses_says_so_to_gradescope(tmp_path, monkeypatch):
    """Catches an autograder that leaves no results: Gradescope then tells everybody that their submission failed."""
    (tmp_path / "notebooks").mkdir()
    done = checker("grade", ".", "--gradescope", "results.json", cwd=tmp_path)
    told = json.loads((tmp_path / "results.json").read_text())
    assert done.returncode == 2 and told["score"] == 0
    assert (
        "Nobody's mistake but the autograder's: " in told["output"]
        and done.stderr.split("error", 1)[1].split()[0] in told["output"]
    )


def test_the_zip_has_its_programs_where_they_are_looked_for_and_executable(tmp_path):
    """Catches a zip that Gradescope cannot start, and one with the caches of this machine in it."""
    (tmp_path / "checker" / "__pycache__").mkdir(parents=True)
    (tmp_path / "checker" / "x.py").write_text("")
    (tmp_path / "checker" / "__pycache__" / "x.pyc").write_text("")
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "a.ipynb").write_text("{}")
    with zipfile.ZipFile(io.BytesIO(autograder(41, tmp_path))) as archive:
        assert archive.namelist() == [
            "setup.sh",
            "run_autograder",
            "course/checker/x.py",
            "course/notebooks/a.ipynb",
        ]
        assert archive.getinfo("run_autograder").external_attr >> 16 == 0o755
        assert archive.getinfo("course/checker/x.py").external_attr >> 16 == 0o644, "for the user of a box"
        program = archive.read("run_autograder").decode()
    assert (
        'printf "seed: 41\\nseconds: 240\\nmegabytes: 3000\\n" > /autograder/graded/class.yml' in program
        and "\\\n" in program
        and "\\\\" not in program
    )


def test_the_zip_has_what_its_setup_installs_by(tmp_path):
    """Catches a course that Gradescope cannot install: pip is given a list of versions, and the project's own file
    names two more, without which it builds nothing."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (constraints,) = re.findall(r"-c (\S+\.txt)", SETUP)
    needed = {"pyproject.toml", constraints, project["readme"]}
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "a.ipynb").write_text("{}")
    for name in (*needed, "secret.key"):
        (tmp_path / name).write_text("")
    with zipfile.ZipFile(io.BytesIO(autograder(41, tmp_path))) as archive:
        sent = {name.removeprefix("course/") for name in archive.namelist()}
    assert needed <= sent and "secret.key" not in sent


def test_what_students_get_makes_no_autograder(tmp_path):
    """Catches a zip without the worked notebooks, made where only blank ones are: it grades nobody."""
    (tmp_path / "notebooks" / "student").mkdir(parents=True)
    (tmp_path / "notebooks" / "student" / "a.ipynb").write_text("{}")
    with pytest.raises(Unreadable, match="no worked notebooks.*Call this in the whole course"):
        autograder(41, tmp_path)


# Programs that stand in for those of Gradescope's machine. Each call is written down; a Python says by its status
# whether it is new enough, and apt-get has the packages that are listed. What they do not show is a real apt.
PYTHON = """#!{bash}
echo "{name} $*" >> "{root}/calls"
case "$1" in
  --version) echo "Python {version}" ;;
  -c) exit {old} ;;
esac
"""
APT = """#!{bash}
echo "apt-get $*" >> "{root}/calls"
[ "$1" = update ] && exit 0
case "$*" in
  *bubblewrap*) exit 0 ;;
  {offered}) echo "E: Unable to locate package" >&2; exit 100 ;;
esac
"""


def program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def machine(tmp_path):
    """setup.sh on a machine that has these Pythons and, as a package, perhaps one more."""
    bash = shutil.which("bash")

    def build(*versions: str, offers: str = "") -> tuple[subprocess.CompletedProcess, list[str]]:
        bin = tmp_path / "bin"
        for name, version in zip(["python3", *(f"python{v}" for v in versions[1:])], versions, strict=True):
            old = int(int(version.split(".")[1]) < 11)
            program(bin / name, PYTHON.format(bash=bash, name=name, root=tmp_path, version=version, old=old))
        installed = PYTHON.format(bash=bash, name=f"python{offers}", root=tmp_path, version=offers, old=0)
        program(tmp_path / "packages" / f"python{offers}", installed)
        taken = f"*python{offers}-venv) cp {tmp_path}/packages/python{offers} {bin} ;;\n  *" if offers else "*"
        program(bin / "apt-get", APT.format(bash=bash, root=tmp_path, offered=taken))
        (bin / "cp").symlink_to(shutil.which("cp"))
        program(tmp_path / "source" / "course" / ".venv" / "bin" / "python", f"#!{bash}\n")
        setup = SETUP.replace("/autograder", str(tmp_path))
        done = subprocess.run([bash, "-c", setup], env={"PATH": str(bin)}, capture_output=True, text=True)
        return done, (tmp_path / "calls").read_text().splitlines()

    return build


def test_a_machine_with_a_new_python_takes_it(machine):
    done, calls = machine("3.12")
    assert done.returncode == 0 and "python3 -m checker setup" in calls


def test_a_newer_python_beside_an_old_one_is_taken_without_a_package(machine):
    """Catches the search for a package, which an image with its own Python need not have."""
    done, calls = machine("3.10", "3.12")
    assert done.returncode == 0 and "python3.12 -m checker setup" in calls
    assert len([call for call in calls if call.startswith("apt-get install")]) == 1


def test_a_newer_python_is_installed_where_the_machine_offers_one(machine):
    """Catches Ubuntu 22.04, whose python3 is too old and which has 3.11 as a package, and no 3.13."""
    done, calls = machine("3.10", offers="3.11")
    assert done.returncode == 0 and "python3.11 -m checker setup" in calls


def test_a_machine_that_is_too_old_is_told_so_in_a_sentence(machine):
    """Catches a build that ends in "Unable to locate package", of which nobody knows what it asks for."""
    done, calls = machine("3.8")
    assert done.returncode == 1 and "needs Python 3.11 or newer. This machine has Python 3.8 and no" in done.stderr
    assert "choose a base image" in done.stderr and not any("checker setup" in call for call in calls)
