"""The results of the exercises' checks reach the person who reads the report."""

import pytest

from checker.checking.check import check
from checker.outputs.check_results import asked, check_results
from checker.pages.rendering import render
from checker.points.rubric import evidence, load
from checker.reading.notebook import CHECK_RECORD, read

RIGHT = "✓ per-token KL: right on 2 probes.\n"
WRONG = "✗ GRPO loss: it returned None. Is the `return` missing?\n"
CALLS = "check.per_token_kl(per_token_kl)\ncheck.grpo_loss(grpo_loss)\n# check.get_reward(reward)"


def record(exercise: str, passed: bool, **more) -> dict:
    data = {CHECK_RECORD: {"version": 1, "exercise": exercise, "passed": passed, "cases": 3, "slips": []} | more}
    return {"output_type": "display_data", "metadata": {}, "data": data}


def with_checks(good: dict, printed: str = RIGHT + WRONG, source: str = CALLS) -> dict:
    good["cells"][5]["source"] += "\n" + source
    good["cells"][5]["outputs"][0]["text"] += printed
    return good


def findings(path) -> list[tuple[str, str]]:
    return [(finding.code, finding.found) for finding in check(path).findings]


def test_a_failed_check_fails_the_notebook(good, save):
    """Catches a notebook whose own outputs say ✗ and that passes without a word."""
    report = check(save(with_checks(good)))
    assert report.status == "fail" and (report.checks_passed, report.checks) == (1, 2)
    (finding,) = report.findings
    assert finding.code == "C001" and finding.place == "Cell 5: One GRPO step"
    assert finding.found == "✗ GRPO loss: it returned None. Is the `return` missing?"


def test_a_check_that_said_nothing_counts_as_asked(good, save):
    """Catches "1 of 1" where a second check was written and never ran."""
    notebook = read(save(with_checks(good, RIGHT)))
    assert len(check_results(notebook)) == 1 and asked(notebook) == 2


def test_the_record_counts_and_its_line_not_again(good, save):
    """Catches a check that is counted twice, once by its record and once by its line."""
    with_checks(good)["cells"][5]["outputs"] += [record("per-token KL", True), record("GRPO loss", False)]
    found = check_results(read(save(good)))
    assert [(v.exercise, v.passed) for v in found] == [("per-token KL", True), ("GRPO loss", False)]
    assert found[1].said.startswith("it returned None")


def test_a_record_outweighs_a_line_that_was_printed_by_hand(good, save):
    with_checks(good, "✓ GRPO loss: right on 3 probes.\n")["cells"][5]["outputs"] += [
        record("GRPO loss", False, slips=["wrong sign"])
    ]
    assert [v.passed for v in check_results(read(save(good)))] == [False]


@pytest.mark.parametrize("data", [3, "text", ["a"], {"exercise": 3, "passed": True}, {"exercise": "x"}, None])
def test_what_is_no_record_is_no_verdict(good, save, data):
    """Catches a traceback on what a student's code may write under the record's type."""
    output = {"output_type": "display_data", "metadata": {}, "data": {CHECK_RECORD: data}}
    with_checks(good, "")["cells"][5]["outputs"].append(output)
    assert check_results(read(save(good))) == []


def test_the_record_is_no_part_of_the_text_that_is_handed_in(good, save):
    before = check(save(with_checks(good, RIGHT))).characters
    good["cells"][5]["outputs"].append(record("per-token KL", True))
    assert check(save(good)).characters == before


def test_marks_that_no_check_printed_are_left_alone(good, save):
    """Catches ✗ in a table of one's own taken for a failed check."""
    good["cells"][5]["outputs"][0]["text"] += "✗ wrong: 3 of 8\n"
    assert findings(save(good)) == []


def test_what_is_open_is_no_failed_check(good, save):
    """Catches a ○ that is not counted, and one that is told as a wrong function."""
    path = save(with_checks(good, RIGHT + "○ GRPO loss: it is not filled in yet.\n"))
    assert [(result.passed, result.blank) for result in check_results(read(path))] == [(True, False), (False, True)]
    assert not [found for _, found in findings(path) if "GRPO loss" in found]


def test_a_result_is_shown_with_the_mark_that_was_printed(good, save):
    """Catches an exercise that is open shown as a wrong one, in the line that stands in the report."""
    lines = [RIGHT, WRONG, "○ reward: it is not filled in yet.\n"]
    notebook = read(save(with_checks(good, "".join(lines))))
    assert [result.line for result in check_results(notebook)] == [line.strip() for line in lines]


