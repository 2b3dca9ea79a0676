"""The evidence beside the criteria of the rubric."""

import copy
from types import SimpleNamespace

import pytest

from checker.checking.check import check
from checker.points.rubric import Criterion, Evidence, evidence, for_a_cell, load
from checker.reading.notebook import Unreadable, read
from tests.checker.conftest import code, markdown


@pytest.fixture
def found(good, save):
    """The evidence for sections and rules of the notebook `good`, changed before."""

    def find(sections=(), rules=()) -> list[Evidence]:
        path = save(good)
        return list(evidence(Criterion("C", tuple(sections), tuple(rules), {}), read(path), check(path)))

    return find


def test_a_rubric_is_read_whole(tmp_path):
    """Catches levels by their texts, and a criterion without sections that cannot be read."""
    file = tmp_path / "rubric.yml"
    file.write_text(
        "- {name: Form, levels: {'1': no, '5': all}}\n- {name: Run, sections: [4, 6], rules: [X001], levels: {3: so}}"
    )
    form, run = load(file)
    assert form == Criterion("Form", (), (), {1: False, 5: "all"}) and run == Criterion(
        "Run", (4, 6), ("X001",), {3: "so"}
    )
    for wrong in ("- {name: Form}", "- 3", "{", "- {name: F, levels: {x: y}}", "- {name: F, levels: [1]}"):
        file.write_text(wrong)
        with pytest.raises(Unreadable, match="is not a rubric"):
            load(file)
    with pytest.raises(Unreadable, match="is not a rubric"):
        load(tmp_path / "none.yml")


def test_of_text_the_words_are_counted_and_quoted_below_the_label(good, found):
    good["cells"][1]["source"] = "# Cell 1: Plan\nCount the dots."
    good["cells"].insert(2, markdown("And the stars."))
    assert found([1]) == [Evidence("Cell 1: 10 words", "cell-1", "Count the dots.\n\nAnd the stars.", written=True)]


def test_a_section_that_is_missing_is_told(good, found):
    del good["cells"][1]
    assert found([1]) == [Evidence("Cell 1 is missing", "", "", False)]


def test_of_cell_4_the_cases_are_evidence_and_of_cell_6_the_log(found):
    assert found([4, 6]) == [
        Evidence("Cell 4: 2 cases", "cell-4", "response ' 3' reward 1.0\nresponse ' 4' reward 0.0"),
        Evidence("Cell 6: 3 log lines", "cell-6", "\n".join(
            f"step {i} average reward 0.{i} average loss 0.01" for i in (1, 2, 3)
        )),
    ]  # fmt: skip


def test_of_other_cells_all_lines_are_counted_and_of_many_the_first_and_the_last_are_shown(good, found):
    """Catches a picture's own line counted as one, a line cut too early, and the last line lost."""
    long = "x" * 130
    good["cells"][3] = code(
        "# Cell 3: Data\nprint(rows)", "\n".join([long, *"bcdefg", "", "<Figure size 1x1>", "last"]) + "\n"
    )
    (lines,) = found([3])
    assert (lines.text, lines.quote) == ("Cell 3: 8 lines", "\n".join([long[:120], "b", "c", "d", "...", "last"]))
    good["cells"][3] = code("# Cell 3: Data\nprint(rows)", "a\nb\nc\nd\ne\n")
    assert found([3])[0].quote == "a\nb\nc\nd\ne"
    good["cells"][3] = code("# Cell 3: Data\nprint(rows)", "a\n")
    assert found([3])[0].text == "Cell 3: 1 line"


def test_of_cell_5_the_lines_of_the_step_are_shown(good, found):
    good["cells"][5] = code("# Cell 5: Step\nprint(loss)", "hello\nAdvantages (32,)\nthe Shape\nloss 0.1\nbye\n")
    assert found([5])[0] == Evidence("Cell 5: 5 lines", "cell-5", "Advantages (32,)\nthe Shape\nloss 0.1")


