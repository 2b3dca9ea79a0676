"""Each rule on a notebook that breaks it and on one that does not."""

import pytest

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


def append(text):
    def spoil(cells):
        cells[1]["source"] += "\n\n" + text

    return spoil


def add_code(text):
    def spoil(cells):
        cells[2]["source"] += "\n" + text

    return spoil


def add_print(text):
    def spoil(cells):
        cells[6]["outputs"].append({"output_type": "stream", "name": "stdout", "text": text})

    return spoil


HARMLESS = [
    append("Prices: $5 and $10, and `$$` in code. A formula $x_1$ and $$y = 2$$."),
    append("```\n$$ not a formula\n```"),
    append("```python\nx = 1\n`````"),  # more ticks than it was opened with
    append("[paper](https://arxiv.org/abs/2402.03300) and [below](#cell-8)"),
    add_code('!pip install "transformers>=4.40" torch'),
    add_code("x = 3 >= 2  # pip install is not called here"),
    add_print("accuracy 95% and 90%\n"),
    add_code('raise ValueError("NotImplementedError is another matter")'),
]


@pytest.mark.parametrize("change", HARMLESS)
def test_a_false_alarm_costs_trust(good, save, change):
    change(good["cells"])
    assert codes(save(good)) == []


def test_a_picture_whose_name_has_a_blank_is_there(good, save):
    """Catches the name taken as it is written in a link, `my%20curve.png`, and a picture that is not there passed over."""
    append("![curve](my%20curve.png)")(good["cells"])
    path = save(good)
    assert codes(path) == ["R004"]
    (path.parent / "my curve.png").write_bytes(b"")
    assert codes(path) == []


def test_many_outputs_are_large_together(good, save):
    """Catches a cell that prints three times what is just allowed."""
    for _ in range(3):
        add_print("x" * 900_000)(good["cells"])
    assert codes(save(good)) == ["H005"]
