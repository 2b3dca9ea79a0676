"""The written-out pass against transformers' own, on every kind of model that takes it."""

import pytest
import torch
from transformers import Qwen2Config, Qwen2ForCausalLM

from shared.engine import decoding
from shared.engine.decoding import CachedDecoder, LlamaDecoder, group_size, start
from shared.engine.llama import attention, hidden_states, llama_in
from shared.logps import completion_logps
from shared.models import add_lora
from shared.engine.sampling import Sampling
from shared.rollout import sample
from tests.conftest import tiny_gpt2, tiny_llama

PROMPTS = ["abc", "d", "efghij", "ab", "d"]


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def tiny_qwen(**options) -> Qwen2ForCausalLM:
    """Biases at queries, keys and values, and an output matrix of its own."""
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=12, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=64, initializer_range=0.3, tie_word_embeddings=False,
        pad_token_id=0, bos_token_id=None, eos_token_id=1, **options,
    )
    model = Qwen2ForCausalLM(config)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3, generator=seeded())  # biases start at 0 otherwise
    return model.eval()


def tiny_lora():
    model = add_lora(tiny_llama().eval(), r=4)
    for name, parameter in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=0.3, generator=seeded())  # adapters that do something
    return model


MODELS = {"llama": lambda: tiny_llama().eval(), "qwen2": tiny_qwen, "lora": tiny_lora}


@pytest.fixture(params=MODELS)
def llama_shaped(request):
    return MODELS[request.param]()


def transformers_only(monkeypatch):
    """As if no model were Llama-shaped."""
    monkeypatch.setattr("shared.logps.llama_in", lambda model: None)
    monkeypatch.setattr("shared.engine.decoding.llama_in", lambda model: None)


def test_hidden_states_are_those_of_transformers(llama_shaped):
    ids = torch.randint(2, 12, (1, 9), generator=seeded())

    def attend(i, q, k, v):
        return attention(q[None], k[None], v[None], causal=True)[0]

    llama = llama_in(llama_shaped)
    with torch.no_grad():
        ours = llama.lm_head(hidden_states(llama, ids[0], torch.arange(9), attend))
        torch.testing.assert_close(ours, llama_shaped(input_ids=ids).logits[0], rtol=1e-4, atol=1e-5)


