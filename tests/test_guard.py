"""The guard against models that are wrong on purpose, each in one place."""

import warnings
from dataclasses import replace
from itertools import product

import pytest
import torch
from transformers import GPT2LMHeadModel

from shared import rollout
from shared.constrain import answer_trie
from shared.engine import llama, piece_size
from shared.engine.decoding import LlamaDecoder
from shared.engine.llama import llama_in
from shared.engine.lockstep import LockstepDecoder
from shared.engine.sampling import Sampling
from shared.guard import HALF_PRECISION, GuardReport, UntrustedModel, score_in_parts, unequal_pair, verify
from shared.logps import completion_logps
from tests.conftest import few_of
from tests.fakes import tiny_gpt2
from tests.families import PROMPTS, RIGHT, build, draw

AS_LONG = ["abc", "dea", "efg"]


class DeafToPadding(GPT2LMHeadModel):
    """Sees the padding."""

    def forward(self, attention_mask=None, **options):
        seen = None if attention_mask is None else torch.ones_like(attention_mask)
        return super().forward(attention_mask=seen, **options)


class DeafToPositions(GPT2LMHeadModel):
    """Counts its positions from the padding."""

    def forward(self, position_ids=None, **options):
        return super().forward(**options)


class Forgetful(GPT2LMHeadModel):
    """Right in one pass; but token by token, it is half a step ahead of itself."""

    def forward(self, position_ids=None, use_cache=None, **options):
        shift = 1 if use_cache and position_ids.size(1) == 1 else 0
        return super().forward(
            position_ids=None if position_ids is None else position_ids + shift, use_cache=use_cache, **options
        )


def wrong(kind: type) -> GPT2LMHeadModel:
    model = tiny_gpt2().eval()
    model.__class__ = kind
    return model


def refusal_of(model: torch.nn.Module, prompts: list[str] = PROMPTS) -> str:
    with pytest.raises(UntrustedModel) as refused:
        verify(model, draw(model, prompts=prompts))
    return str(refused.value)


GUARDED = ["GPT-2", "Llama", "Qwen2-MoE", "Gemma 3", "LFM2", "Falcon-H1", "Mamba-2"]
PRECISIONS = ["float32", "bfloat16", "autocast"]
FEW_GUARDED = [
    *product(GUARDED, ["float32"]),
    *product(["Llama", "Falcon-H1"], ["bfloat16"]),
    *product(["GPT-2", "Qwen2-MoE"], ["autocast"]),
]


@pytest.mark.parametrize("case", few_of(product(GUARDED, PRECISIONS), FEW_GUARDED), ids=lambda case: " in ".join(case))
def test_right_models_pass(case):
    """Catches limits that refuse what only rounds, and an autocast that one of the passes leaves out."""
    name, precision = case
    model = build(RIGHT[name]).to(torch.bfloat16 if precision == "bfloat16" else torch.float32)
    with warnings.catch_warnings(), torch.autocast("cpu", torch.bfloat16, enabled=precision == "autocast"):
        warnings.simplefilter("error", UserWarning)
        report = verify(model, draw(model))
    assert report.trusted and not report.fell_back
    assert (report.limit.mean == HALF_PRECISION.mean) == (precision != "float32")
    assert precision != "float32" or max(report.sampling.largest, report.scoring.largest) < 1e-4


@pytest.mark.parametrize("kind", [DeafToPadding, DeafToPositions])
@pytest.mark.parametrize("prompts", [PROMPTS, AS_LONG], ids=["unequal", "equal"])
def test_a_model_that_is_wrong_only_when_padded_is_refused(kind, prompts):
    """Sampling and scoring pad alike and agree. With prompts of one length nothing is padded yet; later ones may be."""
    sentence = refusal_of(wrong(kind), prompts)
    assert kind.__name__ in sentence and "padding or positions" in sentence


def test_a_model_whose_cache_is_wrong_is_refused():
    """Its own pass and scoring agree: only the comparison with what was sampled shows it."""
    assert "its cache is not right" in refusal_of(wrong(Forgetful))


def test_a_model_whose_weights_are_not_finite_is_refused():
    """Catches `nan > limit`, which is False."""
    model = tiny_gpt2().eval()
    rollout = draw(model)
    with torch.no_grad():
        model.transformer.wte.weight[3] = torch.nan
    with pytest.raises(UntrustedModel):
        verify(model, rollout)


