"""Files that were made to do harm, or were harmed on the way: a sentence, never a traceback."""

import json
import random

import pytest

from checker.checking.check import check
from checker.checking.formats import as_json
from checker.pages.rendering import render
from checker.reading.convert import to_markdown
from checker.reading.notebook import Unreadable, read
from tests.checker.conftest import GOOD, HEADER, code, markdown
from tests.checker.hostile import everything, notebook_of, reports_on, showing, zip_of

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
    for changed in random.Random(0).sample(list(every_change(SMALL)), 30):
        everything(save(changed))


def test_bytes_that_were_changed_on_the_way(tmp_path):
    """Bits flip, downloads end early: whatever comes out is read or refused. Catches a refusal of all, and of none."""
    statuses = []
    path, original, dice = tmp_path / "n.ipynb", json.dumps(GOOD).encode(), random.Random(0)
    for _ in range(300):
        data = bytearray(original[: dice.randrange(len(original)) if dice.random() < 0.3 else None])
        for _ in range(dice.randrange(5) if data else 0):
            data[dice.randrange(len(data))] = dice.randrange(256)
        path.write_bytes(data)
        status = check(path).status
        assert data != original or status == "pass"
        statuses.append(status)
    assert statuses.count("pass") + statuses.count("fail") > 40 and statuses.count("unreadable") > 40


def test_a_damaged_zip_is_refused_and_not_raised(tmp_path):
    """zlib, zipfile and the decoding of names each raise errors of their own. Catches a refusal of every zip as well.

    One file of a zip that is damaged must not cost the other.
    """
    read = []
    original, dice = zip_of(tmp_path / "ok.zip", ["a.ipynb", "é/b.ipynb"]).read_bytes(), random.Random(0)
    path = tmp_path / "damaged.zip"
    for _ in range(150):
        data = bytearray(original)
        for _ in range(dice.randrange(1, 6)):
            data[dice.randrange(len(data))] = dice.randrange(256)
        path.write_bytes(data)
        read.append(sum(report.status == "pass" for report in reports_on(path)))
    assert read.count(1) > 30 and read.count(0) > 30


def test_the_limits_on_size_are_said(save, monkeypatch):
    monkeypatch.setattr("checker.reading.notebook.MAX_FILE_BYTES", 100)
    with pytest.raises(Unreadable, match="larger than"):
        read(save(GOOD))
    assert check(save("x" * 200, "hw.md")).status == "unreadable"
