"""Each rule on a notebook that breaks it and on one that does not."""

import sys

import pytest

from checker.checking.check import check
from checker.rules import RULES
from checker.rules.findings import sentence
from tests.checker.conftest import code, markdown


def codes(path, **options) -> list[str]:
    return [finding.code for finding in check(path, **options).findings]


def test_a_good_notebook_has_no_finding(good, save):
    report = check(save(good))
    assert report.status == "pass" and report.findings == ()
    assert (report.baseline, report.tuned, report.sections_present) == (0.25, 0.97, 9)


def test_every_rule_has_its_own_code_and_explains_itself():
    assert len({rule.code for rule in RULES}) == len(RULES)
    assert all(rule.why and rule.wrong and rule.right for rule in RULES)


@pytest.mark.parametrize(
    "label",
    [
        "# Cell 1: Plan",
        "**Cell 1: Plan**",
        "## Cell 1 - Plan",
        "Cell 1. Plan",
        "### cell 1",
        "# Cell 1 – Plan",
        "# **Cell 1: Plan**",
        "### `Cell 1` plan",
        "<h2>Cell 1: Plan</h2>",
        "**Cell 1** (Markdown): plan",
        "Cell 1 (plan)",
        "## [Cell 1] Plan",
    ],
)
def test_labels_are_recognised_as_people_write_them(good, save, label):
    good["cells"][1]["source"] = f"{label}\n\nCount the dots."
    assert codes(save(good)) == []


CODE_LABELS = [
    "#Cell 4: Reward", "# cell 4 - reward", "# CELL 4", "# === Cell 4: Reward ===", "## Cell 4 reward",
    "# [Cell 4]", "# %% Cell 4: Reward", "# ---- Cell #4 ----", "%%time\n# Cell 4: Reward",
    "#| label: reward\n# Cell 4: Reward",
    '"""Cell 4: Reward"""',
]  # fmt: skip


@pytest.mark.parametrize("label", CODE_LABELS)
def test_code_labels_are_recognised_as_people_write_them(good, save, label):
    good["cells"][4]["source"] = f"{label}\nprint(cases)"
    assert codes(save(good)) == []


def test_further_cells_belong_to_the_section_before(good, save):
    good["cells"].insert(2, markdown("Cell 5 shows that more on the task follows."))
    good["cells"].insert(6, code("# a helper\nx = 1", count=None))
    good["cells"][6]["execution_count"] = 4
    for count, cell in enumerate((c for c in good["cells"] if c["cell_type"] == "code"), 1):
        cell["execution_count"] = count
    assert codes(save(good)) == []


def spoil_header_missing(cells):
    del cells[0]


def spoil_not_run(cells):
    cells[4]["execution_count"] = None
    cells[4]["outputs"] = []


def spoil_error(cells):
    cells[4]["outputs"].append(
        {
            "output_type": "error",
            "ename": "NameError",
            "evalue": "x",
            "traceback": ["\x1b[31mNameError\x1b[0m: x"],
        }
    )


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


def spoil_cell(number, key, value):
    def wrong_value(cells):
        cells[number][key] = value

    return wrong_value


MADE_BY_A_RUN = """
from shared.models import load_policy
model, tokenizer = load_policy()
device = next(model.parameters()).device
def doubled(x):
    # student code here
    # TODO: twice x (1 point, 2 minutes)
    return 2 * x.to(device)
    # end student code
check.doubled(doubled)"""

# One of each kind of fault; a file of tests for each module of rules has the others.
SPOILED = [
    ("U003", spoil_cell(2, "source", "# Cell 2: Model\nx = (1")),
    ("S001", spoil_header_missing),
    ("C004", add_code(MADE_BY_A_RUN)),
    ("X001", spoil_not_run),
    ("X003", spoil_error),
    ("H002", add_print("/home/student/model\n")),
    ("L001", append("word " * 9000)),
    ("L002", append("word " * 7600)),
]


@pytest.mark.parametrize(("expected", "spoil"), SPOILED, ids=lambda v: v if isinstance(v, str) else v.__name__)
def test_a_rule_speaks_when_it_is_broken(good, save, expected, spoil):
    spoil(good["cells"])
    report = check(save(good))
    assert expected in [finding.code for finding in report.findings]
    assert report.status == ("fail" if any(f.level == "error" for f in report.findings) else "pass")
    assert all(finding.found and finding.advice for finding in report.findings)


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


