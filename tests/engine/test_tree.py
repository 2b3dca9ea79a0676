"""Sampling and scoring of groups as trees, against a plain loop that passes over every completion anew."""

from dataclasses import replace
from itertools import product

import pytest
import torch

from shared.constrain import answer_trie
from shared.engine import decoding
from shared.engine.chance import uniforms
from shared.engine.sampling import Sampling, draw, sampling_logits
from shared.logps import completion_logps, plain_logps
from shared.models import eos_token_ids
from shared.rollout import plain_sample, sample
from tests.conftest import few_of
from tests.fakes import tiny_llama
from tests.test_logps import MODELS

pytestmark = pytest.mark.usefixtures("shapes_unchecked")
PROMPTS = ["abc", "d", "efghij", "ab", "d"]  # one of them twice
G = 6
SAMPLINGS = {
    "all tokens": Sampling(7),
    "temperature": Sampling(7, 0.7),
    "top-k": Sampling(7, 1.3, top_k=3),
    "top-p": Sampling(7, 1.0, top_p=0.6),
    "greedy": Sampling(7, 0),
}


def plain_loop(
    model, tokenizer, prompt: str, sampling: Sampling, u: torch.Tensor, trie
) -> tuple[list[int], list[float]]:
    """One completion and its log-probabilities; for every token the whole row passes again."""
    ids = tokenizer(prompt)["input_ids"]
    tokens, logps = [], []
    for t in range(sampling.max_new_tokens):
        state = trie.states(torch.tensor([tokens + [0]]))[:, -1] if trie else None
        logits = model(input_ids=torch.tensor([ids + tokens])).logits[:, -1]  # (1, V)
        probs = sampling_logits(logits, sampling, trie, state).softmax(dim=-1)
        choice = probs.argmax(dim=-1) if sampling.greedy else draw(probs, u[t : t + 1])
        tokens.append(int(trie.token_ids[state][0, choice] if trie else choice))
        logps.append(float(probs[0, choice].log()))
        if tokens[-1] in eos_token_ids(model, tokenizer):
            break
    return tokens, logps


# Each way to sample once, each pass of a model free and constrained.
FEW = (
    ("llama", "free", "all tokens"),
    ("llama", "constrained", "top-p"),
    ("llama", "free", "greedy"),
    ("gpt2 with lora", "free", "top-k"),
    ("gpt2 with lora", "constrained", "temperature"),
)


@pytest.mark.parametrize(
    "names", few_of(product(MODELS, ["free", "constrained"], SAMPLINGS), FEW), ids=lambda names: "-".join(names)
)
@torch.no_grad()
def test_the_tokens_are_those_of_the_plain_loop(names, tokenizer):
    """Catches a child put under the wrong parent, a number u of another row, and a constraint's state left behind."""
    name, kind, sampled = names
    sampling = SAMPLINGS[sampled]
    trie = answer_trie(tokenizer, ["ab", "abc", "abd", "j", "dd"]) if kind == "constrained" else None
    model = MODELS[name]().eval().double()
    rollout = sample(model, tokenizer, PROMPTS, G, sampling, constraint=trie, seed=3, step=5)
    u = uniforms(3, 5, range(len(PROMPTS)), G, sampling.max_new_tokens)
    shared = 0
    if trie is None and not sampling.greedy:  # also holds the definition in `shared.rollout` to it
        by_definition = plain_sample(model, tokenizer, PROMPTS, G, sampling, u)
    else:
        repeated = rollout.repeated(PROMPTS)
        by_definition = [
            plain_loop(model, tokenizer, prompt, sampling, u[b], trie) for b, prompt in enumerate(repeated)
        ]
    for row, (tokens, logps) in enumerate(by_definition):
        n = len(tokens)
        assert rollout.completion_ids[row, :n].tolist() == tokens and rollout.lengths[row] == n
        torch.testing.assert_close(rollout.old_logps[row, :n].tolist(), logps, rtol=0, atol=1e-5)
        shared += n
    assert len(rollout.contexts.unique()) < 0.8 * shared, "completions that share nothing would test nothing"


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_half_a_batch_is_half_of_the_batch(make, tokenizer):
    """In tokens, scores and gradients. Catches contexts numbered across prompts that are cut apart."""
    model = make().eval().double()
    whole = sample(model, tokenizer, PROMPTS, G, Sampling(7), seed=0)
    half = sample(model, tokenizer, PROMPTS[3:], G, Sampling(7), seed=0, places=[3, 4])
    part = whole.take([3, 4])
    assert half.completions == part.completions
    logps, _ = completion_logps(model, whole)
    for rollout in (half, part):
        of_half, _ = completion_logps(model, rollout)
        torch.testing.assert_close(of_half, logps[3 * G :, : of_half.size(1)], rtol=0, atol=1e-5)


