"""A rule and the submission that it looks at, whatever the rule is about."""

import pytest

from checker.reading.notebook import notebook_of
from checker.rules.base import Question, Submission, rule
from tests.checker.conftest import code, markdown


def made_rule(*remarks):
    """A rule that has these remarks on every notebook."""

    @rule("Z001", "warning", why="So.", wrong="a", right="b")
    def always_speaks(submission):
        yield from remarks

    return always_speaks


@pytest.fixture
def submission(good) -> Submission:
    return Submission(notebook_of(good))


def test_a_rule_is_called_by_the_name_of_its_function():
    speaks = made_rule()
    assert speaks.name == "always speaks" and speaks.asks == ""
    assert (speaks.code, speaks.level, speaks.why, speaks.wrong, speaks.right) == ("Z001", "warning", "So.", "a", "b")


def test_a_finding_has_its_rules_code_and_the_cells_name(submission):
    (finding,) = made_rule((4, "it is so", "Do it.")).findings(submission)
    assert (finding.code, finding.level, finding.cell, finding.place) == (
        "Z001",
        "warning",
        4,
        "Cell 4: Reward function",
    )
    assert (finding.found, finding.advice) == ("it is so", "Do it.")


def test_a_question_of_a_rule_that_asserts_is_a_question(submission):
    found = made_rule((4, "it is so", ""), Question(5, "is it so?", "")).findings(submission)
    assert [finding.level for finding in found] == ["warning", "question"]


@pytest.mark.parametrize("number", [None, 9, 100])
def test_what_is_in_no_cell_has_no_place(submission, number):
    """Catches a traceback where a rule speaks of the whole notebook, or of a cell behind the last."""
    (finding,) = made_rule((number, "it is so", "Do it.")).findings(submission)
    assert (finding.cell, finding.place) == (number, "")


def test_so_many_findings_are_told_and_one_more_that_says_so(submission):
    """Catches a rule that fills the screen, and one that stops without a word."""
    for count in (20, 21, 30):
        found = list(made_rule(*[(4, f"it is so {n}", "Do it.") for n in range(count)]).findings(submission))
        assert len(found) == min(count, 21)
        assert (found[19].found, found[19].advice) == ("it is so 19", "Do it.")
        if count > 20:
            assert found[20].found == "there are more places like these" and found[20].advice == "Begin with these."
            assert found[20].place == "Cell 4: Reward function"


def test_what_a_student_wrote_cannot_rewrite_the_terminal(submission):
    """Catches a finding that begins a line of its own, and advice with a control character."""
    (finding,) = made_rule((4, "it\nis\x1b[2Kso", "Do\nit\x1b[2K.")).findings(submission)
    assert (
        finding.found == "it is\N{REPLACEMENT CHARACTER}[2Kso"
        and finding.advice == "Do\nit\N{REPLACEMENT CHARACTER}[2K."
    )


def test_a_place_is_one_line(good):
    good["cells"].insert(5, code("x = 'a\x1bb'", count=3))
    assert Submission(notebook_of(good)).place(5) == "\"x = 'a\N{REPLACEMENT CHARACTER}b'\" in Cell 4: Reward function"


def test_the_output_of_a_section_is_that_of_all_its_cells(good):
    """Catches a table in a further cell that is not read, and lines of two cells that run into each other."""
    good["cells"][4]["outputs"][0]["text"] = "\x1b[31mred\x1b[0m"
    good["cells"].insert(5, code("print(2)", "two\n", 3))
    submission = Submission(notebook_of(good))
    assert submission.output_of(4) == "red\ntwo\n" and submission.output_of(9) == ""


def test_the_text_that_is_handed_in_has_every_section(good):
    """Catches sections that are glued together, and outputs that are cut at another length than was asked for."""
    good["cells"].append(markdown("The end."))
    good["cells"][4]["outputs"][0]["text"] = "z" * 500 + "\n"
    text = Submission(notebook_of(good)).markdown
    assert text.endswith("\nThe end.\n") and "z" * 500 in text
    assert "z" * 500 not in Submission(notebook_of(good), max_output=100).markdown
    assert len(text) == sum(len(section.text) + 1 for section in Submission(notebook_of(good)).converted) - 1


def test_the_rewards_and_the_claim_are_those_of_the_outputs(submission, good):
    assert submission.rewards == (0.25, 0.97) and submission.claim == "learns" and submission.shows_its_claim
    good["cells"][7]["outputs"] = []
    assert not Submission(notebook_of(good)).shows_its_claim


def test_the_code_and_the_checks_are_those_of_the_notebook(good):
    good["cells"][5]["source"] += "\nx = f(3)\ncheck.grpo_loss(loss)"
    good["cells"][5]["outputs"][0]["text"] += "✓ GRPO loss: right on 3 probes.\n"
    submission = Submission(notebook_of(good))
    assert [cell for cell, _ in submission.code.calls("f")] == [5]
    assert [result.exercise for result in submission.check_results] == ["GRPO loss"]
