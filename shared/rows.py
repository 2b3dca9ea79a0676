"""The rows of a data set: dicts with a text under `prompt`, and further columns that the rewards are given by name."""

import reprlib
from collections.abc import Mapping, Sequence


def check_rows(rows: Sequence[dict], *columns: str) -> None:
    """ValueError, with what to do, unless these are rows that have a text in each of the columns.

    A data set of the library `datasets` is a table: all its rows have the columns of the first, so that one is read.
    """
    if hasattr(rows, "iloc"):
        raise ValueError('The rows are a frame of pandas: give a list of them, rows.to_dict("records").')
    if isinstance(rows, Mapping):
        raise ValueError(
            f"The rows are of the type {type(rows).__name__} with {reprlib.repr(list(rows))}; give a list of rows. Of a "
            "DatasetDict that is one of its splits."
        )
    if isinstance(rows, str):
        raise ValueError(f"The rows are the text {reprlib.repr(rows)}; give a list of dicts.")
    if not hasattr(rows, "__len__") or not hasattr(rows, "__getitem__"):
        raise ValueError(
            f"The rows are of the type {type(rows).__name__}, which has no length and gives no row by its number; give a "
            "list, for instance list(rows), or list(rows.take(1000)) of a data set that is streamed."
        )
    looked_at = rows if not hasattr(rows, "column_names") else [rows[i] for i in range(min(1, len(rows)))]
    for number, row in enumerate(looked_at):
        _check_row(number, row, columns)


def is_conversation(prompt: object) -> bool:
    """True for a list of messages, as in TRL's conversational format."""
    return isinstance(prompt, list) and bool(prompt) and all(isinstance(message, Mapping) for message in prompt)


def _check_row(number: int, row: object, columns: Sequence[str]) -> None:
    if not isinstance(row, Mapping):
        raise ValueError(
            f'Row {number} is {reprlib.repr(row)}; a row is a dict, such as {{"prompt": "2 + 3 =", "answer": "5"}}.'
        )
    if unnamed := [name for name in row if not isinstance(name, str)]:
        raise ValueError(f"Row {number} has a column {reprlib.repr(unnamed[0])}; the name of a column is a text.")
    for column in columns:
        if column not in row:
            present = ", ".join(map(repr, row)) or "nothing"
            raise ValueError(f"Row {number} has no {column!r}, only {present}. Rename a column, or add one.")
        if is_conversation(row[column]):
            raise ValueError(
                f"Row {number} has a conversation as its {column!r}. `rows_for(tokenizer, rows)` of shared.prompts "
                "makes texts of prompts that are conversations, in the model's chat template: call it once, before."
            )
        if not isinstance(row[column], str):
            raise ValueError(f"Row {number} has {reprlib.repr(row[column])} as its {column!r}; give a text.")
