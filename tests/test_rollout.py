"""Oracles: `model.generate` one prompt at a time, and a plain padded forward pass over prompt and completion."""

import pytest
import torch

from shared.constrain import answer_trie
from shared.engine.sampling import Sampling, draw, keep_likely, position_ids
from shared.logps import completion_logps, plain_logps
from shared.models import eos_token_ids
from shared.rollout import encode_prompts, length_mask, sample
from tests.fakes import letter_tokenizer, tiny_gpt2, tiny_llama

PROMPTS = ["abc", "d", "efghij", "ab", "d"]


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_greedy_equals_one_at_a_time_generate(model, tokenizer):
    """Catches left padding that shifts positions, learned ones included, and rows mixed up when ended ones leave."""
    rollout = sample(model, tokenizer, PROMPTS, 1, Sampling(max_new_tokens=12, temperature=0))
    for prompt, ids, length in zip(PROMPTS, rollout.completion_ids, rollout.lengths):
        inputs = tokenizer(prompt, return_tensors="pt", return_token_type_ids=False)
        alone = model.generate(**inputs, max_new_tokens=12, do_sample=False)[0, inputs["input_ids"].size(1) :]
        assert ids[:length].tolist() == alone.tolist()


def test_old_logps_are_those_of_the_distribution_that_was_sampled(model, tokenizer):
    """Catches the temperature forgotten in the log-probabilities."""
    rollout = sample(model, tokenizer, PROMPTS, 3, Sampling(10, temperature=0.7), seed=0)
    with torch.no_grad():
        torch.testing.assert_close(rollout.old_logps, plain_logps(model, rollout), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "sampling", [Sampling(8), Sampling(8, 0.7), Sampling(8, 1.3, top_k=4), Sampling(8, 1.0, top_p=0.6)]
)
@pytest.mark.parametrize("constrained", [False, True])
def test_the_ratio_is_exactly_one_before_the_first_update(model, tokenizer, sampling, constrained):
    trie = answer_trie(tokenizer, ["ab", "abc", "j", "dd"]) if constrained else None
    rollout = sample(model, tokenizer, PROMPTS, 4, sampling, constraint=trie, seed=0)
    logps, _ = completion_logps(model, rollout)
    torch.testing.assert_close((logps - rollout.old_logps).exp(), torch.ones_like(logps), rtol=0, atol=1e-5)


def test_shared_prompt_scoring_equals_the_plain_padded_forward_in_value_and_gradient(model, tokenizer):
    """Catches gradients that stop at the prompt's cache, or that count it once instead of once per completion."""
    model = model.double()  # little rounding (Llama normalises in float32 all the same)
    rollout = sample(model, tokenizer, PROMPTS, 4, Sampling(10), seed=0)
    weight = torch.randn(rollout.old_logps.shape, generator=seeded(1), dtype=torch.float64)
    gradients = []
    for logps in (completion_logps(model, rollout)[0], plain_logps(model, rollout)):
        model.zero_grad()
        (logps * weight).sum().backward()
        gradients.append([p.grad.clone() for p in model.parameters()])
    torch.testing.assert_close(completion_logps(model, rollout)[0], plain_logps(model, rollout), rtol=0, atol=1e-5)
    torch.testing.assert_close(gradients[0], gradients[1], rtol=0, atol=1e-5)


def test_draw_takes_each_token_with_its_probability_and_never_an_impossible_one():
    """Catches a cumulative sum searched from the wrong side: it would draw a token of probability 0 when u is 0."""
    probs = torch.tensor([0.0, 0.2, 0.0, 0.5, 0.3, 0.0])
    u = torch.cat([torch.zeros(1), torch.rand(19_998, generator=seeded()), torch.tensor([1 - 2**-24])])
    counts = draw(probs.expand(20_000, -1), u).bincount(minlength=6)
    assert counts[probs == 0].sum() == 0
    torch.testing.assert_close(counts / 20_000, probs, rtol=0, atol=0.015)  # four standard errors; seeded
    certain = torch.zeros(50_000, 300)
    certain[:, 7] = 1.0
    assert (draw(certain, torch.rand(50_000, generator=seeded())) == 7).all()


