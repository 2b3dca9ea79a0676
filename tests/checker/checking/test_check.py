"""The report on one file: its figures, its verdict, and what is said where it cannot be read."""

import pytest

from checker.checking.check import check
from checker.rules.base import rule
from tests.checker.conftest import code

UNREAD = {"baseline": None, "fine_tuned": None, "checks_passed": 0, "checks": 0, "sections_present": 0}
UNREAD |= {"outputs_cut": 0, "characters_cut": 0, "limit": 40_000, "shows_its_claim": False}


def test_the_report_of_a_notebook_has_every_figure(good, save):
    """Catches a key that a program asks for and that is gone."""
    good["cells"].insert(6, code("check.per_token_kl(1)\ncheck.loss(2)", "\u2713 per-token KL: right.\n"))
    good["cells"][7]["outputs"][0]["text"] += "z" * 5000
    report = check(save(good), name="a\nb")
    told = report.as_dict()
    assert told.pop("findings") == [finding.as_dict() for finding in report.findings]
    characters, cut = told.pop("characters"), told.pop("characters_cut")
    assert 1000 < characters < 5000 < characters + cut
    assert told == {
        "name": "a b",
        "status": "fail",
        "limit": 40_000,
        "sections_present": 9,
        "baseline": 0.25,
        "fine_tuned": 0.97,
        "checks_passed": 1,
        "checks": 2,
        "outputs_cut": 1,
        "claim": "learns",
        "shows_its_claim": True,
    }
    figures = [f"{characters:,} of 40,000 characters", "9 of 9 cells", "checks 1 of 2", "reward 0.250 to 0.970"]
    assert report.facts == figures
    assert report.where_they_went == ()


@pytest.mark.parametrize("name", ["hw.md", "HW.MD", "hw.txt"])
def test_of_a_converted_text_the_characters_alone_are_told(name, save):
    """Catches capitals of Windows that make a notebook of a text, and line ends of Windows that count twice."""
    path = save("", name)
    path.write_bytes(b"\xef\xbb\xbf" + b"x\r\n" * 20_000)
    told = check(path, name="given").as_dict()
    read = {"name": "given", "status": "pass", "characters": 40_000, "claim": "learns", "findings": []}
    assert told == UNREAD | read
    path.write_bytes(b"x" * 40_001)
    report = check(path, name="given")
    assert (report.status, report.name, report.characters) == ("fail", "given", 40_001)
    assert [(finding.code, finding.found) for finding in report.findings] == [
        ("L001", "40,001 characters of 40,000, 1 too many")
    ]


def test_a_file_that_cannot_be_read_has_one_finding_that_says_why(save):
    report = check(save(b"\xff".decode("latin-1"), "x.ipynb"), name="a\nb")
    (finding,) = report.as_dict().pop("findings")
    assert (report.name, report.status, report.facts) == ("a b", "unreadable", [])
    assert finding["code"] == "U001" and "cannot be read" in finding["found"] and "JSON" in finding["advice"]
    read = {"name": "a b", "status": "unreadable", "characters": 0, "claim": "learns", "findings": [finding]}
    assert report.as_dict() == UNREAD | read


def test_where_the_characters_went_is_told_where_there_are_too_many(good, save):
    good["cells"][5]["source"] += "\n# " + "x" * 40_000
    report = check(save(good))
    assert report.status == "fail" and any("Cell 5" in bar for bar in report.where_they_went)


def test_a_rule_that_stumbles_says_so_and_the_others_speak(good, save):
    """Catches a course's own rule that takes the whole report with it, or fails a notebook that is right."""

    @rule("Z001", "error", why="Own.", wrong="x", right="y")
    def stumbles(submission):
        yield 1 / 0

    @rule("Z002", "warning", why="Own.", wrong="x", right="y")
    def speaks(submission):
        yield None, "it spoke", "Listen."

    report = check(save(good), rules=[stumbles, speaks])
    first, second = report.findings
    assert report.status == "pass" and (first.code, first.level, first.cell) == ("Z001", "note", None)
    assert "ZeroDivisionError: division by zero" in first.found and first.advice.startswith("Tell")
    assert second.found == "it spoke"
    assert [finding.code for finding in check(save(good), rules=[stumbles, speaks], ignore=["Z001"]).findings] == [
        "Z002"
    ]


def test_the_claim_of_the_header_is_in_the_report(good, save):
    """Catches a notebook that measures, reported as one that does not learn."""
    header = good["cells"][0]
    header["source"] = header["source"].replace("jupyter:", "course:\n  claim: measures\njupyter:")
    report = check(save(good))
    assert (report.claim, report.shows_its_claim) == ("measures", False)
