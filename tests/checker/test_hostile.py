"""Files that were made to do harm, or were harmed on the way: a sentence, never a traceback, a hang, or a
file elsewhere.

Sizes are such that work growing with the square of the input would take minutes.
"""

import io
import json
import os
import random
import tempfile
import time
import zipfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from checker.__main__ import app
from checker.batch import check_all
from checker.check import Report, check
from checker.convert import to_markdown
from checker.formats import as_gradescope, as_json
from checker.inventory import take
from checker.notebook import Unreadable, read
from checker.pages.site import index, render
from checker.terminal import show
from tests.checker.conftest import GOOD, HEADER, code, markdown

NOBODY = 65534


def everything(path: Path) -> Report:
    """The report, after all that the commands make of one file was made and could be written down."""
    before = path.read_bytes()
    report = check(path)
    made = [as_json([report]), as_gradescope([report]), index([(report, "")])]
    show(report, Console(file=io.StringIO()))
    if report.status != "unreadable":
        with tempfile.TemporaryDirectory() as folder:
            made += [to_markdown(read(path)), render(path, Path(folder), "builtin", report=report).read_text("utf-8")]
    for text in made:
        text.encode()
    assert path.read_bytes() == before
    assert not [f for f in report.findings if "could not be applied" in f.found]
    return report


def notebook_of(*cells: dict) -> dict:
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": list(cells)}


def showing(**data: str) -> dict:
    """A code cell with one rich output."""
    cell = code("show()")
    cell["outputs"] = [{"output_type": "display_data", "metadata": {}, "data": data}]
    return cell


MERGES = "a: &x0 {k: 1}\n" + "".join(f"b{i}: &x{i + 1} {{<<: [*x{i}, *x{i}]}}\n" for i in range(60))
SLOW = {
    "blank lines, for patterns that begin with white space": markdown(" \n" * 100_000),
    "blank lines in code": code(" \n" * 90_000),
    "spaces without end in code": code("x = 1" + " " * 150_000 + "!"),
    "exercises by the thousand": code("# student code here\nx = 1\n" * 5_000),
    "a run of ticks, for code spans": markdown("x " + "`" * 200_000 + "y"),
    "a header whose merge keys double sixty times": markdown(f"---\n{MERGES}---"),
    "keys of Weights & Biases that do not end": code("wandb" * 30_000),
    "a number without end in a training log": code("# Cell 6: Loop\nx", "reward loss\n" + "1" * 100_000 + "_"),
    "a number without end in an evaluation": code("# Cell 7: Loop\nx", "baseline reward " + "1" * 100_000 + "_"),
    "headings that are not closed": markdown("<h1>" * 10_000),
    "elements that are not closed in an output": showing(**{"text/html": "<div>" * 70_000}),
    "brackets": markdown("[" * 40_000),
    "nested expressions": code("(" * 90_000),
    "a long chain of attributes": code("a" + ".b" * 90_000),
    "the same name bound thousands of times": code("x = x + y * z\n" * 5_000),
    "formulas inside formulas": markdown("$$" + "{" * 10_000 + "}" * 10_000 + "$$"),
    "colours that do not end": code("x", "\x1b[" * 100_000),
    "a line that is redrawn for ever": code("x", "\r" * 200_000),
}


@pytest.mark.parametrize("name", SLOW)
def test_no_text_takes_the_checker_minutes(save, name):
    start = time.process_time()
    assert everything(save(notebook_of(SLOW[name]))).status == "fail"
    assert time.process_time() - start < 20


def times(piece: str, number: int = 40_000) -> str:
    return (piece * number)[:number]


# What made a page of 62 MB, or took minutes, or would where a limit is lifted.
HEAVY = {
    "formulas that name each other's places": markdown(
        "".join(f"$FORMULA{n}END FORMULA{n}END$ " for n in range(1, 26))
    ),
    "formulas that use a place's marks": markdown("".join(f"$\ue000{n}\ue001\ue000{n}\ue001$ " for n in range(1, 26))),
    "a title that is white space": markdown("title:" + " \n" * 50_000),
    "empty tags": showing(**{"text/html": "<b></b>" * 50_000}),
    "as many tags as are let through": showing(**{"text/html": "<b></b>" * 19_000}),
    "a picture that fits no page": showing(**{"image/png": "A" * 19_000_000}),
    "as many formulas as fit": markdown(times("$x$ ")),
    "tables": markdown(times("|a|b|\n|-|-|\n")),
}


