"""`checker check`: one notebook in full, many in a line each, and the forms for programs."""

import json
import zipfile

import pytest

from checker.checking.check import Report
from checker.commands.check import exit_status
from tests.checker.command_line import checker


@pytest.mark.parametrize(
    ("statuses", "status"), [(["pass"], 0), (["pass", "fail"], 1), (["fail", "unreadable", "pass"], 2), ([], 0)]
)
def test_the_worst_notebook_is_the_status(statuses, status):
    assert exit_status([Report("x", one, ()) for one in statuses]) == status


def test_one_notebook_is_told_in_full_and_many_in_a_line_each(good, save, tmp_path):
    """Catches screens of findings for a class, and one line for a student."""
    good["cells"][4]["source"] += "\nraise NotImplementedError"
    save(good, "a.ipynb")
    (tmp_path / "essay.pdf").write_text("")
    alone = checker("check", tmp_path).stdout
    advice = "Cell 4: Reward function"
    assert advice in alone and "notebooks pass" not in alone and "not checked, not a notebook: 1 (" in alone
    good["metadata"]["of"] = "another"
    save(good, "b.ipynb")
    many = checker("check", tmp_path).stdout
    assert advice not in many and "0 of 2 notebooks pass." in many
    assert all(line.startswith("fail") for line in many.splitlines()[:2])
    verbose = checker("check", tmp_path, "--verbose").stdout
    assert verbose.count(advice) >= 2 and "0 of 2 notebooks pass." in verbose


@pytest.mark.parametrize("notebooks", [1, 2])
def test_names_that_are_left_out_of_the_account_come_with_verbose(notebooks, good, save, tmp_path):
    for number in range(notebooks):
        save(good, f"{number}.ipynb")
    for number in range(12):
        (tmp_path / f"{number}.pdf").write_text("")
    assert " more (--verbose" in checker("check", tmp_path).stdout
    said = checker("check", tmp_path, "-v").stdout
    assert "more (--verbose" not in said and all(f"{number}.pdf" in said for number in range(12))


def test_a_code_is_left_out_and_output_is_kept_as_the_command_line_says(good, save):
    good["cells"][8]["source"] = "# Cell 8: Analysis\nIt worked."
    path = save(good)
    assert "P009" in checker("check", path).stdout
    assert "P009" not in checker("check", path, "--ignore", "p009").stdout
    assert "cut in the text" not in checker("check", path).stdout
    assert "6 outputs cut in the text" in checker("check", path, "--max-output", "1").stdout


def test_forms_for_programs_hold_nothing_else(good, save, tmp_path):
    """Catches a verdict above the JSON."""
    save(good, "a.ipynb"), save(good, "b.ipynb")
    (tmp_path / "essay.pdf").write_text("")
    reports = json.loads(checker("check", tmp_path, "--format", "json").stdout)
    assert [report["status"] for report in reports] == ["pass", "pass", "skipped"]
    assert checker("check", tmp_path, "--format", "pdf").returncode == 2


def test_a_long_name_stays_in_one_line_and_numbers_have_no_colour(good, save, monkeypatch):
    """Catches a line that a script cannot read, and colours that mean nothing."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    name = "12 of 'x' " * 12 + ".ipynb"
    line = checker("check", save(good, name)).stdout.splitlines()[0]
    assert name in line and line.endswith("reward 0.250 to 0.970\x1b[0m")


def test_a_zip_is_looked_into_and_folders_without_notebooks_are_named(good, tmp_path):
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("a.ipynb", json.dumps(good))
    done = checker("check", "all.zip", "--format", "text", cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.startswith("pass  all.zip:a.ipynb  ")
    (tmp_path / "x").mkdir(), (tmp_path / "y").mkdir()
    done = checker("check", "x", "y", cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.startswith("error  There is no notebook in x, y: give .ipynb files")
