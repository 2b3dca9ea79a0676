"""A gradient that is taken in pieces, for lack of memory, is that of the whole."""

from dataclasses import replace

import pytest
import torch

from shared import updates
from shared.engine import piece_size
from shared.grpo import GRPO, collect
from tests.fakes import tiny_llama
from tests.grpo import CONFIG, ROWS, longer_is_better, parameters


@pytest.mark.parametrize("loss_type, weight", [("grpo", 16), ("dr_grpo", 16), ("dapo", 43)])
def test_a_piece_weighs_as_its_loss_divides(tokenizer, loss_type, weight):
    """dapo divides by tokens, the other two by completions. Catches wrong weights of the pieces of a gradient."""
    experience = collect(tiny_llama().eval(), tokenizer, ROWS, longer_is_better, CONFIG)
    experience.rollout.lengths[:] = torch.tensor([2, 3, 2, 3] * 3 + [2, 3, 2, 6])
    algorithm = GRPO(tiny_llama(), tokenizer, longer_is_better, replace(CONFIG, loss_type=loss_type))
    assert algorithm.weight(experience) == weight


def test_no_piece_is_larger_than_it_may_be(tokenizer):
    """Catches a cut into as many parts as fit on average, of which the larger ones do not."""
    experience = collect(tiny_llama().eval(), tokenizer, ROWS * 2, longer_is_better, CONFIG)
    one_prompt = experience.rollout.completion_ids.numel() // 8 * 12
    assert [len(piece.rollout.prompts) for piece in updates.pieces(experience, 12, int(1.5 * one_prompt))] == [1] * 8
    assert [len(piece.rollout.prompts) for piece in updates.pieces(experience, 12, 3 * one_prompt)] == [3, 3, 2]


@pytest.mark.parametrize("loss_type", ["grpo", "dapo", "dr_grpo"])
def test_the_gradient_in_pieces_is_that_of_the_whole(loss_type, tokenizer, monkeypatch):
    """Catches pieces that all weigh the same although their completions or prompts differ in length."""
    config = replace(CONFIG, loss_type=loss_type, beta=0.1, entropy_coef=0.01, max_new_tokens=8, prompts_per_step=3)
    rows = [{"prompt": prompt, "answer": "a"} for prompt in ("abcdef", "b", "cd")]
    results = []
    for at_once in (1 << 24, 1):
        model = tiny_llama().eval()
        experience = collect(model, tokenizer, rows, longer_is_better, config, reference=tiny_llama(1))
        monkeypatch.setattr(piece_size, "LOGITS_AT_ONCE", at_once)
        assert len(updates.pieces(experience, 12, at_once)) == (3 if at_once == 1 else 1)
        assert len(set(experience.rollout.lengths.view(3, 4).sum(dim=1).tolist())) > 1, (
            "or equal weights would be right"
        )
        algorithm = GRPO(model, tokenizer, longer_is_better, config)
        metrics = updates.update(algorithm, experience, config, torch.optim.SGD(model.parameters(), lr=0.1))
        results.append((metrics, parameters(model)))
    (whole, moved), (pieces, moved_in_pieces) = results
    assert pieces == pytest.approx(whole, rel=1e-4, abs=1e-6)
    torch.testing.assert_close(moved_in_pieces, moved, rtol=0, atol=1e-6)