def test_sampling_and_scoring_are_those_of_transformers(llama_shaped, tokenizer, monkeypatch):
    """Catches a mask, a position or a place that is off by one, in sampling and in scoring, gradients included."""
    llama_shaped = llama_shaped.double()  # little rounding, and gradients of peaked models are large numbers
    results = []
    for transformers in (False, True):
        if transformers:
            transformers_only(monkeypatch)
        rollout = sample(llama_shaped, tokenizer, PROMPTS, 4, Sampling(10), seed=0)
        logps, entropy = completion_logps(llama_shaped, rollout, with_entropy=True)
        llama_shaped.zero_grad()
        (logps + entropy).sum().backward()
        gradients = [p.grad.clone() for p in llama_shaped.parameters() if p.requires_grad]
        results.append((rollout.completion_ids, rollout.old_logps, logps, entropy, gradients))
    torch.testing.assert_close(*results, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_completions_of_a_group_do_not_see_each_other(k, tokenizer, monkeypatch):
    """Every grouping draws the same tokens, and so does a decoder without groups; rows leave as they end."""
    model = tiny_llama().eval()
    monkeypatch.setattr(decoding, "group_size", lambda *sizes: k)
    grouped = sample(model, tokenizer, PROMPTS, 4, Sampling(10), seed=0)
    transformers_only(monkeypatch)
    alone = sample(model, tokenizer, PROMPTS, 4, Sampling(10), seed=0)
    assert grouped.completions == alone.completions
    torch.testing.assert_close(grouped.old_logps, alone.old_logps, rtol=1e-5, atol=1e-5)


def test_a_decoder_goes_on_with_the_rows_that_it_keeps():
    """The fast decoder beside the general one. Catches a whole group that leaves and shifts the others' places."""
    model = tiny_llama().eval()
    ids, mask = torch.tensor([[0, 2, 3], [4, 5, 6], [0, 0, 7]]), torch.tensor([[0, 1, 1], [1, 1, 1], [0, 0, 1]])
    rows = torch.arange(3).repeat_interleave(4)
    with torch.no_grad():
        decoders = LlamaDecoder(model, rows, k=4, room=6), CachedDecoder(model, ids, mask, rows)
        decoders[0].prefill(ids, torch.tensor([2, 3, 1]))
        torch.testing.assert_close(decoders[0].logits, decoders[1].logits, rtol=1e-4, atol=1e-5)
        for kept in (range(12), [1, 2, 3, 8, 9, 11], [0, 4, 5], [1, 2]):
            for decoder in decoders:
                decoder.keep(list(kept))
                decoder.step(torch.arange(2, 2 + len(kept)) % 12)
            torch.testing.assert_close(decoders[0].logits, decoders[1].logits, rtol=1e-4, atol=1e-5)


def test_decoding_reads_nothing_back_from_the_device():
    """Catches a mask as an index, or a number taken out of a tensor: each makes the host wait for a GPU, at each token.

    On the meta device tensors have shapes and no values, so whatever asks for a value raises.
    """
    model = tiny_llama().eval().to("meta")
    ids = torch.tensor([[0, 2, 3], [4, 5, 6], [0, 0, 7]], device="meta")
    rows = torch.arange(3).repeat_interleave(4).to("meta")
    with torch.no_grad():
        decoder = start(model, ids, ids, rows, num_generations=4, room=6, prompt_lengths=torch.tensor([2, 3, 1]))
        decoder.step(torch.zeros(12, dtype=torch.long, device="meta"))
        decoder.keep([0, 2, 9])
        decoder.step(torch.zeros(3, dtype=torch.long, device="meta"))
    assert isinstance(decoder, LlamaDecoder) and decoder.logits.shape == (3, 12)


def test_under_autocast_the_cache_is_of_the_half_precision_type():
    """Catches keys left in float32 by their rotation: the whole cache would be converted anew at each token."""
    model = tiny_llama().eval()
    ids = torch.tensor([[2, 3], [4, 5]])
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        decoder = start(model, ids, ids, torch.tensor([0, 1]), 1, 4, torch.tensor([2, 2]))
        decoder.step(torch.tensor([6, 7]))
    kinds = {cache.dtype for cache in [*decoder.keys, *decoder.values, decoder.mask]}
    assert kinds == {torch.bfloat16}


def test_one_token_each(tokenizer, monkeypatch):
    """Completions of one token have no token to read: only the prompts pass."""
    model = tiny_llama().eval()
    rollout = sample(model, tokenizer, PROMPTS, 4, Sampling(1), seed=0)
    torch.testing.assert_close(completion_logps(model, rollout)[0], rollout.old_logps, rtol=1e-5, atol=1e-5)


def test_scoring_computes_no_prompt_twice_and_no_padding(tokenizer):
    model = tiny_llama().eval()
    rollout = sample(model, tokenizer, PROMPTS, 4, Sampling(10), seed=0)
    seen = []
    model.get_input_embeddings().register_forward_pre_hook(lambda module, args: seen.append(args[0].numel()))
    completion_logps(model, rollout)
    assert seen == [sum(map(len, PROMPTS)) + int((rollout.lengths - 1).sum())]


def test_only_models_of_this_shape_take_this_pass():
    assert llama_in(tiny_gpt2()) is None and llama_in(torch.nn.Linear(2, 2)) is None
    assert llama_in(tiny_qwen(use_sliding_window=True, sliding_window=4, max_window_layers=0)) is None
    lora = tiny_lora()
    assert llama_in(lora) is lora.get_base_model()


def test_a_group_is_not_larger_than_pays():
    """The keys of the others are read in vain; with long completions that is most of what is read."""
    assert group_size(8, P=40, C=16) == 8 and group_size(8, P=40, C=256) == 4 and group_size(7, P=4, C=1000) == 1