def test_poisoned_padding_changes_nothing(model, tokenizer):
    """Catches a real token that sees what stands in the padding, on either side."""
    rollout = sample(model, tokenizer, PROMPTS, 2, Sampling(10), seed=0)
    clean, _ = completion_logps(model, rollout)
    rollout.prompt_ids.masked_fill_(rollout.prompt_mask == 0, 7)
    rollout.completion_ids.masked_fill_(rollout.completion_mask == 0, 9)
    torch.testing.assert_close(completion_logps(model, rollout)[0], clean, rtol=1e-6, atol=1e-6)


def test_eos_counts_when_pad_is_eos(model):
    """Catches the mask made from `ids != pad`: with pad = EOS it drops the EOS that the model chose."""
    tokenizer = letter_tokenizer(pad_is_eos=True)
    rollout = sample(model, tokenizer, PROMPTS, 8, Sampling(12), seed=0)
    ended = ~rollout.truncated
    assert ended.any()
    last = rollout.completion_ids.gather(1, rollout.lengths[:, None] - 1)[:, 0]
    assert (last[ended] == tokenizer.eos_token_id).all()
    assert (rollout.old_logps.gather(1, rollout.lengths[:, None] - 1)[ended] < 0).all()


def test_the_first_of_several_eos_ends_a_completion(tokenizer):
    model = tiny_llama().eval()
    model.generation_config.eos_token_id = [1, 5, 6]
    rollout = sample(model, tokenizer, PROMPTS, 8, Sampling(12), seed=0)
    for ids, length, truncated in zip(rollout.completion_ids.tolist(), rollout.lengths.tolist(), rollout.truncated):
        ends = [token in (1, 5, 6) for token in ids[:length]]
        assert not any(ends[:-1]) and ends[-1] == (not truncated)
    for configured, all_of_them in (([1, 5, 6], [1, 5, 6]), ([5, 6], [1, 5, 6]), (5, [1, 5]), (None, [1])):
        model.generation_config.eos_token_id = configured
        assert eos_token_ids(model, tokenizer) == all_of_them, "the tokenizer's and the model's own"


def test_truncated_completions_are_known_and_keep_all_their_tokens(model, tokenizer):
    rollout = sample(model, tokenizer, PROMPTS, 16, Sampling(8), seed=0)
    assert rollout.truncated.any() and (~rollout.truncated).any()
    assert (rollout.lengths[rollout.truncated] == 8).all()


@pytest.mark.parametrize("make", [tiny_llama, tiny_gpt2])
def test_dropout_does_not_make_sampling_and_scoring_disagree(make, tokenizer):
    model = make(dropout=0.5).train()
    rollout = sample(model, tokenizer, PROMPTS, 4, Sampling(8), seed=0)
    logps, _ = completion_logps(model, rollout)
    torch.testing.assert_close(logps, rollout.old_logps, rtol=1e-5, atol=1e-5)
    assert model.training, "sampling and scoring must leave the model in the mode they found it in"


def test_completions_are_grouped_by_prompt_and_seeded(model, tokenizer):
    first, again = (sample(model, tokenizer, PROMPTS, 4, Sampling(8), seed=0) for _ in range(2))
    assert first.completions == again.completions
    assert first.repeated(PROMPTS)[:5] == ["abc"] * 4 + ["d"]
    assert len(set(first.completions[:4])) > 1


def test_a_repeated_prompt_is_prefilled_once(tokenizer):
    """The same prompt twice is one row of the prefill, and both copies come out right."""
    model = tiny_llama().eval()
    seen = []
    model.get_input_embeddings().register_forward_pre_hook(lambda m, args: seen.append(args[0].numel()))
    sample(model, tokenizer, ["abc", "d", "abc"], 4, Sampling(3), seed=0)
    assert seen[0] == len("abc") + len("d")


def test_only_allowed_answers_come_out(model, tokenizer):
    answers = ["ab", "abc", "j", "dd"]
    trie = answer_trie(tokenizer, answers)
    rollout = sample(model, tokenizer, PROMPTS, 32, Sampling(6), constraint=trie, seed=0)
    assert set(rollout.completions) <= set(answers) and not rollout.truncated.any()
    assert len(set(rollout.completions)) > 1


