"""Findings in order, those that are alike together."""

from checker.grading.table.overview import row
from checker.rules.findings import Finding, alike, further_places, sentence


def finding(code: str, level: str, place: str = "") -> Finding:
    return Finding(code, level, 1, "it is so", "Do it.", place)


def test_the_gravest_stand_first_and_questions_last():
    """Catches a guess above an error, and notes above warnings."""
    levels = ["question", "note", "warning", "error"]
    groups = alike(finding(f"A{n}", level) for n, level in enumerate(levels))
    assert [group[0].level for group in groups] == levels[::-1]


def test_those_of_one_level_and_code_stand_together():
    """Catches an assertion and a question of one rule that are told as one."""
    asserted, asked = finding("M003", "warning"), finding("M003", "question")
    other = finding("H001", "warning")
    assert alike([asked, asserted, other, asserted]) == [[asserted, asserted], [other], [asked]]


def test_further_places_are_named_once_and_without_the_first():
    """Catches "and in Cell 4" of a finding that is in Cell 4 already."""
    places = ["Cell 4", "Cell 5", "Cell 4", "Cell 6", "Cell 5"]
    assert further_places([finding("A", "note", place) for place in places]) == ["Cell 5", "Cell 6"]


def test_a_finding_as_a_dict_has_all_that_it_says():
    assert finding("A1", "note", "Cell 4").as_dict() == {
        "code": "A1",
        "level": "note",
        "cell": 1,
        "found": "it is so",
        "advice": "Do it.",
        "place": "Cell 4",
    }
    assert Finding("A1", "note", None, "it is so", "Do it.").place == ""


def test_a_finding_is_a_sentence():
    assert finding("A1", "note").sentence == sentence("it is so") == "it is so."
    assert sentence("it needs it.") == "it needs it." and sentence("is it so?") == "is it so?"


def test_errors_and_warnings_are_counted_and_nothing_else():
    """Catches a guess or a note that makes a student's number of findings larger, and an error that does not."""
    counts = {}
    for level in ("error", "warning", "note", "question"):
        result = {"notebook": "a.ipynb", "ungraded": "", "findings": [finding("A1", level).as_dict()] * 3}
        counts[level] = row("ann", "", result, [], "").findings
    assert counts == {"error": 3, "warning": 3, "note": 0, "question": 0}
