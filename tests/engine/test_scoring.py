"""Scoring's layout with the numbers of its drawing. That the whole is right stands in tests/test_logps.py."""

import pytest
import torch

from shared.engine import scoring
from shared.engine.contexts import Contexts, number_contexts, prompt_beginnings
from shared.engine.llama import PackedPrompts
from shared.engine.scoring import Groups, PromptsAndGroups, context_states, real_tokens, rows_of_contexts
from tests.fakes import tiny_llama

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
    packed = PackedPrompts.of(PROMPT_IDS, PROMPT_LENGTHS)
    rows = rows_of_contexts(packed, contexts)
    assert rows.tolist() == [2, 4, 5, 6, 3, 7]
    assert rows[contexts.of_token].tolist() == [2, 4, 5, 2, 4, 6, 3, 7, 3, 7]
    places = PromptsAndGroups(packed, PROMPT_LENGTHS, contexts, torch.device("cpu"))
    assert places.prompt_tokens == 4 and places.prompt_of_group.tolist() == [0, 1]
    assert (places.groups.row_at + 4).tolist()[:4] == [4, 5, 6, 7]
    assert (places.groups.place_of).tolist() == [0, 1, 2, 3]
    leads = [[1, 0, 0], [1, 1, 0], [1, 0, 1]]
    assert places.visible[0, 0].int().tolist() == [[1, 1, 1, *row] for row in leads]
    assert places.visible[1, 0, 0].int().tolist() == [1, 0, 0, 1, 0, 0]


def test_a_node_stands_in_every_group_with_a_path_through_it(monkeypatch):
    """Catches a path whose beginning stands in another group, where it cannot see it."""
    monkeypatch.setattr(scoring, "NODES_IN_GROUP", 1)  # one path in a group
    contexts = drawn_contexts()
    groups = Groups.of(contexts)
    assert groups.prompt.tolist() == [0, 0, 4]
    assert groups.context_at.tolist() == [[1, 2], [1, 3], [5, 0]]
    assert groups.leads[1].int().tolist() == [[1, 0], [1, 1]]
    assert groups.place_of.tolist() == [0, 0, 1, 3, 0, 4]


def test_each_token_of_the_drawing_passes_once():
    model = tiny_llama().eval()
    seen = []
    model.get_input_embeddings().register_forward_pre_hook(lambda module, args: seen.append(args[0].tolist()))
    context_states(model, PROMPT_IDS, COMPLETION_IDS, PROMPT_LENGTHS, drawn_contexts())
    assert seen == [[A, B, C, D, X, Y, Z, U]]


def test_real_tokens_are_those_before_the_padding():
    assert real_tokens(LENGTHS, 3).tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 9, 10]


def test_prompts_are_packed_without_their_padding_and_come_back():
    """Catches padding taken from the wrong side."""
    packed = PackedPrompts.of(torch.tensor([[0, 0, 5], [6, 7, 8]]), torch.tensor([1, 3]))
    assert packed.ids.tolist() == [5, 6, 7, 8] and packed.positions.tolist() == [0, 0, 1, 2]
    assert packed.last.tolist() == [0, 3]
    padded = packed.places.padded(packed.ids.float())
    assert padded[0, 0] == 5 and padded[1].tolist() == [6, 7, 8]
    assert packed.places.rows(padded).tolist() == packed.ids.tolist()


def test_what_prompts_begin_with_is_packed_once():
    """The drawing of `PackedPrompts`. Catches a token shared by prompts that differ before it."""
    ids = torch.tensor([[A, B, C], [A, B, D], [0, 0, U], [0, X, B]])
    lengths = torch.tensor([3, 3, 1, 2])
    beginnings = torch.tensor([[1, 2, 3], [1, 2, 4], [0, 0, 5], [0, 6, 7]])
    packed = PackedPrompts.of(ids, lengths, beginnings)
    assert packed.ids.tolist() == [A, B, C, D, U, X, B] and packed.positions.tolist() == [0, 1, 2, 2, 0, 0, 1]
    assert packed.last.tolist() == [2, 3, 4, 6]
    assert packed.places.padded(packed.ids.float())[:2].tolist() == [[A, B, C], [A, B, D]]
    part = PackedPrompts.of(ids[1:3], lengths[1:3], beginnings[1:3])
    assert part.ids.tolist() == [A, B, D, U] and part.last.tolist() == [2, 3]
    mask = (ids != 0).long()
    assert torch.equal(prompt_beginnings(ids, mask), beginnings)


@pytest.mark.parametrize("nodes", [1, 2, 3])
def test_the_states_do_not_depend_on_the_groups(monkeypatch, nodes):
    """Catches a query that reads what stands beside it and does not lead to it."""
    model = tiny_llama().eval().double()
    contexts = drawn_contexts()
    given = (model, PROMPT_IDS, COMPLETION_IDS, PROMPT_LENGTHS, contexts)
    side_by_side = context_states(*given)
    monkeypatch.setattr(scoring, "NODES_IN_GROUP", nodes)
    torch.testing.assert_close(context_states(*given), side_by_side, rtol=0, atol=1e-6)