def test_constrained_probabilities_of_all_answers_add_up_to_one(model, tokenizer):
    """Catches log-probabilities that are not renormalised over the allowed tokens."""
    answers = ["ab", "abc", "j", "dd"]
    trie = answer_trie(tokenizer, answers)
    rollout = sample(model, tokenizer, ["abc"], 400, Sampling(6), constraint=trie, seed=0)
    probability = dict(zip(rollout.completions, rollout.old_logps.sum(dim=1).exp().tolist()))
    assert sum(probability.values()) == pytest.approx(1, abs=1e-5) and len(probability) == 4
    frequency = sum(c == "j" for c in rollout.completions) / 400
    assert frequency == pytest.approx(probability["j"], abs=0.1)  # four standard errors; seeded


def test_take_cuts_whole_groups(model, tokenizer):
    rollout = sample(model, tokenizer, PROMPTS, 3, Sampling(8), seed=0)
    part = rollout.take([3, 0])
    assert part.prompts == ["ab", "abc"] and part.completions == rollout.completions[9:12] + rollout.completions[:3]
    logps, _ = completion_logps(model, part)
    torch.testing.assert_close(logps, part.old_logps, rtol=1e-5, atol=1e-5)


def test_entropy_is_that_of_the_sampled_distribution(model, tokenizer):
    rollout = sample(model, tokenizer, PROMPTS, 2, Sampling(5), seed=0)
    _, entropy = completion_logps(model, rollout, with_entropy=True)
    G = rollout.num_generations
    logits = model(
        rollout.prompt_ids, attention_mask=rollout.prompt_mask, position_ids=position_ids(rollout.prompt_mask)
    ).logits[:, -1]
    oracle = torch.distributions.Categorical(logits=logits).entropy().repeat_interleave(G)
    torch.testing.assert_close(entropy[:, 0], oracle, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(rollout.entropy, entropy, rtol=1e-4, atol=1e-5)
    shortest = rollout.lengths.view(-1, G).amax(dim=1).argmin().item()
    part = rollout.take([shortest])
    assert torch.equal(part.entropy, rollout.entropy[rollout.rows_of([shortest]), : part.completion_ids.size(1)])


def test_sampling_tells_the_entropy_of_the_distribution_that_was_cut_and_constrained(model, tokenizer):
    """Catches the entropy of the model's own distribution, and that of a neighbouring node."""
    trie = answer_trie(tokenizer, ["abc", "abd", "ca", "d"])
    for options in ({"constraint": trie, "sampling": Sampling(5, temperature=0.7)}, {"sampling": Sampling(5, top_k=3)}):
        rollout = sample(model, tokenizer, PROMPTS, 3, seed=0, **options)
        _, entropy = completion_logps(model, rollout, with_entropy=True)
        torch.testing.assert_close(rollout.entropy, entropy, rtol=1e-4, atol=1e-5)
        assert entropy.max() > 0.1


def test_top_k_and_top_p_keep_what_they_say():
    logits = torch.tensor([0.5, 0.3, 0.15, 0.05]).log()
    assert keep_likely(logits, top_k=2, top_p=1.0).tolist() == [True, True, False, False]
    assert keep_likely(logits, top_k=0, top_p=0.6).tolist() == [True, True, False, False]
    assert keep_likely(logits, top_k=0, top_p=0.01).tolist() == [True, False, False, False]


def test_length_mask_reads_no_ids():
    assert length_mask(torch.tensor([0, 2]), 3).tolist() == [[0, 0, 0], [1, 1, 0]]


def test_prompts_are_padded_on_the_left_whatever_the_tokenizer_says(tokenizer):
    tokenizer.padding_side = "right"
    ids, mask = encode_prompts(tokenizer, ["abc", "d"])
    assert mask.tolist() == [[1, 1, 1], [0, 0, 1]] and ids[1].tolist() == [0, 0, 5]


@pytest.mark.parametrize(
    "prompts, words",
    [([], "no prompts"), ([""], "no tokens"), ("ab", r"given as \[prompt\]"), ([[2, 3]], "no list of texts")],
)
def test_bad_prompts_are_refused_with_a_sentence(tokenizer, prompts, words):
    with pytest.raises(ValueError, match=words):
        sample(tiny_llama(), tokenizer, prompts, 2)


@pytest.mark.parametrize("options", [{"max_new_tokens": 0}, {"temperature": -1}, {"top_k": -1}, {"top_p": 0}])
def test_bad_sampling_is_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        Sampling(**options)