@pytest.mark.parametrize("name", HEAVY)
def test_a_page_is_bounded(save, tmp_path, name):
    """Catches text that grows at each replacement, work that takes the square of its input, and pages without a limit.

    The notebook holds the heavy cell three times; what is not shown is said.
    """
    path = save(notebook_of(*[HEAVY[name]] * 3))
    report = check(path)
    start = time.process_time()
    text = render(path, tmp_path / "out", "builtin", report=report).read_text(encoding="utf-8")
    assert len(text) < 20_000_000
    assert time.process_time() - start < 10


def test_a_page_takes_no_longer_than_it_may(save, tmp_path, monkeypatch):
    """Catches a limit that is looked at between cells alone: one cell can hold outputs without end."""
    monkeypatch.setattr("checker.pages.body.SECONDS", 0)
    cell = code("print(1)", "1\n")
    monkeypatch.setattr("checker.pages.body.Limits.allow", lambda self, cell: True)
    text = render(save(notebook_of(cell)), tmp_path / "out", "builtin").read_text(encoding="utf-8")
    assert "1 further outputs are not shown" in text


def test_what_a_page_leaves_out_is_said(save, tmp_path):
    """Catches a picture that is dropped in silence, and a page that stops without a word."""
    path = save(notebook_of(HEAVY["a picture that fits no page"], code("# Cell 3: Data")))
    text = render(path, tmp_path / "out", "builtin").read_text(encoding="utf-8")
    assert "2 further cells are not shown: a page has at most 18 MB." in text