@pytest.mark.parametrize("solution", ["raise NotImplementedError", "pass"])
def test_what_goes_beyond_the_core_may_stay_blank(good, save, solution):
    """Catches a further exercise that is asked for, and one of the core that is not since it stands below such a one."""
    exercise = "\n# student code here\n# TODO: the rest (1 point, 5 minutes{})\n{}\n# end student code"
    good["cells"][4]["source"] += exercise.format(", further", solution)
    assert codes(save(good)) == []
    good["cells"][4]["source"] += exercise.format("", solution)
    assert len(codes(save(good))) == 1


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


def test_a_finding_can_be_silenced(good, save):
    spoil_not_run(good["cells"])
    assert codes(save(good), ignore=["X001", "P004"]) == []


def test_the_bars_show_source_and_output_apart(good, save):
    append("word " * 9000)(good["cells"])
    bars = check(save(good)).where_they_went
    assert len(bars) == 1 + 8 + 1 and "=" * 29 in bars[1] and "Cell 1: Task" in bars[1]


def test_a_cell_that_python_cannot_read_is_told_with_its_line(good, save):
    """Catches `x = (1`, which no other rule sees, on a notebook that passes."""
    good["cells"][2]["source"] += "\n!pip list\nx = (1"
    report = check(save(good))
    (finding,) = [finding for finding in report.findings if finding.code == "U003"]
    running = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    assert report.status == "fail" and finding.place == "Cell 2: Model"
    assert finding.found == f"{running} cannot read this cell, line 4: '(' was never closed"


@pytest.mark.parametrize(
    "line",
    [
        "%matplotlib inline",
        "!pip install \\\n    torch",
        "files = !ls",
        "if True:\n    !ls",
        "torch?",
        "print('%d'\n  % (3))\nprint(1\n  != 2)\n%matplotlib inline",
        "rows = await fetch()",
        "async with session as open_session:\n    pass",
        "text = '%d' \\\n  % (3)",
    ],
)
def test_magic_and_await_are_no_mistakes(good, save, line):
    good["cells"][2]["source"] += f"\n{line}"
    assert "U003" not in codes(save(good))


def test_a_cell_in_another_language_by_magic_is_no_mistake(good, save):
    good["cells"].insert(3, code("%%bash\nls ("))
    assert "U003" not in codes(save(good))


@pytest.mark.parametrize(
    "metadata", [{"kernelspec": {"name": "ir", "language": "R"}}, {"language_info": {"name": "julia"}}]
)
def test_a_notebook_in_another_language_is_told_so(good, save, metadata):
    """Catches R that is read, and run, as if it were Python."""
    good["metadata"] = metadata
    report = check(save(good))
    (language,) = {part.get("language") or part["name"] for part in metadata.values()}
    assert report.status == "unreadable" and f"written in {language}" in report.findings[0].advice


@pytest.mark.parametrize(
    "metadata",
    [None, {}, {"kernelspec": 3}, {"kernelspec": {"language": None}}, {"language_info": {"name": "ipython"}}],
)
def test_a_notebook_that_names_no_other_language_is_python(good, save, metadata):
    good["metadata"] = metadata
    assert check(save(good)).status == "pass"


def test_a_long_error_ends_in_whole_words(good, save):
    """Catches the sentence of a cell that is not filled in, cut off behind "This cell needs"."""
    spoil_error(good["cells"])
    words = "Not filled in yet: get_reward, group_advantages, per_token_kl, grpo_loss, step_loss. This cell needs them."
    good["cells"][4]["outputs"][-1].update(ename="NotFilledIn", evalue=words)
    (finding,) = [finding for finding in check(save(good)).findings if finding.code == "X003"]
    assert finding.found.endswith(words)


def test_each_cell_out_of_order_and_each_that_shows_a_token_is_told(good, save):
    """Catches what is told of the first cell alone, and a token that nobody wrote: a cell printed it."""
    for number, count in ((3, 9), (4, 2), (5, 5)):
        good["cells"][number]["execution_count"] = count
    token = "hf_" + "x" * 34
    for number in (2, 6):
        good["cells"][number]["outputs"][0]["text"] += token + "\n"
    findings = check(save(good)).findings
    assert [finding.cell for finding in findings if finding.code == "X002"] == [4, 5, 6, 7]
    assert [finding.cell for finding in findings if finding.code == "H001"] == [2, 6]


def test_an_error_that_is_a_sentence_keeps_its_one_full_stop():
    """Catches "This cell needs it..": what a blank exercise says ends in a full stop of its own."""
    assert (
        sentence("the cell ended in an error: This cell needs it.") == "the cell ended in an error: This cell needs it."
    )
    assert sentence("the cell was not run") == "the cell was not run." and sentence("is it padded?") == "is it padded?"