@torch.no_grad()
def test_prompts_and_nodes_pass_once_in_sampling_and_in_scoring(tokenizer, monkeypatch):
    """Catches a beginning that is computed for each of its completions, a prompt that is, and padding that passes."""
    monkeypatch.setattr(decoding, "most_in_a_row", lambda P, C: 2 * G)  # the prompt that stands twice shares one row
    model = tiny_llama().eval()
    seen = []
    model.get_input_embeddings().register_forward_pre_hook(lambda module, args: seen.append(args[0].numel()))
    rollout = sample(model, tokenizer, PROMPTS, G, Sampling(7), seed=0)
    distinct = len({prompt[: n + 1] for prompt in PROMPTS for n in range(len(prompt))})  # "ab" begins "abc"
    assert distinct < sum(map(len, set(PROMPTS)))
    nodes = len(rollout.contexts[rollout.completion_mask.bool()].unique()) - len(set(PROMPTS))
    assert nodes < 0.8 * int((rollout.lengths - 1).sum())
    assert sum(seen) == distinct + nodes
    seen.clear()
    completion_logps(model, rollout)
    assert seen == [distinct + nodes]


@pytest.mark.parametrize("answers, nodes", [(["abc", "dd", "j"], 0), (["ab", "ac", "j"], 1)])
def test_what_a_constraint_makes_certain_passes_through_no_layer(tokenizer, answers, nodes, monkeypatch):
    """Three answers that the first token decides; then two that the second does, so that `a` has one node a prompt.

    Catches certain tokens that are computed, and gradients that are lost with them.
    """
    monkeypatch.setattr(decoding, "most_in_a_row", lambda P, C: 8)  # all completions of a prompt share one row
    model = tiny_llama().eval().double()
    trie = answer_trie(tokenizer, answers)
    seen = []
    model.get_input_embeddings().register_forward_pre_hook(lambda module, args: seen.append(args[0].numel()))
    prompts = ["ef", "gh"]
    rollout = sample(model, tokenizer, prompts, 8, Sampling(7), constraint=trie, seed=0)
    assert set(rollout.completions) == set(answers) and not rollout.truncated.any()
    assert sum(seen) == 4 + len(prompts) * nodes
    seen.clear()
    logps, entropy = completion_logps(model, rollout, with_entropy=True)
    assert seen == [4 + len(prompts) * nodes]

    plain = plain_logps(model, rollout)
    torch.testing.assert_close(logps, plain, rtol=0, atol=1e-6)
    torch.testing.assert_close(entropy.cpu(), rollout.entropy, rtol=0, atol=1e-6)
    weight = torch.linspace(0, 1, logps.numel(), dtype=logps.dtype).view_as(logps)
    parameters = list(model.parameters())
    fast = torch.autograd.grad((logps * weight).sum(), parameters, allow_unused=True)
    slow = torch.autograd.grad((plain * weight).sum(), parameters, allow_unused=True)
    torch.testing.assert_close(fast, slow, rtol=1e-5, atol=1e-5)


def test_a_certain_end_that_does_not_fit_is_cut(tokenizer):
    """Catches a completion that is longer than was asked for, or cut and yet called whole."""
    model = tiny_llama().eval()
    trie = answer_trie(tokenizer, ["abcde", "j"])
    rollout = sample(model, tokenizer, ["ef"], 8, Sampling(3), constraint=trie, seed=0)
    assert set(rollout.completions) == {"abc", "j"}
    assert rollout.truncated.tolist() == [completion == "abc" for completion in rollout.completions]
    assert rollout.lengths.tolist() == [3 if completion == "abc" else 2 for completion in rollout.completions]


@pytest.mark.parametrize("make", [MODELS["llama"], MODELS["gpt2"]])
@torch.no_grad()
def test_scoring_passes_over_no_more_completions_than_hold_all_contexts(make, tokenizer):
    """Greedy completions of a prompt are all the same: one of them is enough, on the general path too."""
    model = make().eval()
    rollout = sample(model, tokenizer, PROMPTS, G, Sampling(7, 0), seed=0)
    rows = []
    model.get_output_embeddings().register_forward_hook(lambda module, args, out: rows.append(out[..., 0].numel()))
    completion_logps(model, rollout)
    per_prompt = rollout.completion_ids.size(1) + 1
    assert rows[0] <= len(set(PROMPTS)) * per_prompt


@pytest.mark.usefixtures("wrong_shapes")
def test_contexts_of_other_tokens_are_refused(tokenizer):
    """Catches a rollout that is put together by hand and keeps the numbers of another."""
    rollout = sample(tiny_llama().eval(), tokenizer, PROMPTS, 2, Sampling(7), seed=0)
    with pytest.raises(ValueError, match="contexts=None"):
        replace(rollout, completion_ids=rollout.completion_ids[:, :-1])
    logps, _ = completion_logps(tiny_llama().eval(), replace(rollout, contexts=None))
    torch.testing.assert_close(logps, rollout.old_logps, rtol=1e-5, atol=1e-5)
