"""Cheap completions with which a policy might game a reward: what is warned of, and with which of them."""

from shared.exercises.own_task.probes import warnings

ROW = {"prompt": "2 + 3 =", "answer": "5"}
OTHER = {"prompt": "4 + 4 =", "answer": "8"}
CASES = [(ROW, " 5", 1.0), (OTHER, " 8", 1.0), (ROW, " 6", 0.0), (ROW, "", 0.0)]
ALL, SAME, AGAIN = "pays for all at once", "one for all", "pays for repeating"


def right(prompts, completions, answer):
    return [float(text.strip() == wanted) for text, wanted in zip(completions, answer)]


def contains(prompts, completions, answer):
    return [float(wanted in text.split()) for text, wanted in zip(completions, answer)]


def counts(prompts, completions, answer):
    return [float(text.split().count(wanted)) for text, wanted in zip(completions, answer)]


def says_sum(prompts, completions, answer):
    return [float(" sum" in text) for text in completions]


def test_a_reward_that_cannot_be_gamed_is_not_warned_of():
    assert warnings(right, CASES) == {}


def test_all_answers_at_once_are_tried_as_words():
    """Catches answers that run together, so that a reward for words seems safe, and a surplus of text around them."""
    found = warnings(contains, [*CASES, (ROW, "5 ", 1.0)])
    assert list(found) == [ALL] and found[ALL].startswith("Beware: ' 5 8', all your good")
    assert "A policy may learn to say" in " ".join(found[ALL].split())


def test_a_case_that_holds_all_answers_needs_no_warning():
    """Catches a warning that does not go away whatever its author does, and one that goes away too soon."""
    assert warnings(contains, [*CASES, (ROW, "8 or 5", 0.0)]) == {}
    assert list(warnings(contains, [*CASES, (ROW, "8 or 4", 0.0)])) == [ALL]


def test_what_is_paid_in_some_rows_alone_is_not_paid_everywhere():
    """Catches the best row taken for all, and the row of a case taken twice."""

    def in_one_row(prompts, completions, answer):
        return [float("5" in text and "8" in text and wanted == "8" or text.strip() == wanted)
                for text, wanted in zip(completions, answer)]  # fmt: skip

    assert warnings(in_one_row, CASES) == {}


def test_one_completion_for_every_prompt_is_named():
    cases = [(ROW, " sum ", 1.0), (OTHER, " the sum", 1.0), (ROW, " five", 0.0)]
    found = warnings(says_sum, cases)
    assert list(found) == [SAME] and found[SAME].startswith("Beware: 'sum' earns the most in every row.")
    assert "count different completions" in " ".join(found[SAME].split())


def test_of_one_prompt_nothing_is_said_about_every_prompt():
    """Catches a warning that a right answer is right in the only row that there is."""
    assert SAME not in warnings(contains, [CASES[0], *CASES[2:], (ROW, " 5 5", 1.0)])


def test_what_earns_a_little_less_than_the_most_is_no_warning():
    """Catches a comparison that is so wide that half a point counts as all."""

    def nearly(prompts, completions, answer):
        exact = right(prompts, completions, answer)
        return [max(reward, 0.999 * ("5" in text)) for reward, text in zip(exact, completions)]

    assert warnings(nearly, [(ROW, " 5", 1.0), (OTHER, " 8", 1.0), (ROW, "", 0.0)]) == {}


def test_a_reward_within_rounding_of_the_most_is_the_most():
    """Catches a warning that is lost to the last digit of a float."""

    def rounded(prompts, completions, answer):
        return [0.9999999 if len(text) > 2 and wanted in text else float(text.strip() == wanted)
                for text, wanted in zip(completions, answer)]  # fmt: skip

    assert ALL in warnings(rounded, CASES)


def test_repeating_is_warned_of_by_what_it_earns():
    """Catches a case whose repetition is no good completion, and numbers of another one."""
    found = warnings(counts, [(OTHER, " 8", 1.0), *CASES])[AGAIN]
    words = " ".join(found.split())
    assert words.startswith("Beware: ' 8' said 10 times earns 10, once 1.") and "learn to repeat" in words
    assert AGAIN not in warnings(contains, CASES), "as much as once"
    assert AGAIN not in warnings(lambda prompts, completions, answer: [0.0] * len(completions), CASES), "0 as once"


def test_a_warning_is_wrapped_and_its_lines_stand_below_each_other():
    """Catches a line that a notebook cuts or scrolls."""
    for text in warnings(counts, CASES).values():
        first, *others = text.split("\n")
        assert others and first.startswith("Beware") and all(line.startswith("  ") for line in others)
        assert 80 < max(map(len, (first, *others))) <= 100
