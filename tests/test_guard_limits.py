"""The guard's parts by hand: what is compared, how far rounding may reach, and what counts as half precision."""

import math
from dataclasses import replace

import pytest
import torch

from shared.engine.sampling import Sampling
from shared.guard import (
    FULL_PRECISION,
    HALF_PRECISION,
    Gap,
    GuardReport,
    compare,
    in_half_precision,
    limit_for,
    longest_and_shortest,
    refusal,
    unequal_pair,
)
from shared.logps import plain_logps
from shared.rollout import sample
from tests.fakes import tiny_gpt2
from tests.test_rollout_record import record


def test_a_gap_is_of_real_tokens_in_both_directions():
    """Catches differences that cancel, padding that counts, and a mean over the padding."""
    logps = torch.tensor([[-1.0, -2.0, 99.0]])
    others = torch.tensor([[-1.5, -1.75, 0.0]])
    gap = Gap.of((logps - others)[torch.tensor([[True, True, False]])])
    assert gap == Gap(mean=0.375, largest=0.5)
    assert str(gap) == "by 0.38 nats a token on average and 0.5 at most"


def test_a_gap_is_within_a_limit_that_it_reaches_and_nan_within_none():
    limit = Gap(0.1, 0.5)
    assert limit.within(limit) and not Gap(0.2, 0.5).within(limit) and not Gap(0.1, 0.6).within(limit)
    assert not Gap(math.nan, 0.0).within(limit) and not Gap(0.0, math.nan).within(limit)


def test_a_model_is_trusted_when_both_comparisons_are_within():
    good = Gap(0.0, 0.0)
    bad = Gap(1.0, 1.0)
    trusted = [GuardReport(a, b, FULL_PRECISION).trusted for a in (good, bad) for b in (good, bad)]
    assert trusted == [True, False, False, False] and not GuardReport(good, good, FULL_PRECISION).fell_back


def test_the_limits_are_those_that_were_measured():
    assert FULL_PRECISION == Gap(1e-3, 1e-2) and HALF_PRECISION == Gap(5e-2, math.inf)


@pytest.mark.parametrize(
    "sampling, limit",
    [
        (Sampling(), FULL_PRECISION),
        (Sampling(temperature=1.5), FULL_PRECISION),
        (Sampling(temperature=2.0), FULL_PRECISION),
        (Sampling(temperature=0.0), FULL_PRECISION),
        (Sampling(temperature=0.5), Gap(2e-3, 2e-2)),
        (Sampling(top_k=1), Gap(1e-3, math.inf)),
        (Sampling(top_p=0.9), Gap(1e-3, math.inf)),
    ],
    ids=str,
)
def test_a_low_temperature_and_a_cut_widen_the_limit(sampling, limit):
    """A division by 0.5 doubles what rounding does; greedy scores are at temperature 1, and a high one shrinks it."""
    assert limit_for(tiny_gpt2(), sampling) == limit


@pytest.mark.parametrize("name", ["num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"])
def test_rounding_may_tip_the_choice_of_an_expert(name):
    """Catches a mixture whose one token in a thousand goes to another expert, and is refused; one expert is none."""
    model = tiny_gpt2()
    for number, largest in ((None, 1e-2), (1, 1e-2), (2, math.inf)):
        setattr(model.config, name, number)
        assert limit_for(model, Sampling()).largest == largest


def test_half_precision_is_known_in_each_of_its_forms(monkeypatch):
    model = tiny_gpt2()
    assert not in_half_precision(model) and limit_for(model.double(), Sampling()) == FULL_PRECISION
    assert in_half_precision(tiny_gpt2().bfloat16()) and limit_for(tiny_gpt2().half(), Sampling()) == HALF_PRECISION
    with torch.autocast("cpu", torch.bfloat16):
        assert in_half_precision(tiny_gpt2())
    monkeypatch.setattr(torch, "get_float32_matmul_precision", lambda: "high")
    assert in_half_precision(tiny_gpt2()), "TF32"


@pytest.mark.parametrize("dtype, half", [(torch.bfloat16, True), (torch.float32, False), (None, False)])
def test_products_of_4_bit_weights_have_a_precision_of_their_own(dtype, half):
    """bitsandbytes keeps it as `compute_dtype`. Whole numbers, as 4-bit weights are, are no half precision."""
    model = tiny_gpt2()
    model.lm_head.compute_dtype = dtype
    model.register_parameter("packed", torch.nn.Parameter(torch.zeros(2, dtype=torch.uint8), requires_grad=False))
    assert in_half_precision(model) == half


