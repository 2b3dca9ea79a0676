"""Scoring's layout with the numbers of its drawing. That the whole is right stands in tests/test_logps.py."""

import torch

from shared.engine.contexts import Contexts, number_contexts
from shared.engine.llama import Places, packed_prompts
from shared.engine.scoring import PromptsAndPaths, context_states, real_tokens, rows_of_contexts
from tests.conftest import tiny_llama

# Two prompts, `a b c` and `d`; completions `x y .`, `x z .` and twice `u .`. Letters are a 2, b 3, ...; the dot is 1.
A, B, C, D, U, X, Y, Z, EOS = 2, 3, 4, 5, 6, 7, 8, 9, 1
PROMPT_IDS = torch.tensor([[A, B, C], [0, 0, D]])
PROMPT_LENGTHS = torch.tensor([3, 1])
COMPLETIONS = [[X, Y, EOS], [X, Z, EOS], [U, EOS], [U, EOS]]
COMPLETION_IDS = torch.tensor([ids + [0] * (3 - len(ids)) for ids in COMPLETIONS])
LENGTHS = torch.tensor([3, 3, 2, 2])


def drawn_contexts() -> Contexts:
    numbers = number_contexts([0, 0, 1, 1], COMPLETIONS)
    return Contexts.of(torch.tensor([row + [0] * (3 - len(row)) for row in numbers]), LENGTHS)


def test_the_drawing_is_the_layout():
    """Catches a token drawn from the wrong prompt or from its own row, and a node that is computed twice."""
    contexts = drawn_contexts()
    rows = rows_of_contexts(PROMPT_LENGTHS, contexts)
    assert rows.tolist() == [2, 4, 5, 6, 3, 7]
    assert rows[contexts.of_token].tolist() == [2, 4, 5, 2, 4, 6, 3, 7, 3, 7]
    places = PromptsAndPaths(PROMPT_LENGTHS, 3, contexts, torch.device("cpu"))
    assert places.prompt_tokens == 4
    assert places.paths.row_at.view(3, 2)[:2].tolist() == [[4 - 4, 5 - 4], [4 - 4, 6 - 4]]
    assert places.paths.row_at[4] == 7 - 4 and places.prompt_of_path.tolist() == [0, 0, 1]


def test_each_token_of_the_drawing_passes_once():
    model = tiny_llama().eval()
    seen = []
    model.get_input_embeddings().register_forward_pre_hook(lambda module, args: seen.append(args[0].tolist()))
    context_states(model, PROMPT_IDS, COMPLETION_IDS, PROMPT_LENGTHS, drawn_contexts())
    assert seen == [[A, B, C, D, X, Y, Z, U]]


def test_real_tokens_are_those_before_the_padding():
    assert real_tokens(LENGTHS, 3).tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 9, 10]


def test_places_hold_each_row_once_and_give_it_back():
    places = Places.of_lengths(torch.tensor([2, 1, 2]), 2, torch.device("cpu"))
    rows = torch.tensor([4.0, 5.0, 6.0, 7.0, 8.0])
    padded = places.padded(rows)
    assert padded[0].tolist() == [4, 5] and padded[1, 0] == 6 and padded[2].tolist() == [7, 8]
    assert places.rows(padded).tolist() == rows.tolist()


def test_prompts_are_packed_without_their_padding():
    """Catches padding taken from the wrong side."""
    ids, positions = packed_prompts(torch.tensor([[0, 0, 5], [6, 7, 8]]), torch.tensor([1, 3]))
    assert ids.tolist() == [5, 6, 7, 8] and positions.tolist() == [0, 0, 1, 2]