def test_checks_are_counted_and_all_of_them_shown(good, found):
    """Catches a verdict that is shown twice, one that is left out of many, and those of another section."""
    printed = "".join(f"✓ part {n}: right.\n" for n in range(7)) + "✗ whole: wrong.\nloss 1\n"
    picture = {"output_type": "display_data", "metadata": {}, "data": {"image/png": "aGVsbG8="}}
    good["cells"][5] = code("# Cell 5: Step\nfrom shared import check\ncheck.all(step)", printed)
    good["cells"][5]["outputs"].append(picture)
    good["cells"][6]["source"] += "\nfrom shared import check\ncheck.log(train)"
    good["cells"][6]["outputs"][0]["text"] += "✓ log: right.\n"
    (told,) = found([5])
    assert told.text == "Cell 5: 9 lines, 1 picture, checks 7 of 8"
    assert told.quote.splitlines() == [*[f"✓ part {n}: right." for n in range(7)], "✗ whole: wrong.", "loss 1"]
    assert found([6])[0].text == "Cell 6: 3 log lines, checks 1 of 1"


def test_rewards_and_findings_stand_where_they_were_found(good, found):
    """Catches questions before errors, a rule of another criterion, a rewards' place that is another section's."""
    assert found([7])[-1] == Evidence("Reward 0.250 before, 0.970 after", "cell-7")
    assert len(found([4])) == 1
    good["cells"].append(copy.deepcopy(good["cells"][3]) | {"execution_count": None, "outputs": []})
    told = found([], ["X001", "S999"])
    assert [(one.text.split(":")[0], one.anchor) for one in told] == [("X001 (error)", "cell-9")]
    assert found([], ["X003"]) == []


def test_errors_come_before_questions_and_what_is_in_no_cell_has_no_place(good, save):
    """Catches a question told first, and a link to a cell that there is not."""
    one = [SimpleNamespace(code=code, level=level, found="so", cell=cell) for code, level, cell in (
        ("M1", "question", 3), ("X1", "error", None), ("M2", "question", 4), ("X2", "error", 0),
    )]  # fmt: skip
    report = SimpleNamespace(baseline=None, tuned=None, findings=one)
    told = evidence(Criterion("C", (), ("M1", "M2", "X1", "X2"), {}), read(save(good)), report)
    assert [(one.text, one.anchor) for one in told] == [
        ("X1 (error): so", ""), ("X2 (error): so", "cell-0"), ("M1 (question): so", "cell-3"), ("M2 (question): so", "cell-4"),
    ]  # fmt: skip


def test_rewards_without_a_cell_7_have_no_place(good, found):
    good["cells"][7]["source"] = "compare()"
    assert found([7]) == [Evidence("Cell 7 is missing"), Evidence("Reward 0.250 before, 0.970 after", "")]


def test_a_section_without_text_a_header_and_a_section_of_two_cells(good, found):
    """Catches a header cut at its first line, outputs of two cells run together, and an indent that is lost."""
    assert found([0])[0].quote.startswith("---")
    good["cells"][1] = code("# Cell 1: Plan\npass")
    good["cells"].insert(4, code("more()", "  last\n"))
    good["cells"][3]["outputs"][0]["text"] = "first"
    empty, lines = found([1, 3])
    assert empty == Evidence("Cell 1: 0 words", "cell-1", "", written=True)
    assert lines == Evidence("Cell 3: 2 lines", "cell-3", "first\n  last")


def test_a_cell_of_a_table_is_its_text():
    assert [for_a_cell(value) for value in (None, 2, "a-b", "a; -b, =c")] == ["", "2", "a-b", "a; -b, =c"]


@pytest.mark.parametrize("parts", [";", "\t", "|", "\r\n"])
def test_no_part_of_a_cell_is_a_formula_either(parts):
    """Catches a formula behind a semicolon, with which a spreadsheet computes where commas are decimal."""
    assert for_a_cell(f"Ann{parts}=1+1;@B") == f"Ann{parts}'=1+1;'@B"
