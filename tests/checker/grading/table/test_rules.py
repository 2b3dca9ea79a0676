"""The rules of a class: written once, read by every run, and never forgotten."""

from datetime import datetime
from pathlib import Path

import pytest

from checker.grading.table.class_folder import Folder, forget
from checker.grading.table.lateness import LateRule
from checker.grading.table.rules import Rules, rules_of
from checker.reading.notebook import Unreadable


def test_rules_that_were_written_before_the_first_run_are_its_rules(tmp_path):
    """Catches a late rule that only some of the commands know, and a file that is overwritten."""
    folder = Folder(tmp_path / "graded")
    folder.path.mkdir()
    text = (
        "notebooks: [dots.ipynb]\nroster: class.csv\ndue: 2026-11-20 23:59:59\nlate off: 10%\nfree days: 2\nseed: 7\n"
        "columns: [Dots (4711), poker.ipynb=Poker (4712)]\n"
    )
    (folder.path / "class.yml").write_text(text)
    folder.prepare()
    found = rules_of(folder)
    assert found == Rules(
        ("dots.ipynb",), (Path("notebooks"),), Path("class.csv"), "", datetime(2026, 11, 20, 23, 59, 59),
        LateRule(2, 10.0, True), ("Dots (4711)", "poker.ipynb=Poker (4712)"), 7, True, False, None, None,
    )  # fmt: skip
    assert (folder.path / "class.yml").read_text() == text
    assert str(found) == "Assigned: dots.ipynb. Due 2026-11-20 23:59; each late day takes 10%, 2 are free."


def test_what_the_first_run_writes_is_what_it_read(folder):
    """Catches a template whose words are no rules, and other hidden cases in the second run."""
    first = rules_of(folder)
    assert rules_of(folder) == first and first.notebooks == () and first.late is None and first.whole
    assert "late off:" in (folder.path / "class.yml").read_text()
    forget(folder.path)
    assert not folder.path.exists()


@pytest.mark.parametrize(
    ("table", "stops"),
    [
        ("student,total,remarks\nann,2,\n", False),
        ("student,days late,late,total\nann,1,-2,4\n", True),
        ("student,total,remarks\nann,0,No notebook was handed in.\n", True),
    ],
    ids=["no rules", "a late rule", "a class list"],
)
def test_a_class_of_an_earlier_version_is_asked_for_its_rules_where_it_had_some(table, stops, folder):
    """Catches a late rule that was an option of the command, and is gone with the update: 37.46 became 41.62."""
    folder.write_table("grades.csv", table)
    folder.write("seed", "41\n")
    if stops:
        with pytest.raises(Unreadable, match="did not keep its rules"):
            rules_of(folder)
    assert rules_of(folder).seed == 41


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("late_off: 10%\nseed: 1", "no rule 'late_off'. Rules are notebooks"),
        ("free days: 2", "there is no seed"),
        ("seed: 1\nfree days: 2", "needs `late off`"),
        ("seed: 1\ndue: tomorrow", "Give day and time"),
        ("seed: 1\nseconds: 0", "seconds is 0. Give a number above 0"),
        ("seed: 1\nanonymous: maybe", "Give true or false"),
        ("seed: 1\nnotebooks: dots.ipynb", "Give a list"),
        ("seed: 1\npattern: '('", "is not a regular expression"),
        ("seed: [1", "class.yml cannot be used"),
        ("- seed", "it holds no rules"),
    ],
)
def test_a_rule_that_cannot_be_is_a_sentence(text, said, folder):
    """Catches a misspelt rule that is passed over, and a class without it."""
    folder.write("class.yml", text)
    with pytest.raises(Unreadable, match=said):
        rules_of(folder)
