"""The record of a rollout: what it says of its completions, and what of it belongs to some of its prompts."""

from dataclasses import fields, replace

import pytest
import torch

from shared.constrain import answer_trie
from shared.engine.sampling import Sampling
from shared.rollout import Rollout, encode_prompts, sample
from tests.fakes import letter_tokenizer, tiny_llama

PROMPTS = ["abcd", "d", "ab"]


def record(**given) -> Rollout:
    """Three prompts with two completions each; token ids are 10 x row + place, so that each is known by sight."""
    lengths = torch.tensor([1, 2, 4, 3, 2, 2])
    ids = torch.arange(6)[:, None] * 10 + torch.arange(4)
    return Rollout(
        **dict(
            prompts=PROMPTS,
            completions=[f"of {row}" for row in range(6)],
            num_generations=2,
            prompt_ids=torch.tensor([[2, 3, 4, 5], [0, 0, 0, 5], [0, 0, 2, 3]]),
            prompt_mask=torch.tensor([[1, 1, 1, 1], [0, 0, 0, 1], [0, 0, 1, 1]]),
            completion_ids=ids,
            completion_mask=(torch.arange(4) < lengths[:, None]).long(),
            old_logps=-ids.float(),
            prompt_lengths=torch.tensor([4, 1, 2]),
            lengths=lengths,
            truncated=torch.tensor([False, False, True, False, False, True]),
            sampling=Sampling(4),
            entropy=ids / 2,
            contexts=ids,
            free_lengths=torch.tensor([1, 1, 3, 3, 1, 2]),
            sampler_logps=-ids / 3,
        )
        | given
    )


def test_lengths_and_what_was_cut_off_are_told():
    """Catches a maximum or a minimum over padding, and a share of completions that ended."""
    ended = record().lengths[~record().truncated]
    assert len(ended) == 4
    assert record().length_metrics == {
        "completions/mean_terminated_length": pytest.approx(sum(ended.tolist()) / 4),
        "completions/mean_length": pytest.approx(14 / 6),
        "completions/min_length": 1.0,
        "completions/max_length": 4.0,
        "completions/clipped_ratio": pytest.approx(2 / 6),
    }
    assert len(record()) == 6


def test_where_no_completion_ended_none_has_a_mean_length():
    """Catches a nan in the log, or a length that no completion has, where max_new_tokens cut all of them."""
    metrics = record(truncated=torch.ones(6, dtype=torch.bool)).length_metrics
    assert metrics["completions/mean_terminated_length"] == 0 and metrics["completions/clipped_ratio"] == 1


def test_what_an_environment_said_is_no_token_of_the_policys():
    """Catches a loss about words that the policy did not draw, and a mean that is divided by their number too."""
    mask = torch.tensor([[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 0, 0], [1, 1, 0, 0]])
    spoken = record(policy_mask=mask)
    assert torch.equal(spoken.loss_mask, mask) and spoken.own_lengths.tolist() == [1, 2, 2, 2, 1, 2]
    alone = record()
    assert torch.equal(alone.loss_mask, alone.completion_mask) and torch.equal(alone.own_lengths, alone.lengths)


def test_rows_and_columns_go_with_their_prompts():
    assert record().rows_of([2, 0]).tolist() == [4, 5, 0, 1]
    assert record().repeated(["x", "y", "z"]) == ["x", "x", "y", "y", "z", "z"]


def test_a_part_is_no_wider_than_it_must_be():
    """Catches a part as wide as the whole, whose padding is computed on, and rows or widths of other prompts."""
    whole = record()
    part = whole.take([2, 1])
    assert part.prompts == ["ab", "d"] and part.completions == ["of 4", "of 5", "of 2", "of 3"]
    assert part.prompt_ids.tolist() == [[2, 3], [0, 5]] and part.prompt_mask.tolist() == [[1, 1], [0, 1]]
    assert part.prompt_lengths.tolist() == [2, 1] and part.lengths.tolist() == [2, 2, 4, 3]
    assert part.truncated.tolist() == [False, True, True, False]
    assert part.free_lengths.tolist() == [1, 2, 3, 3]
    for name in ("completion_ids", "completion_mask", "old_logps", "entropy", "contexts", "sampler_logps"):
        assert torch.equal(getattr(part, name), getattr(whole, name)[[4, 5, 2, 3]]), name
    narrow = whole.take([0])
    for name in ("completion_ids", "completion_mask", "old_logps", "entropy", "contexts", "sampler_logps"):
        assert torch.equal(getattr(narrow, name), getattr(whole, name)[:2, :2]), name
    assert narrow.prompt_mask.tolist() == [[1, 1, 1, 1]]
    assert narrow.prompt_ids.shape == (1, 4) and narrow.sampling is whole.sampling and narrow.num_generations == 2


