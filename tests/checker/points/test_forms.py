"""The table of filled forms, the times at which they were saved, and the evidence beside the rubric's criteria."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from checker.checking.check import check
from checker.points.forms import Form, merged, read_forms, table
from checker.points.rubric import for_a_cell, load, with_evidence
from checker.reading.notebook import Unreadable, read


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


def of_page(moment: float, score: float | None, comment: str = "", question: str = "") -> Form:
    scores = {} if score is None else {"B": score}
    return Form("ann", "dots.ipynb", scores, "", moment, Path(), {"B": comment} if comment else {}, question)


@pytest.mark.parametrize(
    ("page", "question", "score", "comments"),
    [
        (of_page(5, 1, "old"), of_page(6, 2, "new", "B"), 2, {"B": "new"}),
        (of_page(5, 1, "old"), of_page(6, 2, "", "B"), 2, {}),
        (of_page(5, 1, "old"), of_page(5, 2, "new", "B"), 1, {"B": "old"}),
        (of_page(5, None), of_page(4, 2, "new", "B"), 2, {"B": "new"}),
        (of_page(5, 1), of_page(4, 2, "new", "B"), 1, {"B": "new"}),
        (of_page(5, 0), of_page(4, 2, "new", "B"), 0, {"B": "new"}),
    ],
)
def test_the_later_of_page_and_question_counts_and_what_a_page_leaves_empty_stays(page, question, score, comments):
    """Catches a comment of the draft that was replaced, one that is lost, and a tie that a question wins."""
    for forms in ([page, question], [question, page]):
        (one,) = merged(forms)
        assert (one.scores, one.comments, one.question) == ({"B": score}, comments, "")
        assert one.saved == max(page.saved, question.saved)


def test_a_question_alone_makes_the_form_of_the_page():
    """Catches a form that is taken for one question's again when it is read the next time."""
    assert [form.question for form in merged([of_page(4, 2, "", "B")])] == [""]


def test_every_form_of_a_folder_is_read_whatever_lies_between(tmp_path):
    """Catches the forms behind a damaged one, or behind the first one of a file, that nobody counts."""
    (tmp_path / "a.grades.json").write_text("{")
    (tmp_path / "b.grades.json").write_text('{"scores": {"A": NaN}}')
    moment = "2026-03-01T09:00:00+00:00"
    two = [{"student": name, "notebook": "x", "scores": {"A": 1}, "saved": moment} for name in ("eve", "bob")]
    (tmp_path / "c.grades (1).json").write_text(json.dumps({"forms": two}))
    (tmp_path / "d.grades.json").write_text('{"scores": {"A": null}}')
    forms, _, damaged = read_forms(tmp_path)
    assert [(form.student, form.notebook, form.total) for form in forms] == [
        ("", "d.grades.json", 0), ("bob", "x", 1), ("eve", "x", 1),
    ]  # fmt: skip
    assert len(damaged) == 2 and "a.grades.json" in damaged[0] and "the score of A is nan" in damaged[1]


@pytest.mark.parametrize("later", ["a", "b"])
def test_which_of_two_forms_counts_is_said(later, tmp_path):
    """Catches the earlier one named as the later one, whichever is read first."""
    for name in "ab":
        saved(tmp_path, name, f"2026-03-01T{9 + (name == later):02d}:00:00+00:00", 1)
    _, chosen, _ = read_forms(tmp_path)
    first, second = (tmp_path / f"{name}.grades.json" for name in (later, "ba"["ab".index(later)]))
    assert chosen == [f"{first} was saved after {second}, and counts."]


def test_a_folder_without_forms_is_told(tmp_path):
    with pytest.raises(Unreadable, match=rf"No filled forms \(\*\.grades\*\.json\) are in {tmp_path}\."):
        read_forms(tmp_path)


def test_the_table_has_a_line_for_each_form_and_a_column_for_each_criterion():
    """Catches a score that was not given shown as one, and comments run together."""
    full = Form("ann", "x", {"A": 1.5, "B": None}, "Good.", 0.0, Path(), {"A": "Why?"})
    other = Form("bob", "x", {"C": 2.0}, "", 0.0, Path())
    assert table([full, other]) == (
        "student,notebook,A,B,C,total,comment\nann,x,1.5,,,1.5,Good. A: Why?\nbob,x,,,2,2,\n"
    )


@pytest.mark.parametrize(
    ("marked", "unmarked", "read", "said"),
    [
        ({"class": "ours"}, False, 1, ""),
        ({"class": "theirs"}, True, 0, "was not saved on a page of this class"),
        ({}, False, 0, "was not saved on a page of this class"),
        ({}, True, 1, "bears no mark of this class"),
    ],
)
def test_a_form_without_the_secret_of_the_class_is_nobodys(marked, unmarked, read, said, tmp_path):
    """Catches points that a file among the downloads gives, and forms of an earlier version that are not taken over."""
    saved(tmp_path, "x", "2026-03-01T09:00:00+00:00", 1, **marked)
    forms, chosen, damaged = read_forms(tmp_path, "ours", unmarked)
    assert len(forms) == read and said in "".join([*chosen, *damaged]) and bool(said) == bool(chosen or damaged)


def test_a_form_of_the_day_after_tomorrow_is_refused(tmp_path):
    """Catches a form that no later one replaces, for it says that it was saved in 2030."""
    soon = datetime.now(UTC) + timedelta(hours=20)
    saved(tmp_path, "soon", soon.isoformat(), 1)
    saved(tmp_path, "far", (soon + timedelta(days=1)).isoformat(), 5)
    forms, _, (said,) = read_forms(tmp_path)
    assert [form.total for form in forms] == [1] and "still to come" in said