@pytest.mark.parametrize(
    ("passed", "slips", "said"),
    [
        (True, [], "right."),
        (False, [], "not right yet."),
        (False, ["wrong sign", 3], "not right yet: wrong sign, 3"),
        (False, [None, ["x"]], "not right yet."),
        (False, None, "not right yet."),
    ],
)
def test_a_record_without_a_line_is_told_in_words(good, save, passed, slips, said):
    """Catches "right." said of a wrong function whose line was deleted, and a list in the place of a sentence."""
    with_checks(good, "")["cells"][5]["outputs"].append(record("GRPO loss", passed, slips=slips))
    assert [(result.said, result.cell) for result in check_results(read(save(good)))] == [(said, 5)]


def test_a_stranger_s_words_are_cut(good, save):
    """Catches a report that is filled by what a notebook printed as the name, the slip or the line of a check."""
    with_checks(good, f"✗ short: {'so ' * 2_000}\n")
    good["cells"][5]["outputs"].append(record("GRPO " * 1_000, False, slips=["loss " * 1_000]))
    found = check_results(read(save(good)))
    assert len(found) == 2
    assert all(0 < len(result.exercise) <= 80 and 0 < len(result.said) <= 300 for result in found)


def test_a_name_as_long_as_a_line_may_have_it_is_one_exercise(good, save):
    """Catches a check that counts twice, since its record and its line cut the name in two ways."""
    name = "x" * 80
    with_checks(good, f"✗ {name}: it is wrong.\n")["cells"][5]["outputs"].append(record(name, False))
    assert [result.said for result in check_results(read(save(good)))] == ["it is wrong."]


def test_evidence_shows_every_verdict(good, save):
    """Catches evidence that quotes five lines, and of the checks only those that passed."""
    lines = [f"{'✗' if number == 3 else '✓'} exercise {number}: said so.\n" for number in range(8)]
    path = save(with_checks(good, "".join(lines)))
    step = next(criterion for criterion in load() if 5 in criterion.sections)
    found = next(evidence(step, read(path), check(path)))
    assert "checks 7 of 8" in found.text
    assert all(line.strip() in found.quote for line in lines)


JUDGED = "The hypothesis was wrong: the reward rose by a third."


def test_the_form_folds_texts_away(good, save, tmp_path):
    """Catches a form in which the score to be given is lost between pages of quoted text."""
    good["cells"][8]["source"] += f"\n\n{JUDGED}"
    page = render(save(good), tmp_path / "pages", "builtin").read_text(encoding="utf-8")
    form = page.split('id="grades"')[1]
    before, _, _ = form.partition(JUDGED)
    assert before.rpartition("<")[0].rstrip().endswith("</summary>")


def test_verdicts_that_were_displayed_one_after_the_other_are_told_apart(good, save):
    """Catches lines that run into each other, because what is displayed does not end in a line break."""
    for line in (RIGHT, WRONG):
        output = record(line[2:].split(":")[0], line.startswith("✓"))
        output["data"]["text/plain"] = line.strip()
        with_checks(good, "", "")["cells"][5]["outputs"].append(output)
    good["cells"][5]["source"] += "\n" + CALLS
    assert [verdict.line for verdict in check_results(read(save(good)))] == [RIGHT.strip(), WRONG.strip()]


ALIASES = {
    "another name": ("from shared import check as c", "c.loss(grpo_loss)"),
    "another name, among others": ("from shared import (\n    evaluate,\n    check as c,\n)", "c.loss(grpo_loss)"),
    "the module as": ("import shared.check as chk", "chk.loss(grpo_loss)"),
    "the whole name": ("import shared.check", "shared.check.grpo_loss(grpo_loss)"),
    "a further name": ("from shared import check\nc = check", "c.loss(grpo_loss)"),
    "one check alone": ("from shared.check import grpo_loss as loss_check", "loss_check(grpo_loss)"),
}


@pytest.mark.parametrize(("brought", "call"), ALIASES.values(), ids=ALIASES.keys())
def test_a_check_under_another_name_is_a_check(good, save, brought, call):
    """Catches "checks 0 of 0", and a function that ignores its arguments unseen, after `import ... as`."""
    good["cells"][2]["source"] += f"\n{brought}"
    source = f"def grpo_loss(logps, ratio):\n    return torch.tensor(0.1)\n{call}"
    path = save(with_checks(good, WRONG, source))
    notebook = read(path)
    assert asked(notebook) == 1 and [verdict.exercise for verdict in check_results(notebook)] == ["GRPO loss"]
    assert [c for c, _ in findings(path)] == ["C001", "C003"]


def test_a_check_in_a_cell_that_is_no_python_is_asked(good, save):
    """Catches "checks 0 of 0" where a bracket is missing in the cell that calls them."""
    good["cells"][2]["source"] += "\nfrom shared import check as c"
    assert asked(read(save(with_checks(good, "", "c.loss(grpo_loss)\nprint((")))) == 1
