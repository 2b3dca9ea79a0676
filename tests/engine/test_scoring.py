"""Scoring's layout with the numbers of its drawing. That the whole is right stands in tests/test_logps.py."""

import torch

from shared.engine.llama import Places, packed_prompts
from shared.engine.scoring import completion_positions, real_tokens, rows_before

# Two prompts, `a b c` and `d`; completions `x y .`, `u .`, `v w .` and `.`.
PROMPT_LENGTHS = torch.tensor([3, 1])
LENGTHS = torch.tensor([3, 2, 3, 1])


def test_the_drawing_is_the_layout():
    """Catches a completion's first token drawn from the wrong prompt, or from its own row."""
    assert rows_before(PROMPT_LENGTHS, LENGTHS).tolist() == [2, 4, 5, 2, 6, 3, 7, 8, 3]
    assert completion_positions(PROMPT_LENGTHS, LENGTHS).tolist() == [3, 4, 3, 1, 2]
    assert real_tokens(LENGTHS, 3).tolist() == [0, 1, 2, 3, 4, 6, 7, 8, 9]


def test_places_hold_each_row_once_and_give_it_back():
    places = Places(LENGTHS - 1, 2, torch.device("cpu"))
    rows = torch.tensor([4.0, 5.0, 6.0, 7.0, 8.0])
    padded = places.padded(rows)
    assert padded[0].tolist() == [4, 5] and padded[1, 0] == 6 and padded[2].tolist() == [7, 8]
    assert places.rows(padded).tolist() == rows.tolist()


def test_prompts_are_packed_without_their_padding():
    """Catches padding taken from the wrong side."""
    ids, positions = packed_prompts(torch.tensor([[0, 0, 5], [6, 7, 8]]), torch.tensor([1, 3]))
    assert ids.tolist() == [5, 6, 7, 8] and positions.tolist() == [0, 0, 1, 2]