DEEP = "[" * 900 + "]" * 900
ODD = {
    "an integer of 4,000 digits": json.dumps(GOOD).replace('"execution_count": 3', '"execution_count": ' + "9" * 4000),
    "numbers that JSON does not know": '{"nbformat": 4, "cells": [], "metadata": [NaN, Infinity, -Infinity]}',
    "a deep value where nothing looks": f'{{"nbformat": 4, "cells": [], "metadata": {DEEP}}}',
    "null bytes": '{"nbformat": 4, "cells": [{"cell_type": "code", "source": "a\\u0000b = 1"}]}',
    "half a surrogate pair": '{"nbformat": 4, "cells": [{"cell_type": "markdown", "source": "# \\ud83d"}]}',
    "rewards beyond all bounds": json.dumps(GOOD).replace("0.250", "1e999").replace("0.970", "2e999"),
    "a date that is none in the header": json.dumps(GOOD).replace("python3\\n---", "!!timestamp x\\n---"),
    "an escape beyond Unicode in the header": json.dumps(GOOD).replace(
        json.dumps(HEADER)[1:-1], '---\\na: \\"\\\\UFFFFFFFF\\"\\n---'
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_values_are_borne(save, name):
    assert everything(save(ODD[name])).status in ("pass", "fail")


@pytest.mark.parametrize("name", ODD)
def test_odd_values_get_as_far_as_quarto(save, tmp_path, monkeypatch, name):
    """A stand-in for Quarto that makes no page."""
    monkeypatch.setattr("checker.pages.quarto.program", lambda: "true")
    page = render(save(ODD[name]), tmp_path / "out", "quarto")
    assert "Quarto could not show this notebook: it made no page." in page.read_text(encoding="utf-8")


def test_json_stays_json_when_a_reward_is_not_finite(save):
    """`Infinity` is not JSON, and a dashboard would refuse the whole class for one notebook."""

    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    json.loads(as_json([check(save(ODD["rewards beyond all bounds"]))]), parse_constant=refuse)


def every_change(value):
    """The value with one part of it, at any depth, replaced by something of another type or left out."""
    yield from (None, 0, -1.5, True, "x", [], {}, [[]], ["x", 3], {"a": None})
    if isinstance(value, dict):
        for key, inner in value.items():
            yield {k: v for k, v in value.items() if k != key}
            for changed in every_change(inner):
                yield {**value, key: changed}
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            yield value[:position] + value[position + 1 :]
            for changed in every_change(inner):
                yield [*value[:position], changed, *value[position + 1 :]]


RICH = {"text/plain": "<Figure>", "image/png": "aGVsbG8=", "text/html": "<b>x</b>"}
ERROR = {"output_type": "error", "ename": "NameError", "evalue": "x", "traceback": ["NameError: x"]}
SMALL = notebook_of(
    markdown(HEADER),
    markdown("# Cell 1: Plan"),
    code("# Cell 4: Reward\nx", "reward 1.0\n"),
    {**showing(**RICH), "outputs": [*showing(**RICH)["outputs"], ERROR]},
)


def test_one_wrong_or_missing_value_anywhere(save):
    """Exhaustive: each place of a small notebook, ten wrong values and none."""
    for changed in every_change(SMALL):
        path = save(changed)
        report = check(path)
        assert not [f for f in report.findings if "could not be applied" in f.found]
        if report.status != "unreadable":
            to_markdown(read(path)).encode()


def test_pages_of_notebooks_with_a_wrong_or_missing_value(save):
    """Rendering is slower, so a fixed sample of the same changes."""
    for changed in random.Random(0).sample(list(every_change(SMALL)), 60):
        everything(save(changed))


def test_bytes_that_were_changed_on_the_way(tmp_path):
    """Bits flip, downloads end early: whatever comes out is read or refused."""
    path, original, dice = tmp_path / "n.ipynb", json.dumps(GOOD).encode(), random.Random(0)
    for _ in range(300):
        data = bytearray(original[: dice.randrange(len(original)) if dice.random() < 0.3 else None])
        for _ in range(dice.randrange(5) if data else 0):
            data[dice.randrange(len(data))] = dice.randrange(256)
        path.write_bytes(data)
        check(path)


def zip_of(path: Path, names: list[str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, json.dumps(GOOD))
    return path


def reports_on(*paths: Path) -> list[Report]:
    with tempfile.TemporaryDirectory() as scratch:
        return list(check_all(take(paths, Path(scratch)).entries))


def test_a_damaged_zip_is_refused_and_not_raised(tmp_path):
    """zlib, zipfile and the decoding of names each raise errors of their own."""
    original, dice = zip_of(tmp_path / "ok.zip", ["a.ipynb", "é/b.ipynb"]).read_bytes(), random.Random(0)
    path = tmp_path / "damaged.zip"
    for _ in range(400):
        data = bytearray(original)
        for _ in range(dice.randrange(1, 6)):
            data[dice.randrange(len(data))] = dice.randrange(256)
        path.write_bytes(data)
        reports_on(path)


NAMES = [
    "C:.ipynb",
    "/etc/absolute.ipynb",
    "../../climbed.ipynb",
    "..\\climbed.ipynb",
    f"{'long ' * 60}.ipynb",
    f"{'ü' * 200}.ipynb",
    "a.html/inside.ipynb",
    "a.ipynb",
    "index.ipynb",
    "two\nlines.ipynb",
    "\N{RIGHT-TO-LEFT OVERRIDE}bpyni.exe.ipynb",
    "quotes\"'<b>&.ipynb",
]


def test_names_in_a_zip_are_only_names(tmp_path):
    """Every notebook gets a page below the output folder; none replaces the index or another."""
    place = tmp_path / "deep" / "er"
    place.mkdir(parents=True)
    path, out = zip_of(place / "export.zip", NAMES), place / "out"
    done = CliRunner().invoke(app, ["render", str(path), "-o", str(out), "--engine", "builtin"])
    assert done.exit_code == 2 and isinstance(done.exception, SystemExit)
    assert {file.name for file in place.iterdir()} == {"export.zip", "out"}
    assert [file.name for file in tmp_path.iterdir()] == ["deep"]
    pages = [file for file in out.rglob("*") if file.is_file() and file != out / "index.html"]
    unwritten = done.output.count("cannot be written")  # a.html, where a folder has that name
    assert len(pages) + unwritten == len(NAMES) and unwritten == 1
    assert not [file for file in out.rglob("*") if not file.name.isprintable()]


def test_a_name_cannot_print_another_verdict(tmp_path):
    path = tmp_path / "mine.ipynb\npass  theirs.ipynb"
    path.with_name(path.name + ".ipynb").write_text("{}")
    out = CliRunner().invoke(app, ["check", str(tmp_path)]).output
    assert [line.split()[0] for line in out.splitlines() if "theirs" in line] == ["unreadable"]


def test_a_name_that_is_not_utf8(tmp_path):
    path = tmp_path / os.fsdecode(b"caf\xe9.ipynb")
    try:
        path.write_text(json.dumps(GOOD))
    except OSError:
        pytest.skip("this file system takes only UTF-8")
    done = CliRunner().invoke(app, ["render", str(tmp_path), "-o", str(tmp_path / "out"), "--engine", "builtin"])
    assert done.exit_code == 0 and (tmp_path / "out" / "caf\N{REPLACEMENT CHARACTER}.html").is_file()


def test_pipes_devices_and_loops_are_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.ipynb"), os.mkfifo(tmp_path / "pipe.md"), os.mkfifo(tmp_path / "pipe.zip")
    (tmp_path / "endless.md").symlink_to("/dev/zero")
    (tmp_path / "one.ipynb").symlink_to("two.ipynb"), (tmp_path / "two.ipynb").symlink_to("one.ipynb")
    (tmp_path / "inner").mkdir(), (tmp_path / "inner" / "up").symlink_to(tmp_path)
    reports = reports_on(*sorted(tmp_path.iterdir()), tmp_path / ("x" * 300 + ".ipynb"))
    assert [report.status for report in reports] == ["unreadable"] * 7
    assert {report.status for report in reports_on(tmp_path)} == {"unreadable"}


@contextmanager
def without_privilege():
    """As an ordinary user where the tests run as root, whom no permission stops."""
    if not hasattr(os, "geteuid"):
        pytest.skip("permissions are another matter here")
    privileged = os.geteuid() == 0
    if privileged:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if privileged:
            os.seteuid(0)


def test_a_folder_without_permission_does_not_stop_the_rest():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for place in ("closed", "open"):
            (folder / place).mkdir()
            (folder / place / "hw.ipynb").write_text(json.dumps(GOOD))
        (folder / "open" / "secret.ipynb").write_text(json.dumps(GOOD))
        (folder / "open" / "secret.ipynb").chmod(0), (folder / "closed").chmod(0), folder.chmod(0o755)
        with without_privilege():
            reports = list(check_all(take([folder, folder / "closed" / "hw.ipynb"], folder / "scratch").entries))
        (folder / "closed").chmod(0o700)
    said = {Path(report.name).name: report.findings[0].advice for report in reports if report.findings}
    assert [report.status for report in reports].count("pass") == 1
    assert set(said) == {"closed", "secret.ipynb", "hw.ipynb"}
    assert all("Permission denied" in advice for advice in said.values())


@pytest.mark.parametrize("command", [["convert"], ["render", "--engine", "builtin"], ["assign"]])
def test_a_place_that_cannot_be_written_is_named(save, command, capsys, monkeypatch):
    """The folder to write to is a file."""
    from checker.__main__ import main

    path = save(GOOD)
    monkeypatch.setattr("sys.argv", ["checker", *command, str(path), "-o", str(path / "out")])
    with pytest.raises(SystemExit) as left:
        main()
    said = capsys.readouterr().err
    assert left.value.code == 2 and "cannot be written" in said and str(path) in said
    assert json.loads(path.read_text()) == GOOD


def test_the_limits_on_size_are_said(save, monkeypatch):
    monkeypatch.setattr("checker.notebook.MAX_FILE_BYTES", 100)
    with pytest.raises(Unreadable, match="larger than"):
        read(save(GOOD))
    assert check(save("x" * 200, "hw.md")).status == "unreadable"
