"""`checker report` on small notebooks, with a real kernel."""

import errno
import functools
import json
import os
import re
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from typer.testing import CliRunner

from checker.__main__ import app
from checker.checking.terminal import many
from checker.running import report as running_report
from checker.running.kernel import fresh_kernel
from checker.running.report import _free, _target, run
from tests.checker.command_line import checker
from tests.checker.conftest import GOOD, code

CELLS = {
    2: "# Cell 2: Model\nimport os, sys, warnings\nprint('parameters', os.path.basename(os.getcwd()))",
    3: "# Cell 3: Data\nprint('a\\nb\\nc')",
    4: "#| echo: false\n# Cell 4: Reward function\nprint('x reward 1.0')\nprint('y reward 0.0')",
    5: "# Cell 5: One GRPO step\nprint('shape (8,) loss 0.5')",
    6: "# Cell 6: Training loop\nfrom tqdm.auto import tqdm\nfor i in tqdm(range(5), desc='GRPO'):\n"
    "    print(f'step {i} reward 0.{i} loss 0.1')\nwarnings.warn('noise')\nprint('debris', file=sys.stderr)",
    7: "# Cell 7: Evaluation\nprint('baseline reward 0.2\\nfine-tuned reward 0.9')\nfor i in range(5): print('prompt', i)",
}


SAVED = "fine-tuned reward 0.9 (95 % interval 0.85 to 0.95)"


def with_saved_reward(path):
    """The notebook with a reward in the saved outputs of Cell 7."""
    content = json.loads(path.read_text())
    content["cells"][7]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": SAVED}]
    path.write_text(json.dumps(content))
    return path


def written(folder, changes=(), name="my notebook.ipynb"):
    """A notebook of these cells that was never run."""
    cells = [
        GOOD["cells"][0],
        GOOD["cells"][1],
        *[code(s, count=None) for s in (CELLS | dict(changes)).values()],
        GOOD["cells"][-1],
    ]
    path = folder / "a folder" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(GOOD | {"cells": cells}))
    return path


@pytest.fixture
def notebook(tmp_path):
    return functools.partial(written, tmp_path)


def report(*arguments):
    return CliRunner().invoke(app, ["report", *map(str, arguments)])


def executed(folder, name="my notebook.ipynb"):
    return nbformat.read(folder / name, as_version=4).cells


def test_a_notebook_is_run_checked_and_rendered_and_not_written_to(notebook, tmp_path):
    path = notebook()
    before = path.read_bytes()
    done = report(path, "--out", tmp_path / "build", "--require-claim")
    assert done.exit_code == 0
    assert path.read_bytes() == before
    out = done.output
    assert "5/6  Cell 6: Training loop" in out
    assert "3/6  Cell 4: Reward function" in out, "Quarto's options are no name of a cell"
    assert "baseline reward      0.200" in out and "fine-tuned reward    0.900" in out
    assert {p.name for p in (tmp_path / "build").iterdir()} == {
        "my notebook.ipynb",
        "my notebook.md",
        "my notebook.html",
    }

    cells = executed(tmp_path / "build")
    assert "a folder" in cells[2]["outputs"][0]["text"]
    training = cells[6]["outputs"]
    assert len(training) == 1 and training[0]["name"] == "stdout"
    assert "debris" not in training[0]["text"] and "noise" not in training[0]["text"] and "%" not in training[0]["text"]


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """A good and a bad notebook, saved in place: their paths, the bad one's bytes before, the other folder, the call."""
    folder = tmp_path_factory.mktemp("two")
    good = written(folder)
    bad = with_saved_reward(written(folder, {4: "# Cell 4: Reward function\nx = 1\nundefined + x"}, "bad.ipynb"))
    before = bad.read_bytes()
    done = report("--in-place", good, bad, "-o", folder / "build")
    return SimpleNamespace(good=good, bad=bad, before=before, build=folder / "build", done=done)