def turn_the_wrong_way(x, cos, signed_sin):
    return torch.addcmul(x * cos, x.roll(x.size(-1) // 2, dims=-1), -2 * signed_sin)


@pytest.mark.parametrize("name", ["Llama", "Qwen2"])
@pytest.mark.parametrize("lora", [False, True], ids=["full", "lora"])
def test_a_fast_path_that_is_wrong_is_left_for_the_general_one(name, lora, monkeypatch):
    """Both sampler and scorer turn wrongly, so they agree. Said once; what is sampled then is right."""
    model = build(RIGHT[name], lora)
    monkeypatch.setattr(llama, "rotate", turn_the_wrong_way)
    with pytest.warns(UserWarning, match="is not right for this .*ForCausalLM.*taken from now on"):
        report = verify(model, draw(model))
    assert report.fell_back and llama_in(model) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert not verify(model, draw(model)).fell_back


@pytest.mark.parametrize("decoder", [LlamaDecoder, LockstepDecoder])
def test_a_fast_decoder_that_is_wrong_is_left_too(decoder, monkeypatch):
    """Scoring is right, sampling is not: the cache is the fast path's own, and the model is not to blame."""
    model = build(RIGHT["Llama"])
    in_lockstep = decoder is LockstepDecoder
    monkeypatch.setattr(rollout, "takes_lockstep", lambda model: in_lockstep and llama_in(model) is not None)
    step = decoder.step

    def late(decoder, *nodes):
        if in_lockstep:
            decoder.position += 2
        else:
            decoder.cache.next_position = [position + 2 for position in decoder.cache.next_position]
        return step(decoder, *nodes)

    monkeypatch.setattr(decoder, "step", late)
    with pytest.warns(UserWarning, match="taken from now on"):
        assert verify(model, draw(model)).fell_back
    assert verify(model, draw(model)).trusted


SAMPLINGS = {
    "cold": Sampling(8, temperature=0.5),
    "hot": Sampling(8, temperature=2.0),
    "greedy": Sampling(8, temperature=0.0),
    "top-k": Sampling(8, top_k=3),
    "top-p": Sampling(8, top_p=0.7),
}


@pytest.mark.parametrize("name", SAMPLINGS)
def test_the_comparisons_are_of_the_distribution_that_was_sampled(name):
    model = tiny_gpt2().eval()
    rollout = draw(model, SAMPLINGS[name])
    assert verify(model, rollout).trusted
    if name != "greedy":  # whose log-probabilities are those at temperature 1
        with pytest.raises(UntrustedModel):
            verify(model, replace(rollout, sampling=Sampling(8)))


def test_a_constraint_is_part_of_the_distribution(tokenizer):
    model = tiny_gpt2().eval()
    rollout = draw(model, constraint=answer_trie(tokenizer, ["ab", "abc", "cj"]))
    assert verify(model, rollout).trusted
    with pytest.raises(UntrustedModel):
        verify(model, replace(rollout, constraint=None))


def test_one_token_may_jump_where_rounding_can_tip_a_choice():
    """The last token that top-k keeps may go over the cut and take its probability along: no fault of the model."""
    model = tiny_gpt2().eval()
    rollout = draw(model)
    rollout.old_logps[0, 0] += 0.02
    with pytest.raises(UntrustedModel):
        verify(model, rollout)
    rollout = draw(model, Sampling(8, top_k=11))
    rollout.old_logps[0, 0] += 0.02
    assert verify(model, rollout).trusted


def test_the_pair_is_of_unequal_length_and_padded(model):
    for prompts in (PROMPTS, AS_LONG, ["abc"]):
        pair = unequal_pair(draw(model, prompts=prompts))
        longer, shorter = pair.prompt_mask.sum(dim=1).tolist()
        assert longer == max(map(len, prompts)) and 0 < shorter < longer
        assert pair.prompt_mask[1, -shorter:].all(), "what is left is the end of the prompt"
        assert len(pair) == 2


def test_a_large_rollout_is_scored_in_parts(model, monkeypatch):
    """Catches rows that come back in another order, and a narrower part that shifts its tokens."""
    rollout = draw(model)
    whole, _ = completion_logps(model, rollout)
    monkeypatch.setattr(piece_size, "LOGITS_AT_ONCE", 1)
    torch.testing.assert_close(score_in_parts(model, rollout), whole, rtol=1e-4, atol=1e-5)


def test_the_guard_leaves_the_model_as_it_was():
    model = tiny_gpt2(dropout=0.5).train()
    rollout = draw(model)
    before = torch.get_rng_state()
    assert isinstance(verify(model, rollout), GuardReport)
    assert model.training and all(p.grad is None for p in model.parameters())
    assert torch.equal(torch.get_rng_state(), before)
