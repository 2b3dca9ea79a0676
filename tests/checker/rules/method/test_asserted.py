"""The method rules that are asserted: the criterion, and that the code and the README say what the figures give."""

from pathlib import Path

from benchmarks.method_rules import asserted
from benchmarks.method_rules.asserted import Place
from checker.rules import method

README = Path(asserted.__file__).with_name("README.md")


def places(pattern: str, right: int, wrong: int, hands: int = 4, group: str = "first") -> list[Place]:
    """Findings of one pattern, from so many repositories in turn."""
    judged = [True] * right + [False] * wrong
    return [Place(group, f"hand {n % hands}", pattern, True, bug) for n, bug in enumerate(judged)]


def test_a_pattern_is_asserted_when_the_next_finding_is_right_nine_times_in_ten():
    """Catches seven right ones taken for proof, and one false alarm in fifteen borne."""
    assert asserted.chosen(places("M009", 8, 0)) == asserted.chosen(places("M009", 17, 1)) == {"M009"}
    assert not asserted.chosen(places("M009", 7, 0)) and not asserted.chosen(places("M009", 14, 1))


def test_one_persons_habit_proves_nothing():
    """Catches fourteen right findings in one notebook that carry a rule."""
    assert not asserted.chosen(places("M009", 30, 0, hands=3))


def test_a_set_that_is_left_out_has_no_say():
    """Catches a choice that is measured on what it was made from."""
    one = places("M009", 20, 0, group="first")
    other = places("M009", 0, 3, group="second")
    counts = asserted.left_out(one + other)
    assert (counts["second"].asserted, counts["second"].asserted_right) == (3, 0)
    assert (counts["first"].asserted, counts["first"].asked) == (0, 20)


def test_what_was_missed_counts_as_a_mistake_and_not_as_a_finding():
    missed = Place("first", "hand 0", "M009", told=False, bug=True)
    counts = asserted.count([*places("M009", 2, 1), *places("M001", 1, 0), missed], {"M009"})
    assert (counts.asserted, counts.asserted_right, counts.asked, counts.asked_right) == (3, 2, 1, 1)
    assert (counts.mistakes, counts.found_by_asserted, counts.found) == (4, 2, 3)


def test_a_set_that_nobody_read_has_no_recall():
    counts = asserted.count(places("M021", 3, 0, group="fourth"), set())
    assert counts.asked_right == 3 and counts.mistakes == counts.found == 0


def test_the_rules_assert_what_the_figures_bear():
    """Catches a rule that is asserted, or asked, against its figures."""
    borne = {pattern[:4] for pattern in asserted.chosen(asserted.unseen())}
    assert {rule.code for rule in method.RULES if rule.level != "question"} == borne
    partly = {rule.code for rule in method.RULES if rule.asks}
    patterns = asserted.by_pattern(asserted.unseen())
    assert partly >= {code for code in borne if len([name for name in patterns if name.startswith(code)]) > 1}


def test_the_readme_quotes_the_tables_that_the_figures_give():
    """Catches a table that was left behind when a finding was labelled again."""
    text = README.read_text(encoding="utf-8")
    for line in "\n".join(asserted.tables(asserted.unseen())).strip().splitlines():
        assert line in text, line
