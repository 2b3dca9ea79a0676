"""Whatever a file holds, it is read or refused with a sentence."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checker.checking.check import check
from checker.reading.notebook import Unreadable, read


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "empty"),
        ("   \n", "empty"),
        ("<!DOCTYPE html><html></html>", "web page"),
        ('{"cells": [', "not valid JSON (line 1)"),
        ('{\n<<<<<<< HEAD\n"cells": []\n=======\n}\n>>>>>>> theirs', "Line 2 is a merge-conflict marker"),
        ("[]", "not a notebook"),
        ("{}", "does not say which notebook format"),
        ('{"nbformat": 2, "worksheets": []}', "format 2"),
        ('{"nbformat": 4, "cells": {}}', "no list of cells"),
        ('{"nbformat": 4, "cells": [3]}', "What stands at place 1 of the file is not a cell but int"),
        ("[" * 100_000, "nested too deeply"),
        ("null", "not a notebook"),
    ],
)
def test_what_is_not_a_notebook_is_named(save, content, said):
    with pytest.raises(Unreadable) as raised:
        read(save(content))
    assert said in str(raised.value)


def test_wrong_encoding_and_missing_files(tmp_path):
    path = tmp_path / "latin.ipynb"
    path.write_bytes('{"cells": "é"}'.encode("latin-1"))
    with pytest.raises(Unreadable, match="not UTF-8"):
        read(path)
    with pytest.raises(Unreadable, match="cannot be opened: No such file"):
        read(tmp_path / "missing.ipynb")
    assert check(tmp_path / "missing.ipynb").status == "unreadable"


def test_format_3_is_upgraded_in_memory(save):
    old = {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {},
        "worksheets": [
            {
                "metadata": {},
                "cells": [
                    {"cell_type": "heading", "level": 1, "metadata": {}, "source": "Title"},
                    {
                        "cell_type": "code",
                        "language": "python",
                        "metadata": {},
                        "input": "x = 1",
                        "outputs": [],
                        "prompt_number": 2,
                    },
                ],
            }
        ],
    }
    path = save(old)
    before = path.read_bytes()
    cells = read(path).cells
    assert [cell.source for cell in cells] == ["# Title", "x = 1"] and cells[1].count == 2
    assert path.read_bytes() == before


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
cell_like = st.fixed_dictionaries(
    {},
    optional={
        "cell_type": st.sampled_from(["code", "markdown", "raw", "heading"]) | anything,
        "source": st.sampled_from(
            [
                "# Cell 4: x",
                "---\na: 1\n---",
                "---\nformat:\n  html: 3\n---",
                "!pip install a>=1",
                "$$ x",
                "```",
            ]
        )
        | anything,
        "execution_count": anything,
        "outputs": st.lists(
            st.fixed_dictionaries(
                {},
                optional={
                    "output_type": st.sampled_from(["stream", "error", "display_data"]) | anything,
                    "text": anything,
                    "traceback": anything,
                    "ename": anything,
                    "data": anything,
                },
            )
            | anything,
            max_size=3,
        )
        | anything,
    },
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(cell_like, max_size=5) | anything)
def test_no_json_brings_the_checker_down(tmp_path_factory, cells):
    path = tmp_path_factory.mktemp("fuzz") / "n.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "cells": cells}))
    assert check(path).status in ("pass", "fail", "unreadable")


def test_lone_surrogates_and_null_bytes_pass_through(save):
    path = save('{"nbformat": 4, "cells": [{"cell_type": "code", "source": "x = \'\\ud800\\u0000\'", "outputs": []}]}')
    check(path)
    read(path).cells[0].source.encode()


def test_many_cells_and_a_large_output(save):
    cells = [{"cell_type": "markdown", "source": "x"}] * 20_000
    cells.append(
        {
            "cell_type": "code",
            "source": "x",
            "execution_count": 1,
            "outputs": [{"output_type": "stream", "text": "y" * 5_000_000}],
        }
    )
    assert check(save({"nbformat": 4, "cells": cells})).status == "fail"