def test_a_cell_that_fails_is_named_and_what_ran_is_kept(two):
    assert two.done.exit_code == 1
    out = two.done.output
    assert "Cell 4: Reward function stopped with NameError: name 'undefined' is not defined" in out
    assert "of the file" not in out
    assert "drift" not in out, "what was not reached is no other result"
    assert "undefined + x" in out
    assert re.search(r"findings +\d+ errors", out), "what is wrong is no matter of structure"
    assert re.search(r"structure +9 of 9 cells *\n", out)
    assert [many(count, "error") for count in (0, 1, 2)] == ["0 errors", "1 error", "2 errors"]
    assert executed(two.build, "bad.ipynb")[3]["outputs"]


def test_in_place_saves_fresh_outputs_only_when_all_went_well(two):
    assert json.loads(two.good.read_text())["cells"][7]["outputs"]
    assert two.bad.read_bytes() == two.before


def test_a_notebook_named_by_another_path_is_not_written_over(tmp_path, monkeypatch):
    """Catches somebody's outputs written over without --in-place, where the folder of the copies is the notebook's own."""
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path)
    for path in (tmp_path / "hw.ipynb", Path("hw.ipynb"), Path("inner/../hw.ipynb")):
        for folder in (tmp_path, Path(), Path("inner/..")):
            assert _target(path, folder, in_place=False) == folder / "hw-executed.ipynb"
            assert _target(path, folder, in_place=True) == path
    assert _target(Path("hw.ipynb"), Path("build"), in_place=False) == Path("build/hw.ipynb")


@pytest.fixture
def run_once(monkeypatch):
    """A notebook that is reported on again is not run again: for what is judged of the same run."""
    runs = {}

    def kept(path, *arguments, **options):
        if path not in runs:
            runs[path] = run(path, *arguments, **options)
        return runs[path]

    monkeypatch.setattr("checker.running.report.run", kept)


def test_a_notebook_that_does_not_learn_fails_where_that_is_asked(notebook, tmp_path, run_once):
    """The saved outputs say that it learnt: that they are of other code is told, too, and fails in the same place."""
    path = with_saved_reward(notebook({7: CELLS[7].replace("0.9", "0.1")}))
    done = report(path, "--out", tmp_path / "build")
    assert done.exit_code == 0
    drift = '"fine-tuned reward" is 0.100; the saved outputs say 0.900 and allow 0.800 to 1.000.'
    assert drift in done.output and "error" not in done.output
    done = report(path, "--out", tmp_path / "build", "--require-claim")
    assert done.exit_code == 1
    assert "does not show a fine-tuned reward above its baseline" in done.output
    assert drift in done.output and "Save them again with --in-place" in done.output


@pytest.mark.slow
def test_folders_and_zips_are_run_each_notebook_under_its_own_name(notebook, tmp_path):
    """Catches two notebooks of one name of which the second overwrites the first, and a copy called `0.ipynb`."""
    path = notebook()
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.write(path, "anna/mine.ipynb")
    done = report(path.parent, tmp_path / "all.zip", path, "-o", tmp_path / "build")
    assert done.exit_code == 0, done.output
    found = {page.relative_to(tmp_path / "build").as_posix() for page in (tmp_path / "build").rglob("*.html")}
    assert found == {"my notebook.html", "2/my notebook.html", "anna/mine.html"}
    assert f"{tmp_path / 'all.zip'}:anna/mine.ipynb" in done.output and "characters" in done.output
    copy = str(tmp_path / "build" / "anna" / "mine.ipynb")
    assert copy in re.sub(r"\s", "", done.output), "where the copy was saved"


def test_names_that_some_disks_take_for_one_get_folders_of_their_own(tmp_path):
    """Catches Mine.ipynb, and an accent written in two ways, whose pages overwrite each other on macOS and Windows."""
    taken = set()
    stems = ("mine", "Mine", "caf\u00e9", "cafe\u0301")
    places = [_free(tmp_path, stem, taken) for stem in stems]
    assert places == [tmp_path, tmp_path / "2", tmp_path, tmp_path / "2"]


