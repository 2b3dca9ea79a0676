"""What is printed, where files go, and the exit status."""

import json
import subprocess
import sys

import pytest


def run(*arguments, cwd=None):
    done = subprocess.run([sys.executable, "-m", "checker", *map(str, arguments)], capture_output=True, text=True, cwd=cwd)
    assert "Traceback" not in done.stderr + done.stdout
    return done


def test_a_good_notebook_passes(good, save):
    done = run(save(good, "name with 'quotes' and spaces.ipynb"))
    assert done.returncode == 0
    assert done.stdout.startswith("pass")
    assert "of 40,000 characters, 9 of 9 cells, reward 0.250 to 0.970" in done.stdout


def test_one_bad_file_does_not_stop_the_rest(good, save, tmp_path):
    save(good, "a.ipynb"), save("not json", "b.ipynb")
    del good["cells"][0]
    save(good, "c.ipynb")
    done = run(tmp_path)
    assert done.returncode == 2
    assert [line.split()[0] for line in done.stdout.splitlines() if ".ipynb" in line] == ["pass", "unreadable", "fail"]
    assert "1 of 3 notebooks pass." in done.stdout
    assert run(tmp_path / "c.ipynb").returncode == 1


def test_json_is_for_programs(good, save):
    report = json.loads(run("check", save(good), "--format", "json").stdout)[0]
    assert (report["status"], report["baseline"], report["fine_tuned"]) == ("pass", 0.25, 0.97)


def test_a_folder_without_notebooks_is_said(tmp_path):
    done = run(tmp_path)
    assert done.returncode == 2 and "No notebooks were found" in done.stderr


def test_convert_writes_what_it_prints_and_never_over_the_notebook(good, save, tmp_path):
    path = save(good)
    before = path.read_bytes()
    assert run("convert", path, "-o", tmp_path / "out" / "n.md").returncode == 0
    assert (tmp_path / "out" / "n.md").read_text() == run("convert", path).stdout
    assert run("convert", path, "-o", path).returncode == 2
    assert path.read_bytes() == before


def test_explain(good):
    assert "YAML" in run("explain", "s001").stdout
    done = run("explain", "Z999")
    assert done.returncode == 2 and "There is no finding Z999" in done.stderr


@pytest.mark.parametrize("arguments", [(), ("--help",)])
def test_help_teaches(arguments):
    assert "Before you hand in" in run(*arguments).stdout


def test_the_checker_starts_without_torch_nbformat_and_nbconvert():
    """They take seconds to import, and a check needs none of them."""
    code = "import sys, checker.__main__, checker.check; print([m for m in ('torch', 'nbformat', 'nbconvert', 'yaml') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
