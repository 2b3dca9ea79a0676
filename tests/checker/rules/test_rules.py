"""Each rule on a notebook that breaks it and on one that does not."""

from checker.checking.check import check
from checker.rules import RULES


def codes(path, **options) -> list[str]:
    return [finding.code for finding in check(path, **options).findings]


def test_a_good_notebook_has_no_finding(good, save):
    report = check(save(good))
    assert report.status == "pass" and report.findings == ()
    assert (report.baseline, report.tuned, report.sections_present) == (0.25, 0.97, 9)


def test_every_rule_has_its_own_code_and_explains_itself():
    assert len({rule.code for rule in RULES}) == len(RULES)
    assert all(rule.why and rule.wrong and rule.right for rule in RULES)


def test_a_picture_whose_name_has_a_blank_is_there(good, save):
    """Catches the name taken as it is written in a link, `my%20curve.png`, and a picture that is not there passed over."""
    good["cells"][1]["source"] += "\n\n![curve](my%20curve.png)"
    path = save(good)
    assert codes(path) == ["R004"]
    (path.parent / "my curve.png").write_bytes(b"")
    assert codes(path) == []


def test_many_outputs_are_large_together(good, save):
    """Catches a cell that prints three times what is just allowed."""
    for _ in range(3):
        shown = {"output_type": "stream", "name": "stdout", "text": "x" * 900_000}
        good["cells"][6]["outputs"].append(shown)
    assert codes(save(good)) == ["H005"]
