"""Assertions and questions. An assertion of the checker counts. A suspicion is a question: told last, counted nowhere."""

from pathlib import Path

import pytest

from checker.checking.check import check
from checker.grading.table import grades
from checker.grading.table.class_folder import Folder
from checker.grading.table.feedback import feedback
from checker.grading.table.students import Line
from checker.points.rubric import evidence, load
from checker.reading.notebook import Cell, Notebook, read
from checker.rules import RULES, Submission, method
from tests.checker.command_line import checker
from tests.checker.rules.method.wrong import WRONG

ASKED = "std = rewards.view(-1, G).std(dim=1)"  # M010: perhaps it is meant so
ASSERTED = "adv = (rewards - rewards.mean()) / rewards.std()"  # M009
TEXT = "output = model.generate(**inputs)\ntext = tokenizer.decode(output[0])\n"


@pytest.fixture
def written(good, save):
    """A good notebook with further lines in Cell 5, saved."""

    def make(*sources: str):
        good["cells"][5]["source"] += "\n" + "\n".join(sources)
        return save(good)

    return make


def levels(path) -> list[tuple[str, str]]:
    return [(finding.code, finding.level) for finding in check(path).findings]


def test_a_question_is_no_error_and_no_warning(written):
    """Catches a suspicion that fails a notebook, or that is counted in the line of a folder."""
    path = written(ASKED)
    report = check(path)
    assert levels(path) == [("M010", "question")] and report.status == "pass"
    assert report.count("error") == report.count("warning") == 0
    done = checker(path)
    assert (
        done.returncode == 0 and "  asks    M010 Cell 5: One GRPO step: line 3: is the group's standard" in done.stdout
    )
    assert "?." not in done.stdout


def test_questions_are_told_after_what_is_asserted(written):
    """Catches a guess above a mistake: M008 comes first by its code."""
    path = written("loss = policy_loss + beta * (logps - ref_logps).mean()", ASSERTED)
    assert levels(path) == [("M008", "question"), ("M009", "warning")]
    said = checker(path).stdout
    assert said.index("M009") < said.index("M008")


def test_a_folders_summary_tells_questions_last(good, save, tmp_path):
    """Catches the most frequent guess above the mistakes, and a code that both asserts and asks counted as one."""
    good["cells"][5]["source"] += f"\n{TEXT}r = reward_fn(text)"
    for number in range(3):
        save(good, f"{number}.ipynb")
    good["cells"][5]["source"] += "\ncompletion = text[len(prompt):]"
    save(good, "3.ipynb")
    lines = checker(tmp_path).stdout.splitlines()
    assert "warning" not in lines[0]
    assert lines[3].endswith("1 warning")
    counted = [line.split()[:3] for line in lines if "M003" in line]
    assert counted == [["1", "warning", "M003"], ["4", "asks", "M003"]]


def test_what_is_asked_is_a_question_and_what_is_asserted_is_none():
    """Catches a sentence that claims under a mark that asks, and the other way round."""
    for source in [*(rule.wrong for rule in method.RULES), *(source for _, source in WRONG)]:
        submission = Submission(Notebook(Path("x.ipynb"), (Cell(0, "code", source, 1),)))
        for finding in (found for rule in method.RULES for found in rule.findings(submission)):
            assert (finding.level == "question") == finding.found.endswith("?"), finding


def test_questions_enter_no_grades(written, tmp_path):
    """Catches a column of findings that a guess has made larger."""
    results = [finding.as_dict() for finding in check(written(ASKED, ASSERTED)).findings]
    result = {"notebook": "dots.ipynb", "items": [], "earned": 0, "possible": 0, "stopped": "", "seconds": 1.0}
    line = Line("ann", {"dots.ipynb": result | {"findings": results, "page": ""}})
    folder = Folder(tmp_path / "graded")
    folder.prepare()
    grades.write(folder, [line])
    head, row = (folder.path / "grades.csv").read_text(encoding="utf-8-sig").splitlines()
    assert dict(zip(head.split(","), row.split(","), strict=True))["findings"] == "1"
    page = feedback(line, "ann")
    below = page.split("Worth a look")[1]
    assert "M010" in below and "M009" not in below and "?." not in page


def test_the_rubrics_evidence_has_questions_last(written):
    path = written(ASKED, ASSERTED)
    step = next(criterion for criterion in load() if "M009" in criterion.rules)
    said = [found.text for found in evidence(step, read(path), check(path))]
    assert said[-2].startswith("M009 (warning)") and said[-1].startswith("M010 (question)")


def test_only_method_rules_ask():
    """Catches a question about something that is counted, read or run: only the meaning of code leaves a doubt."""
    asking = {rule.code for rule in RULES if rule.level == "question" or rule.asks}
    assert all(code.startswith("M") for code in asking) and "M010" in asking
