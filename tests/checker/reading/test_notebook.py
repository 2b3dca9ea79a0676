"""Whatever a file holds, it is read or refused with a sentence."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checker.checking.check import check
from checker.reading import notebook
from checker.reading.notebook import CHECK_RECORD, MAX_TEXT, Cell, Notebook, Output, Unreadable, notebook_of, read


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "empty"),
        ("   \n", "empty"),
        ("<!DOCTYPE html><html></html>", "web page"),
        ('{"cells": [', "not valid JSON (line 1)"),
        ('{\n<<<<<<< HEAD\n"cells": []\n=======\n}\n>>>>>>> theirs', "Line 2 is a merge-conflict marker"),
        ("[]", "not a notebook"),
        ('{"name": "package"}', "The file is JSON, but not a notebook"),
        ('{"cells": []}', "The file does not say which notebook format it has; expected"),
        ('{"nbformat": 5, "cells": []}', "The file says it has format 5; expected"),
        ('{"nbformat": 2, "worksheets": []}', "format 2"),
        ('{"nbformat": 4}', "The file says it has format 4 and has no list of cells; expected"),
        ('{"worksheets": []}', "The file does not say which notebook format it has and has no list of cells; expected"),
        ('{"nbformat": 4, "cells": {}}', "no list of cells"),
        ('{"nbformat": 4, "cells": [3]}', "What stands at place 1 of the file is not a cell but int"),
        ("[" * 100_000, "nested too deeply"),
        ("null", "not a notebook"),
        ("\n <html>", "web page"),
        ('{"a":\n>>>>>>> theirs, a branch', "Line 2 is a merge-conflict marker (>>>>>>> theirs, a br...)"),
        ("9" * 5_000, "The file is not valid JSON: "),
        ('{"nbformat": 3, "worksheets": []}', "expected a notebook of format 4. Open it in Jupyter and save it again."),
        (" " * 200 + '{"nbformat": 4, "cells": []', "not valid JSON (line 1)"),
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
    with pytest.raises(Unreadable, match="There is no such file"):
        read(tmp_path / "missing.ipynb")
    assert check(tmp_path / "missing.ipynb").status == "unreadable"


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


def cell(number=0, kind="code", source="x", **parts) -> Cell:
    """The record of a cell of a notebook that holds it alone."""
    found = notebook_of({"cells": [{"cell_type": kind, "source": source} | parts]}).cells[0]
    assert found.number == number
    return found


def output(**parts) -> Output:
    return cell(outputs=[parts]).outputs[0]


def test_a_program_a_folder_and_a_device_are_no_notebooks(tmp_path):
    """Catches a pipe that is read for ever, and an error of Python's in the place of a sentence."""
    program = tmp_path / "Notebook.PY"
    program.write_text("{}")
    for path, said in (
        (program, "This is a Python program"),
        (tmp_path, "This is a folder. Give the notebook in it."),
        (Path("/dev/null"), "This is a device or a pipe"),
    ):
        with pytest.raises(Unreadable, match=said):
            read(path)


def test_a_notebook_that_a_browser_renamed_is_checked_as_one(save):
    """Catches a notebook of which only the length is checked."""
    empty = {"nbformat": 4, "cells": []}
    assert check(save(empty, "n.ipynb.txt")).status == "fail" and check(save(empty, "n.txt")).status == "pass"


def test_a_file_of_the_limit_is_read_and_one_byte_more_is_not(tmp_path, monkeypatch):
    """Catches a large notebook that is refused a byte too early, and a sentence that names another limit."""
    monkeypatch.setattr(notebook, "MAX_FILE_BYTES", 3_000_000)
    path = tmp_path / "n.ipynb"
    path.write_bytes(b" " * 3_000_000)
    assert len(notebook.read_bytes(path)) == 3_000_000
    path.write_bytes(b" " * 3_000_001)
    with pytest.raises(Unreadable, match="The file is larger than 3 MB. Clear"):
        notebook.read_bytes(path)
    with pytest.raises(Unreadable, match="^The file cannot be opened: Not a directory[.]$"):
        notebook.read_bytes(path / "in_a_file.ipynb")


@pytest.mark.parametrize(
    ("metadata", "language"),
    [
        ({"kernelspec": {"language": "julia"}}, "julia"),
        ({"language_info": {"name": "Julia"}}, "Julia"),
        ({"kernelspec": {"name": "julia-1.10", "display_name": "Julia 1.10"}}, "Julia"),
        ({"kernelspec": {"name": "ir", "display_name": "R"}}, "R"),
        ({"kernelspec": {"name": "xr", "display_name": "R (xeus)"}}, "R"),
    ],
)
def test_another_language_is_refused_by_name(save, metadata, language):
    """Catches a notebook in another language that is graded as if it were empty."""
    with pytest.raises(Unreadable, match=f"says that it is written in {language}, and this course's are in Python"):
        read(save({"nbformat": 4, "cells": [], "metadata": metadata}))


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        3,
        {},
        {"kernelspec": 3},
        {"kernelspec": {"name": "irene"}},
        {"kernelspec": {"language": ""}, "language_info": {"name": "IPython"}},
    ],
)
def test_python_and_what_names_no_language_are_read(save, metadata):
    path = save({"nbformat": 4, "cells": [], "metadata": metadata})
    assert read(path) == Notebook(path, ())