@pytest.mark.parametrize("options", [[], ["--in-place"]])
def test_what_cannot_be_written_is_told_before_minutes_of_running(options, notebook, tmp_path, monkeypatch):
    """Catches a run whose results are lost at its end, in a folder that belongs to somebody else."""
    monkeypatch.setattr(running_report, "fresh_kernel", lambda folder: pytest.fail("it was run"))
    taken = tmp_path / "taken"
    taken.write_text("a file")
    done = checker("report", notebook(), "-o", taken)
    assert done.returncode == 2 and f"{taken} cannot be written" in done.stderr
    if options:  # root may write everywhere, so the folder is said to be closed
        monkeypatch.setattr(running_report, "refuse_unwritable", closed_but(tmp_path / "build"))
        done = checker("report", *options, notebook(), "-o", tmp_path / "build")
        assert done.returncode == 2 and "a folder cannot be written: Read-only" in done.stderr


def closed_but(open_folder):
    """In the place of `refuse_unwritable`: every other folder is read-only."""

    def refuse(folder):
        if folder != open_folder:
            raise OSError(errno.EROFS, "Read-only file system", str(folder))

    return refuse


def test_a_notebook_in_another_language_is_not_run(notebook, tmp_path):
    path = notebook()
    content = json.loads(path.read_text())
    content["metadata"] = {"kernelspec": {"name": "ir", "language": "R"}}
    path.write_text(json.dumps(content))
    done = report(path, "-o", tmp_path / "build")
    assert done.exit_code == 2 and "written in R" in done.output and not (tmp_path / "build").exists()


def test_ctrl_c_is_a_sentence_and_leaves_no_kernel_and_no_file(notebook, tmp_path):
    """Catches the two tracebacks that the notebook client prints when it is interrupted."""
    ready = tmp_path / "pid"
    path = notebook({4: f"import os, time\nopen({str(ready)!r}, 'w').write(str(os.getpid()))\ntime.sleep(60)"})
    command = [sys.executable, "-m", "checker", "report", str(path), "--out", str(tmp_path / "build")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while not (ready.exists() and ready.read_text()):
        assert process.poll() is None, process.stdout.read()
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130 and "Stopped." in out and "Traceback" not in out
    assert not (tmp_path / "build").exists()
    with pytest.raises(ProcessLookupError):
        os.kill(int(ready.read_text()), 0)


def test_the_kernel_starts_before_what_talks_to_it_is_imported():
    """Catches nbclient or nbformat imported at the top of a module: the kernel would then start a second later."""
    code = "import sys, checker.running.report; print([m for m in ('nbclient', 'nbformat', 'nbconvert') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_no_kernel_is_left_when_it_was_never_talked_to(tmp_path):
    """Catches a kernel that outlives an interrupt in the second after its start."""
    with pytest.raises(KeyboardInterrupt), fresh_kernel(tmp_path) as kernel:
        process = kernel.provisioner.pid
        raise KeyboardInterrupt
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


@pytest.mark.slow
def test_what_is_required_is_what_the_header_claims(notebook, tmp_path):
    """Catches a measuring notebook that fails for want of a rising reward, and one that passes without measuring."""
    table = "print('held-out reward\\n  RLOO   0.8\\n  GRPO   0.7')"
    for printed, status in ((table, 0), ("print('baseline reward 0.2\\nfine-tuned reward 0.9')", 1)):
        path = notebook({7: f"# Cell 7: Evaluation\n{printed}"})
        content = json.loads(path.read_text())
        content["cells"][0] = GOOD["cells"][0] | {
            "source": GOOD["cells"][0]["source"].replace("jupyter:", "course:\n  claim: measures\njupyter:")
        }
        path.write_text(json.dumps(content))
        done = report(path, "--out", tmp_path / "build", "--require-claim")
        assert done.exit_code == status
        assert (bool(re.search(r"methods compared +yes", done.output))) == (status == 0)
        assert ("does not show the held-out comparison" in done.output) == (status == 1)
