"""The submission Markdown is what the limit counts."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checker.checking.check import check
from checker.reading.convert import LIMIT, plain, sections, to_markdown
from checker.reading.notebook import CHECK_RECORD, read
from tests.checker.conftest import code, markdown


def converted(save, cells, **options) -> str:
    return to_markdown(read(save({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})), **options)


def test_a_code_cell_is_its_number_its_source_and_its_output(save):
    text = converted(save, [markdown("# Title"), code("x = 1\nx", "1\n", count=3)])
    assert text == "# Title\n\nIn [3]:\n\n```python\nx = 1\nx\n```\n\n```text\n1\n```\n"


def test_outputs_are_cut_and_the_cut_is_said(save):
    text = converted(save, [code("print()", "a" * 2500)])
    assert "a" * 1000 in text and "a" * 1001 not in text
    assert "(1,501 more characters)" in text


def test_the_length_that_was_asked_for_is_the_length(save):
    """Catches --max-output that is taken for the text and not for the count of what is left out."""
    text = converted(save, [code("print()", "a" * 500)], max_output=20)
    assert "a" * 20 in text and "a" * 21 not in text and "(481 more characters)" in text


def test_a_picture_is_one_short_line(save):
    cell = code("plot()")
    cell["outputs"] = [
        {
            "output_type": "display_data",
            "metadata": {},
            "data": {"image/png": "A" * 50_000, "text/plain": "<Figure>"},
        }
    ]
    text = converted(save, [cell])
    assert "[image/png]" in text and len(text) < 100


def test_the_record_of_a_check_does_not_count(save):
    """Catches a verdict whose record, which no person reads, takes characters from the limit."""
    line = "✓ per-token KL: right in all 125 cases."
    record = {"version": 1, "exercise": "per-token KL", "passed": True, "cases": 125, "slips": ["x" * 5_000]}

    def with_verdict(data: dict) -> dict:
        cell = code("check.per_token_kl(per_token_kl)")
        cell["outputs"] = [{"output_type": "display_data", "metadata": {}, "data": data}]
        return cell

    plain_line = converted(save, [with_verdict({"text/plain": line})])
    recorded = converted(
        save, [with_verdict({"text/plain": line, "text/html": f"<b>{line}</b>", CHECK_RECORD: record})]
    )
    assert line in plain_line and recorded == plain_line
    alone = converted(save, [with_verdict({CHECK_RECORD: record})])
    assert alone == converted(save, [code("check.per_token_kl(per_token_kl)")])


def test_fences_inside_do_not_end_the_block(save):
    text = converted(save, [code('print("```")', "```\n")])
    assert "````python" in text and "````text" in text


def test_every_character_is_where_it_belongs(save):
    """Catches a fence that is longer than it has to be, a blank that is lost, and a number that no cell has."""
    never_run = code("s = '```X'  \nX", "  a\n", count=None)
    never_run["outputs"].append({"output_type": "stream", "name": "stdout", "text": "b"})
    assert converted(save, [never_run]) == "In [ ]:\n\n````python\ns = '```X'  \nX\n````\n\n```text\n  a\nb\n```\n"
    assert converted(save, [code("`", "`` c d\n")], max_output=5) == (
        "In [1]:\n\n```python\n`\n```\n\n```text\n`` c\n... (2 more characters)\n```\n"
    )
    assert "text\n  a\n..." in converted(save, [code("x", "  a      b\n")], max_output=5)
    assert "python\nx  \n```" in converted(save, [code("x  \n")])


@pytest.mark.parametrize(
    ("data", "shown"),
    [({"text/html": "<b>"}, "[text/html]\n"), ({"text/plain": " "}, ""), ({}, ""), ({"text/plain": "a"}, "a\n")],
)
def test_rich_output_is_named_and_nothing_is_nothing(save, data, shown):
    cell = code("x")
    cell["outputs"] = [{"output_type": "display_data", "metadata": {}, "data": data}]
    body = f"\n```text\n{shown}```\n" if shown else ""
    assert converted(save, [cell]) == f"In [1]:\n\n```python\nx\n```\n{body}"


def test_colours_and_redrawn_lines_are_gone():
    assert plain("\x1b[31mred\x1b[0m") == "red"
    assert plain(" 10%\r 50%\r100%\ndone") == "100%\ndone"
    assert plain("a\r10 of 20\nb\r20 of 20") == "10 of 20\n20 of 20"


@pytest.mark.parametrize(
    ("printed", "shown"),
    [("50%\r100%\r\ndone\r", "100%\ndone"), ("one\r\ntwo\r\n", "one\ntwo\n"), ("10%\r", "10%"), ("\r", "")],
)
def test_a_line_that_ends_in_a_return_is_not_lost(printed, shown):
    """Catches a bar whose last state is gone since the cursor went back behind it, and one that keeps all its states."""
    assert plain(printed) == shown


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_the_limit_is_what_may_be_handed_in_and_a_line_end_is_one_character(save, line_end):
    """Catches 40,000 characters that are refused, and a notebook from Windows whose line ends count twice."""
    lines = [markdown("x" * 99 + line_end) for _ in range(LIMIT // 101)]
    room = LIMIT - len(converted(save, [*lines, markdown("")]))
    for more, codes in ((0, ["L002"]), (1, ["L001"])):
        report = check(save({"nbformat": 4, "metadata": {}, "cells": [*lines, markdown("y" * (room + more))]}))
        assert report.characters == LIMIT + more
        assert [finding.code for finding in report.findings if finding.code.startswith("L")] == codes


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_so_it_is_for_what_was_converted_already(tmp_path, line_end):
    """Catches 40,000 characters that are refused, and a text from Windows whose line ends count twice."""
    path = tmp_path / "handed-in.md"
    path.write_bytes((("x" * 99 + line_end) * (LIMIT // 100)).encode())
    report = check(path)
    assert (report.status, report.characters) == ("pass", LIMIT)
    path.write_bytes(path.read_bytes() + b"y")
    assert check(path).status == "fail"


def test_source_given_as_lines_is_joined(save):
    cell = code("")
    cell["source"] = ["a = 1\n", "b = 2"]
    assert "a = 1\nb = 2\n" in converted(save, [cell])


@settings(max_examples=30)
@given(st.lists(st.tuples(st.booleans(), st.text(), st.text()), max_size=5))
def test_it_is_deterministic_and_loses_no_source(tmp_path_factory, cells):
    content = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {},
        "cells": [code(s, o) if is_code else markdown(s) for is_code, s, o in cells],
    }
    path = tmp_path_factory.getbasetemp() / "converted.ipynb"
    path.write_text(json.dumps(content))
    notebook = read(path)
    assert to_markdown(notebook) == to_markdown(read(path)) == "\n".join(s.text for s in sections(notebook))
    for cell in notebook.cells:
        assert cell.source.rstrip("\n") in to_markdown(notebook)