def test_a_part_has_its_own_games_and_what_was_said_in_them():
    """Catches minibatches that learn the environment's words, or whose rewards read the games of other prompts."""
    whole = record(policy_mask=torch.arange(24).view(6, 4), environments=list("abcdef"))
    part = whole.take([2, 0])
    assert part.environments == ["e", "f", "a", "b"]
    assert part.policy_mask.tolist() == [[16, 17], [20, 21], [0, 1], [4, 5]]


def test_what_is_certain_is_known_only_of_the_sampled_tokens():
    """Catches tokens that were put into a rollout by hand, without contexts, and taken for certain."""
    assert record().uncertain_lengths.tolist() == [1, 1, 3, 3, 1, 2]
    assert record(contexts=None).uncertain_lengths.tolist() == [1, 2, 4, 3, 2, 2]
    assert record(free_lengths=None).uncertain_lengths.tolist() == [1, 2, 4, 3, 2, 2]


def test_what_is_not_known_stays_unknown_in_a_part():
    unknown = ("entropy", "contexts", "beginnings", "free_lengths", "policy_mask", "environments", "sampler_logps")
    part = record(**dict.fromkeys(unknown)).take([1])
    assert all(getattr(part, name) is None for name in unknown)
    assert {field.name for field in fields(Rollout) if field.default is None} == {"constraint", *unknown}


@pytest.mark.usefixtures("wrong_shapes")
def test_contexts_of_other_tokens_are_refused():
    with pytest.raises(ValueError, match=r"contexts is \(6, 4\) and completion_ids \(6, 3\).*take.*contexts=None"):
        replace(record(), completion_ids=record().completion_ids[:, :3])


def test_choices_are_ids_or_columns_of_the_constraint(tokenizer):
    """Catches token ids taken for places among the allowed tokens."""
    plain = record()
    assert plain.states is None and plain.choices is plain.completion_ids
    trie = answer_trie(tokenizer, ["ab", "b"])
    drawn = sample(tiny_llama().eval(), tokenizer, PROMPTS, 4, Sampling(3), constraint=trie, seed=0)
    ids = drawn.constraint.token_ids[drawn.states, drawn.choices]
    real = drawn.completion_mask.bool()
    assert torch.equal(ids[real], drawn.completion_ids[real]) and drawn.states is drawn.states


def test_a_prompt_is_padded_by_pad_else_by_eos_else_by_any_token():
    """Catches a tokenizer without a padding token that ends in a TypeError."""
    tokenizer = letter_tokenizer()
    tokenizer.pad_token = None
    assert encode_prompts(tokenizer, PROMPTS)[0][1].tolist() == [1, 1, 1, 5]
    tokenizer.eos_token = None
    assert encode_prompts(tokenizer, PROMPTS)[0][1].tolist() == [0, 0, 0, 5]


def test_one_completion_is_the_least(tokenizer):
    model = tiny_llama().eval()
    assert len(sample(model, tokenizer, PROMPTS, 1, Sampling(2), seed=0)) == 3
    with pytest.raises(ValueError, match="num_generations is 0; at least one completion"):
        sample(model, tokenizer, PROMPTS, 0)


def test_a_rollout_as_it_comes_is_sampled_with_the_usual_settings(tokenizer):
    """Sixteen tokens at temperature 1, the numbers of step 0, places in the order of the prompts."""
    model = tiny_llama().eval()
    usual = sample(model, tokenizer, PROMPTS, 2, seed=4)
    named = sample(model, tokenizer, PROMPTS, 2, Sampling(16), seed=4, step=0, places=[0, 1, 2])
    assert usual.sampling == Sampling() and usual.completions == named.completions
    assert usual.entropy.device.type == "cpu" and usual.lengths.device.type == "cpu"
    assert sample(model, tokenizer, PROMPTS, 2, seed=4, step=1).completions != usual.completions


def test_behind_the_end_stand_the_padding_token_and_zeros():
    """Catches log-probabilities behind the end that a mean without a mask would count, and pad ids of another kind."""
    tokenizer = letter_tokenizer()
    tokenizer.pad_token = "j"
    drawn = sample(tiny_llama().eval(), tokenizer, PROMPTS, 8, Sampling(8), seed=0)
    behind = drawn.completion_mask == 0
    assert behind.any() and (drawn.completion_ids[behind] == 11).all()
    assert not drawn.old_logps[behind].any() and (drawn.old_logps[~behind] < 0).all()