def test_the_pair_is_the_longest_completions_of_the_longest_and_the_shortest_prompt():
    whole = record()
    pair = unequal_pair(whole)
    assert pair.prompts == ["abcd", "d"] and pair.completions == ["of 1", "of 2"] and pair.num_generations == 1
    assert torch.equal(pair.prompt_ids, whole.prompt_ids[:2]) and torch.equal(pair.prompt_mask, whole.prompt_mask[:2])
    assert pair.prompt_lengths.tolist() == [4, 1] and pair.lengths.tolist() == [2, 4]
    for name in ("completion_ids", "completion_mask", "old_logps", "truncated"):
        assert torch.equal(getattr(pair, name), getattr(whole, name)[[1, 2]]), name
    known = record(policy_mask=whole.completion_mask, beginnings=whole.prompt_ids)
    for name in ("entropy", "contexts", "beginnings", "free_lengths", "policy_mask"):
        assert getattr(known, name) is not None and getattr(unequal_pair(known), name) is None, name
    assert pair.sampling is whole.sampling


def test_of_prompts_of_one_length_the_second_is_its_last_half():
    """Catches a pair without padding, which a model that is deaf to padding would pass; and a mask of the original."""
    for width, half in ((4, 2), (3, 2)):
        mask = torch.ones(3, width, dtype=torch.long)
        lengths = torch.full((3,), width)
        pair = unequal_pair(record(prompt_ids=mask * 5, prompt_mask=mask, prompt_lengths=lengths))
        assert pair.prompt_mask.tolist() == [[1] * width, [0] * (width - half) + [1] * half]
        assert pair.prompt_lengths.tolist() == [width, half] and mask.all()
        assert pair.completions == ["of 1", "of 1"] and pair.completion_ids.size(1) == 2


def test_what_is_compared_is_the_real_tokens_alone(tokenizer):
    """Catches a mean that padding makes smaller: a fault of a tenth of a nat would pass for rounding."""
    model = tiny_gpt2(seed=2).eval()
    rollout = sample(model, tokenizer, ["abcd", "d"], 3, Sampling(8), seed=0)
    assert (rollout.completion_mask == 0).any()
    wrong = replace(rollout, old_logps=rollout.old_logps - 0.25 * rollout.completion_mask)
    assert compare(model, wrong, unequal_pair(wrong)).sampling.mean == pytest.approx(0.25, abs=1e-4)

    pair = unequal_pair(rollout)
    assert (pair.completion_mask == 0).any()
    broken = tiny_gpt2(seed=2).eval()
    forward = broken.forward

    def leaks(input_ids, attention_mask=None, **options):
        out = forward(input_ids=input_ids, attention_mask=attention_mask, **options)
        if len(input_ids) > 1:  # another distribution for a batch than for a row
            out.logits = 2 * out.logits
        return out

    own = plain_logps(broken, pair)
    broken.forward = leaks
    off = (plain_logps(broken, pair) - own).abs()[pair.completion_mask.bool()].mean().item()
    assert compare(broken, rollout, pair).scoring.mean == pytest.approx(off, rel=1e-4)


def test_the_longest_and_the_shortest_prompts_are_looked_at():
    """Catches prompts in the order in which they stand: a fault with long ones would be met in the middle of training."""
    assert longest_and_shortest([5, 1, 4, 2, 3, 9]) == [0, 1, 3, 5]
    assert longest_and_shortest([5, 1, 4, 2, 3, 9], of_each=1) == [1, 5]
    assert longest_and_shortest([3, 3]) == [0, 1]


@pytest.mark.parametrize(
    "limit, told",
    [
        (FULL_PRECISION, "explains 0.001 on average and 0.01 at most. So"),
        (HALF_PRECISION, "explains 0.05 on average. So"),
    ],
)
def test_a_refusal_tells_what_rounding_explains(limit, told):
    """Catches "inf at most", and a limit that is told by half."""
    report = GuardReport(sampling=Gap(1.0, 2.0), scoring=Gap(0.0, 0.0), limit=limit)
    assert told in refusal(tiny_gpt2(), report)
