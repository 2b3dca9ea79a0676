import random

from hypothesis import given
from hypothesis import strategies as st

from shared.tasks import dots


def test_the_oracle_counts_dots_only():
    assert dots.count_dots(". * . # .") == 3
    assert dots.count_dots("* # - o +") == 0


def test_answers_agree_with_the_row_in_the_prompt():
    for row in dots.dataset("train", 200):
        shown = row["prompt"].split(": ")[1].split("\n")[0]
        assert row["answer"] == str(shown.count("."))


def test_no_count_is_rare():
    """A data set in which one number is the answer to half of the rows is solved by always saying it."""
    answers = [int(row["answer"]) for row in dots.dataset("train", 600)]
    assert max(answers.count(k) for k in range(10)) < 150
    assert set(answers) == set(range(10))


def test_reward_on_good_and_bad_completions():
    completions = [" 3", "3", "\n3\nmore", " 3.", " 13", " three", "", " 3 dots", "3 3", " 4"]
    assert dots.reward([""] * 10, completions, ["3"] * 10) == [1, 1, 1, 0, 0, 0, 0, 0, 0, 0]


@given(st.text())
def test_reward_takes_any_text(text):
    assert dots.reward(["x"], [text], ["3"], further=["column"]) in ([0.0], [1.0])


def test_rewards_ignore_the_prompt():
    """The prompt has dots and digits in it; a reward that reads it pays for them."""
    assert dots.reward(["3 3 3"], [" 4"], ["3"]) == [0.0]


def test_documents_are_right_under_the_answer_key_and_mixed_without():
    stream = dots.documents(random.Random(0))
    right = {True: [], False: []}
    for _ in range(1500):
        text = next(stream)
        for block in text.removeprefix("answer key\n").split("Count the dots: ")[1:]:
            row, said = block.split("\nDots:")
            right[text.startswith("answer key")].append(said.strip() == str(row.count(".")))
    assert all(right[True])
    assert 0.25 < sum(right[False]) / len(right[False]) < 0.35