def test_a_cell_has_the_types_that_its_record_claims():
    """Catches a count of True, the outputs of a cell of text, and a kind that nobody knows taken for code."""
    assert cell(execution_count=3, outputs=[]) == Cell(0, "code", "x", 3)
    assert cell(execution_count=True, outputs=[]).count is None
    assert cell(kind="markdown", outputs=[{"output_type": "stream", "text": "x"}]) == Cell(0, "markdown", "x")
    assert cell(kind="heading").kind == "raw" and cell(kind=3).flaw == "its cell_type is 3"
    assert cell(outputs=[]).is_code and not cell(kind="markdown").is_code
    assert cell(source=["a\r\n", 3, "b\ud800"]).source == "a\nb?" and cell(source=None).source == ""
    plain = Cell(0, "code", "x")
    assert (plain.count, plain.outputs, plain.flaw, plain.attachments) == (None, (), "", {})
    assert (Output("stream").text, Output("stream").data) == ("", {})
    assert hash(Cell(0, "raw", "", attachments={"a": "b"})) == hash(Cell(0, "raw", "")), "cells are told apart without"


@pytest.mark.parametrize(
    ("content", "flaw"),
    [
        ({"kind": "raw"}, ""),
        ({"kind": "markdown", "source": ["a", "b"]}, ""),
        ({"kind": "markdown", "source": ["a", 3]}, "its source is not text"),
        ({"kind": "markdown", "source": 3}, "its source is not text"),
        ({}, "it has no list of outputs"),
        ({"outputs": [{"output_type": "display_data"}, {"output_type": "pyout"}]}, "one of its outputs is of no known type"),
        ({"outputs": [3]}, "one of its outputs is of no known type"),
        ({"kind": "markdown", "outputs": [3]}, ""),
        ({"outputs": [{"output_type": t} for t in ("stream", "display_data", "execute_result", "error")]}, ""),
    ],
)  # fmt: skip
def test_a_flaw_is_named(content, flaw):
    """Catches a cell that Jupyter cannot show and that passes, or one that it can and that does not."""
    assert cell(**content).flaw == flaw


def test_each_kind_of_output_is_read():
    """Catches a stream read as a result, a traceback without its lines, and the record of a check that is lost."""
    assert cell(outputs=[3]).outputs == (Output("result"),) and output() == Output("result")
    assert output(output_type="stream", text=["a\n", "b"]) == Output("stream", "a\nb")
    assert output(output_type="error", traceback=["one", 3, "two"]) == Output("error", "one\ntwo")
    for traceback in (None, 3, []):
        raised = output(output_type="error", traceback=traceback, ename="ValueError", evalue="no")
        assert raised == Output("error", "ValueError: no", error="ValueError: no")
    shown = output(output_type="display_data", data={"text/plain": ["a", "b"], "image/png": "c", "x": {"y": 1}})
    assert shown == Output("result", "ab", {"text/plain": "ab", "image/png": "c", "x": ""})
    assert output(data={"image/png": "c"}).text == ""
    record = output(data={CHECK_RECORD: {"name": "kl"}}).data
    assert record == {"application/vnd.tiny-grpo.check+json": '{"name": "kl"}'}
    assert output(data={CHECK_RECORD: "text"}).data == {CHECK_RECORD: "text"}


def test_the_richest_form_of_an_output_is_told():
    """Catches a picture that is taken for its text, and a size that leaves it out."""
    for rich in ("image/png", "text/html", "application/json", "video/mp4", "audio/wav"):
        assert Output("result", data={"text/plain": "a", rich: "b", "image/svg+xml": "c"}).mime == rich
    assert Output("result", data={"text/plain": "a", "text/x": "b"}).mime == "text/plain"
    assert Output("stream", "text").mime == ""
    assert Output("result", data={"text/plain": "", "image/png": ""}).image
    assert not Output("result", data={"text/html": "image/"}).image
    assert Output("result", "abc", {"a": "de", "b": "fg"}).size == 4 and Output("stream", "abc").size == 3


def test_what_a_cell_prints_is_its_outputs_one_after_the_other():
    """Catches two results run together in one line, a line that a stream has not ended, and an output without end."""
    outputs = (
        Output("stream", "a"),
        Output("stream", "b"),
        Output("result", "c"),
        Output("error", "d\n"),
        Output("result"),
    )
    assert Cell(0, "code", "x", outputs=outputs).text_output == "abc\nd\n"
    assert MAX_TEXT == 200_000 and len(notebook.printed(Output("stream", "x" * 300_000))) == 200_000


def test_pictures_alone_are_attached():
    """Catches an address that runs something, and a picture whose lines were not joined."""
    attached = {
        "a.png": {"image/png": ["aB0+\n", "/9=="]},
        "b.svg": {"image/svg+xml": "YQ=="},
        "c": {"text/html": "YQ=="},
        "d": {"image/png": "<script>"},
        "e": {"image/png": ""},
        "f": 3,
    }
    assert cell(attachments=attached).attachments == {
        "a.png": "data:image/png;base64,aB0+/9==",
        "b.svg": "data:image/svg+xml;base64,YQ==",
    }
    assert cell(attachments=3).attachments == {}


def test_a_notebook_is_written_as_jupyter_writes_it():
    """Catches a file that differs in every line from the one that Jupyter saves."""
    content = {"nbformat": 4, "cells": [{"source": "a\nb", "cell_type": "markdown"}], "metadata": {"é": 1}}
    assert notebook.dump(content) == (
        '{\n "cells": [\n  {\n   "cell_type": "markdown",\n   "source": [\n    "a\\n",\n    "b"\n   ]\n  }\n ],\n'
        ' "metadata": {\n  "é": 1\n },\n "nbformat": 4\n}\n'
    )
