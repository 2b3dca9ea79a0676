"""Flaws as sentences, and the verdict that they make."""

from shared.exercises.own_task.flaws import Flaw, quoted, raised, verdict


def test_what_is_shown_is_one_line_and_not_too_long():
    """Catches a completion of three thousand letters that fills the page, and an error whose message is lost."""
    assert quoted("a\n") == r"'a\n'" and quoted(3) == "3"
    assert raised(KeyError("of the student")) == "KeyError: 'of the student'"
    long = "x" * 1000
    assert quoted(long).startswith("'xxx") and quoted(long).endswith("...")
    assert 40 < len(quoted(long)) < 120 and len(raised(ValueError(long))) == 2 * len(quoted(long))


def test_a_right_part_gets_its_text_and_its_warnings(judgements):
    """Catches a verdict without its name, and a number of cases that is one off."""

    def judge(begun):
        for number in (4, 7, 9):
            begun(number)
        return "all is well.", ["doubles"]

    found = verdict("a task", judge, str)
    assert (found.line, found.cases, found.slips) == ("✓ a task: all is well.", 3, ("doubles",))
    ((judgement, progress),) = judgements
    assert (judgement.name, judgement.in_words(progress.case)) == ("a task", "9")


def test_a_flaw_is_the_text_of_a_part_that_is_wrong(judgements):
    def judge(begun):
        begun(0)
        begun(1)
        raise Flaw("it is one too few.")

    found = verdict("a task", judge, str)
    assert (found.line, found.cases, found.slips) == ("✗ a task: it is one too few.", 2, ())
    assert judgements[0][1].case == 1
