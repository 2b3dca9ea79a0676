"""The facts that the page knows of tokenizer and task, written down by the tokenizer and the task themselves.

A prompt of dots is a row of symbols between two fixed pieces of text, and each symbol is a token, so the page needs a
table and no tokenizer.
"""

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from shared.tasks import dots

DIGITS = "0123456789"
# What the test holds the page against: short and long rows, one without dots, one of dots alone.
TRIED = (". . *", "* . # . - .", "o + - # * + o -", ". . . . . . .", "# . o . + . * . - .")


def facts(tokenizer: PreTrainedTokenizerBase) -> dict[str, object]:
    """The tokens of a prompt and of its answers, and the text of every token.

    Raises ValueError where this tokenizer does not cut prompts symbol by symbol.
    """
    marked = dots.prompt_of(" ".join(dots.SYMBOLS))
    before, _, after = marked.partition(f" {' '.join(dots.SYMBOLS)}")
    table = {
        "prefix": _ids(tokenizer, before),
        "symbols": {symbol: _ids(tokenizer, f" {symbol}")[0] for symbol in dots.SYMBOLS},
        "suffix": _ids(tokenizer, after),
        "digits": {digit: _ids(tokenizer, f" {digit}")[0] for digit in DIGITS},
        "eos": tokenizer.eos_token_id,
        "texts": [tokenizer.decode([token]) for token in range(len(tokenizer))],
        "longest": dots.MAX_NEW_TOKENS,
        "lengths": [min(dots.LENGTHS), max(dots.LENGTHS)],
    }
    for row in TRIED:
        if prompt_ids(table, row) != _ids(tokenizer, dots.prompt_of(row)):
            raise ValueError(f"The tokenizer does not cut {dots.prompt_of(row)!r} into one token for each symbol.")
    return table


def prompt_ids(table: dict, row: str) -> list[int]:
    """The tokens of a row's prompt, as the page puts them together."""
    return [*table["prefix"], *(table["symbols"][symbol] for symbol in row.split()), *table["suffix"]]


def expected(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> list[dict]:
    """For each row of TRIED what transformers' own pass says: the greedy completion, the digits' probabilities."""
    found = []
    for row in TRIED:
        ids = torch.tensor([_ids(tokenizer, dots.prompt_of(row))])
        with torch.no_grad():
            probabilities = model(ids).logits[0, -1].softmax(dim=-1)
        generated = model.generate(
            ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=dots.MAX_NEW_TOKENS
        )
        found.append(
            {
                "row": row,
                "greedy": tokenizer.decode(generated[0, ids.size(1) :], skip_special_tokens=True),
                "digits": [probabilities[_ids(tokenizer, f" {digit}")[0]].item() for digit in DIGITS],
            }
        )
    return found


def _ids(tokenizer: PreTrainedTokenizerBase, text: str) -> list[int]:
    return tokenizer(text, add_special_tokens=False)["input_ids"]
