"""The function that makes rows for training and for evaluation."""

import pytest

from shared.exercises.own_task.rows import SPLITS, flaws_of_form, judge_rows, require_disjoint, verdict_on_rows

SPLIT = ("train", "eval")


def rows(split, n, seed):
    """Rows of which each prompt names its split; seeds overlap, as they may."""
    return [{"prompt": f"{split} {place}", "answer": place} for place in range(10 * seed, 10 * seed + n)]


def told(flaw, function, splits=SPLIT) -> str:
    return flaw(judge_rows, function, splits, lambda number: None)


def test_every_split_is_asked_for_under_every_seed():
    """Catches a split of the assignment, or a seed, that is never tried; what is measured on too few rows; one call too
    many that nobody finds by its number."""
    calls, numbers = [], []

    def function(split, n, seed):
        calls.append((split, n, seed))
        return rows(split, n, seed)

    text, warned = judge_rows(function, SPLITS, numbers.append)
    assert text.startswith("9 data sets of 3 splits") and text.endswith("held out.") and warned == []
    first = calls[:9]
    assert [split for split, _, _ in first] == ["train"] * 3 + ["eval"] * 3 + ["new"] * 3
    assert [seed for _, _, seed in first] == [0, 1, 2] * 3
    assert {n for split, n, _ in first if split == "train"} == {100} and {n for _, n, _ in first[3:]} == {30}
    assert calls[9:] == [first[0], first[-1]], "the same again"
    assert numbers == [*range(9), 0]


@pytest.mark.parametrize("again", [("train", 0), ("eval", 2)], ids=["the first", "the last"])
def test_rows_that_change_from_call_to_call_are_told(flaw, again):
    """Catches a run that cannot be repeated, by the first call or by the last."""
    calls = []

    def function(split, n, seed):
        calls.append((split, seed))
        return rows(split, n, seed)[:: -1 if calls.count(again) > 1 else 1]

    split, seed = again
    assert f'called again with split "{split}", n {100 if split == "train" else 30}, seed {seed}.' in told(
        flaw, function
    )


def test_a_seed_that_changes_nothing_is_told(flaw):
    assert "the seed changes nothing" in told(flaw, lambda split, n, seed: rows(split, n, 0))


def test_other_columns_of_a_split_are_told(flaw):
    """Catches a reward that is called with a column in training and without it in evaluation."""

    def function(split, n, seed):
        return [row | ({"hint": ""} if split == "eval" and seed == 1 else {}) for row in rows(split, n, seed)]

    said = told(flaw, function)
    assert said.startswith(
        "split 'eval' has the columns ['answer', 'hint', 'prompt'], and 'train' has ['answer', 'prompt']"
    )


def test_what_is_trained_on_and_held_out_is_told(flaw):
    """Catches a prompt that another seed holds out, and one that is only in both held-out splits called trained on."""

    def across_seeds(split, n, seed):
        return rows("train", n, seed + (200 if split == "eval" and seed < 2 else 0))

    assert told(flaw, across_seeds).startswith("30 prompts are trained on and held out, such as 'train 20'")
    assert told(flaw, lambda split, n, seed: rows("a" if split == "train" else "b", n, seed), SPLITS) == ""
    assert flaw(require_disjoint, {"a", "b", "c"}, [{"prompt": "c"}, {"prompt": "b"}, {"prompt": "d"}]).startswith(
        "2 prompts are trained on and held out, such as 'b'"
    )
    assert flaw(require_disjoint, {"a"}, [{"prompt": "b"}]) == ""


def test_a_few_doubles_are_counted_and_warned_of():
    """Catches a check that refuses what chance draws, and a number of doubles that is not theirs."""

    def function(split, n, seed):
        made = rows(split, n, seed)
        return [*made[:-2], made[0], made[1]] if split == "eval" else made

    text, warned = judge_rows(function, SPLIT, lambda number: None)
    assert warned == ["doubles"] and " 6 prompts come twice" in text


def test_many_doubles_are_told(flaw):
    def function(split, n, seed):
        made = rows(split, n, seed)
        return [*made[: n - 4], *made[:4]] if split == "eval" else made

    assert told(flaw, function).startswith('only 26 of 30 prompts are different for split "eval", n 30, seed 0.')


def test_too_few_rows_are_told(flaw):
    function = lambda split, n, seed: rows(split, n - (seed == 1), seed)  # noqa: E731
    assert told(flaw, function) == 'it gives 99 rows for split "train", n 100, seed 1.'


def test_what_a_function_raises_is_told_with_its_call(flaw):
    """Catches a traceback of the check's own, and a blank function that is called wrong."""

    def refuses(split, n, seed):
        raise ValueError("no such split")

    assert told(flaw, refuses) == 'it raised ValueError: no such split for split "train", n 100, seed 0.'

    def blank(split, n, seed):
        raise NotImplementedError("write `rows`")

    assert told(flaw, blank) == "it is not filled in yet (write `rows`)."


def test_a_flaw_of_form_is_told_with_its_call(flaw):
    said = told(flaw, lambda split, n, seed: None if seed else rows(split, n, seed))
    assert said == 'train rows are no list. Is the `return` missing? This happens for split "train", n 100, seed 1.'


GOOD = {"prompt": "p", "answer": "a"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((GOOD, GOOD), None),
        ([], None),
        (None, "x rows are no list"),
        ([GOOD, 3], "x row 1 has no text"),
        ([GOOD, {"answer": "a"}], "x row 1 has no text"),
        ([GOOD | {"prompt": 3}], "x row 0 has no text"),
        ([GOOD, GOOD | {"prompt": ""}], "x row 1 has no text"),
        ([GOOD, GOOD, {"prompt": "p"}], "x row 2 has the columns ['prompt'], and row 0 has ['answer', 'prompt']"),
        ([GOOD | {"prompts": "a"}], "x row 0 has a column 'prompts' or 'completions'"),
        ([GOOD | {"completions": "a"}], "x row 0 has a column 'prompts' or 'completions'"),
        ([GOOD, GOOD | {"answer": {1}}], "x row 1 holds something besides texts"),
        ([GOOD | {"answer": (1, 2)}], "x row 0 holds something besides texts"),
        ([GOOD | {"answer": ["a", 1.5, None]}], None),
    ],
)
def test_the_first_flaw_of_form_is_told(given, said):
    """Catches a row that a data set cannot keep or a reward cannot be called with, and ten sentences about one mistake."""
    found = list(flaws_of_form("x", given))
    assert found == [] if said is None else len(found) == 1 and found[0].startswith(said)


def test_the_verdict_is_on_the_rows_and_says_which_call_was_going_on(judgements):
    verdict = verdict_on_rows(rows, SPLIT)
    assert verdict.line.startswith("✓ rows: 6 data sets of 2 splits") and verdict.cases == 7
    ((judgement, progress),) = judgements
    assert progress.case == 0 and judgement.in_words(4) == 'split "eval", n 30, seed 1'
