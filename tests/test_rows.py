"""The rows of a data set: what is no row is said in a sentence before anything is sampled."""

import pandas
import pytest
from datasets import Dataset, DatasetDict

from shared import training
from shared.evaluate import evaluate
from shared.grpo import grpo_step
from shared.rows import check_rows
from tests.fakes import letter_tokenizer, tiny_llama
from tests.grpo import CONFIG, ROWS, first_letter, run
from tests.line import CONFIG as LINE_CONFIG
from tests.line import Line

CONVERSATION = [{"role": "user", "content": "ab"}]


@pytest.mark.parametrize(
    "rows, words",
    [
        ([{"question": "ab", "answer": "b"}], "Row 0 has no 'prompt', only 'question', 'answer'"),
        ([ROWS[0], {}], "Row 1 has no 'prompt', only nothing"),
        (["ab", "cd"], "Row 0 is 'ab'; a row is a dict"),
        ([{"prompt": 3}], "Row 0 has 3 as its 'prompt'; give a text"),
        ([{"prompt": CONVERSATION}], r"Row 0 has a conversation as its 'prompt'. `rows_for\(tokenizer, rows\)`"),
        ((row for row in ROWS), "of the type generator, which has no length"),
        (Dataset.from_list(ROWS).to_iterable_dataset(), "of the type IterableDataset.*list\\(rows.take"),
        (DatasetDict(train=Dataset.from_list(ROWS)), r"of the type DatasetDict with \['train'\].*one of its splits"),
        (Dataset.from_list([{"question": "ab"}]), "Row 0 has no 'prompt', only 'question'"),
        (pandas.DataFrame(ROWS), r'a frame of pandas: give a list of them, rows.to_dict\("records"\)'),
        ("ab", "The rows are the text 'ab'; give a list of dicts"),
        ([{"prompt": "ab", 3: "b"}], "Row 0 has a column 3; the name of a column is a text"),
    ],
)
def test_what_is_no_row_is_refused(rows, words):
    """Catches `KeyError: 'prompt'`, an error of Python's about something that the student did not write."""
    with pytest.raises(ValueError, match=words):
        check_rows(rows, "prompt")


def test_rows_of_any_kind_are_taken():
    for rows in (ROWS, tuple(ROWS), Dataset.from_list(ROWS), [], Dataset.from_list([])):
        check_rows(rows, "prompt")


def test_a_table_is_not_read_as_a_whole():
    """Catches a look at each row of a large data set, which takes minutes."""

    class Table:
        column_names = ["prompt"]

        def __len__(self):
            return 10**9

        def __getitem__(self, number):
            assert number == 0
            return {"prompt": "ab"}

    check_rows(Table(), "prompt")


def test_they_are_looked_at_before_the_first_step():
    """Catches a run that ends after a night, in the first step that comes to the row."""
    seen = []
    with pytest.raises(ValueError, match="Row 4 has no 'prompt'"):
        run(tiny_llama(), letter_tokenizer(), on_step=seen.append, rows=[*ROWS, {"answer": "a"}])
    assert not seen
    training.train(
        Line(), [{"x": 1.0, "y": 2.0, "weight": 1}], LINE_CONFIG, progress=False
    )  # no prompt, none asked for


def test_steps_by_hand_and_evaluations_say_the_same():
    rows = [{"question": "ab"}]
    with pytest.raises(ValueError, match="no 'prompt'"):
        grpo_step(tiny_llama(), letter_tokenizer(), rows, first_letter, CONFIG)
    with pytest.raises(ValueError, match="no 'prompt'"):
        evaluate(tiny_llama(), letter_tokenizer(), rows, first_letter)
