"""The table of filled forms, the times at which they were saved, and the evidence beside the rubric's criteria."""

import csv
import io
import json
from pathlib import Path

import pytest

from checker.checking.check import check
from checker.points.forms import Form, merged, read_forms, table
from checker.points.rubric import for_a_cell, load, with_evidence
from checker.reading.notebook import read


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)"])
def test_no_text_of_a_form_is_a_formula(text):
    """Catches a comment, or a name, with which a spreadsheet computes, or calls an address."""
    assert for_a_cell(text) == f"'{text}"
    row = list(csv.reader(io.StringIO(table([Form(text, text, {"A": 1.0}, text, 0.0, Path())]))))[1]
    assert [cell for cell in row if cell.endswith(text)] == [f"'{text}"] * 3


def saved(folder, name, moment, score, **more):
    form = {"student": "ann", "notebook": "dots.ipynb", "scores": {"A": score}, "saved": moment} | more
    (folder / f"{name}.grades.json").write_text(json.dumps(form))


def test_the_later_form_is_later_whatever_its_clock_showed(tmp_path):
    """Catches two clocks compared by what they show: nine in Tokyo is before three in Berlin."""
    saved(tmp_path, "tokyo", "2026-03-01T09:00:00+09:00", 1)
    saved(tmp_path, "berlin", "2026-03-01T03:00:00+01:00", 2)
    (form,), _, _ = read_forms(tmp_path)
    assert form.scores == {"A": 2.0}


def test_pictures_are_counted_as_evidence(good, save):
    """Catches a plot that the person who gives points does not hear of."""
    picture = {
        "output_type": "display_data",
        "metadata": {},
        "data": {"image/png": "aGVsbG8=", "text/plain": "<Figure>"},
    }
    good["cells"][6]["outputs"] += [picture, picture]
    path = save(good)
    found = with_evidence(load(), read(path), check(path))
    assert any("2 pictures" in one.text for _, evidence in found for one in evidence)


def test_a_form_of_a_page_and_one_of_a_question_both_count(tmp_path):
    """Catches the points of a whole page lost to the form of one question, saved later."""
    saved(tmp_path, "page", "2026-03-01T09:00:00+00:00", 1)
    saved(tmp_path, "question", "2026-03-01T10:00:00+00:00", 2, scores={"B": 2}, question="B")
    forms, chosen, _ = read_forms(tmp_path)
    assert [form.question for form in forms] == ["", "B"] and not chosen
    assert merged(forms)[0].scores == {"A": 1.0, "B": 2.0}
