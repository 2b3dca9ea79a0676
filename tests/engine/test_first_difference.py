"""The first place at which a padded batch departs from its rows, on toy models in which the place is known."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from shared.engine import first_difference
from shared.engine.first_difference import UNKNOWN, blocks_of, departs, first_departure, recording

MASK = torch.tensor([[1, 1, 1, 1], [0, 0, 1, 1]])
IDS = torch.tensor([[1, 2, 3, 4], [0, 0, 2, 1]])


class Block(nn.Module):
    """Adds 1; a leaking one adds 10 times that where its batch has padding, which no block should know."""

    def __init__(self, leaks=False, returns_tuple=False):
        super().__init__()
        self.leaks = leaks
        self.returns_tuple = returns_tuple

    def forward(self, hidden_states):
        out = hidden_states + (10 if self.leaks and len(hidden_states) > 1 else 1)
        return (out, "attention") if self.returns_tuple else out


class Toy(nn.Module):
    """Embeddings that are the ids, and blocks. `calls`: how often each block is called on a batch and on one row."""

    def __init__(self, *blocks, by_keyword=False, calls=(1, 1), embeddings_leak=False, d=(2,)):
        super().__init__()
        self.blocks = nn.ModuleList(blocks)
        self.by_keyword = by_keyword
        self.calls = calls
        self.embeddings_leak = embeddings_leak
        self.d = d
        self.config = SimpleNamespace(get_text_config=lambda decoder: SimpleNamespace(num_hidden_layers=len(blocks)))

    def forward(self, input_ids, attention_mask=None, position_ids=None, use_cache=None):
        assert use_cache is False, "a cache is made that nobody reads"
        several = len(input_ids) > 1
        hidden = input_ids.double().view(*input_ids.shape, *[1] * len(self.d)).expand(*input_ids.shape, *self.d)
        hidden = hidden + (self.embeddings_leak and several)
        for block in self.blocks:
            for _ in range(self.calls[0] if several else self.calls[1]):
                out = block(hidden_states=hidden) if self.by_keyword else block(hidden)
            hidden = out[0] if isinstance(out, tuple) else out
        return SimpleNamespace(logits=hidden)


@pytest.mark.parametrize("returns_tuple", [False, True])
@pytest.mark.parametrize("by_keyword", [False, True])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_first_block_that_departs_is_named(place, by_keyword, returns_tuple):
    """Catches a block named that only hands on, hidden states that are passed by name, and a tuple's second part."""
    blocks = [Block(leaks=n >= place, returns_tuple=returns_tuple) for n in range(3)]
    said = first_departure(Toy(*blocks, by_keyword=by_keyword), IDS, MASK, 1e-3)
    share = 9 / (4 + place + 1)  # 9 too much, of the largest number when it is right: id 4 and a 1 for each block
    assert said == (
        f"the first hidden states that depart are those of blocks.{place}, by {share:.1%} of their largest number"
    )


def test_embeddings_that_depart_are_named():
    said = first_departure(Toy(Block(), embeddings_leak=True), IDS, MASK, 1e-3)
    assert "depart are those of the embeddings, by 25.0% of" in said


def test_blocks_that_agree_are_told_from_blocks_that_are_not_found():
    """Catches one sentence for both: the first says where to look, the second that nobody has looked."""
    assert first_departure(Toy(Block(), Block()), IDS, MASK, 0.0) == "all blocks agree, so it begins after the last one"
    assert first_departure(Toy(), IDS, MASK, 0.0) == "the layer where it begins could not be located" == UNKNOWN


@pytest.mark.parametrize("calls", [(2, 2), (2, 1), (1, 2)])
def test_a_block_that_serves_several_times_is_not_judged(calls):
    """Catches the first call of a shared block compared with another one."""
    assert first_departure(Toy(Block(leaks=True), calls=calls), IDS, MASK, 1e-3) == UNKNOWN


def test_hidden_states_of_another_shape_are_not_judged():
    assert first_departure(Toy(Block(leaks=True), d=(2, 2)), IDS, MASK, 1e-3) == UNKNOWN


def test_the_tolerance_itself_is_rounding_and_not_a_number_is_not(monkeypatch):
    """Catches `<`, and a comparison that a nan passes."""
    model = Toy(Block())
    monkeypatch.setattr(first_difference, "departs", lambda *arguments: 0.25)
    assert "all blocks agree" in first_departure(model, IDS, MASK, 0.25)
    monkeypatch.setattr(first_difference, "departs", lambda *arguments: float("nan"))
    assert "those of the embeddings" in first_departure(model, IDS, MASK, 0.25)


def test_a_difference_is_a_share_of_the_largest_number_and_padding_has_none():
    """Catches a sum or a product for the share, and whatever stands at the padding."""
    batch = torch.tensor([[[1.0], [-7.0]], [[99.0], [2.0]]])
    rows = [torch.tensor([[[1.0], [-8.0]]]), torch.tensor([[[1.5]]])]
    assert departs(batch, rows, torch.tensor([[1, 1], [0, 1]])) == 1 / 8


def test_blocks_are_those_of_the_text_model():
    """Catches the first list of any length, as of experts, and a list taken for layers where none are counted."""
    model = Toy(Block(), Block())
    model.experts = nn.ModuleList([nn.Linear(1, 1)])
    assert list(blocks_of(model)) == ["blocks.0", "blocks.1"]
    asked = []
    model.config = SimpleNamespace(get_text_config=lambda decoder: asked.append(decoder) or SimpleNamespace())
    assert blocks_of(model) == {} and asked == [True]


def test_hooks_are_gone_afterwards():
    """Catches hidden states that a model keeps for as long as it lives."""
    model = Toy(Block())
    with recording(blocks_of(model)) as seen:
        pass
    model(IDS, use_cache=False)
    assert not any(seen.values())
