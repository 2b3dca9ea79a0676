"""The written-out pass against transformers' own, on every kind of model that takes it."""

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM

from shared.engine import decoding
from shared.engine.cached import CachedDecoder
from shared.engine.decoding import LlamaDecoder, PlainDecoder, plain_decode, start_decoding
from shared.engine.llama import PackedPrompts, attention, hidden_states, llama_in, take_general_path
from shared.engine.sampling import Sampling
from shared.engine.shared_cache import most_in_a_row
from shared.logps import completion_logps
from shared.models import add_lora
from shared.rollout import sample
from tests.fakes import LETTER_IDS, LLAMA_SIZE, tiny_gpt2, tiny_llama

PROMPTS = ["abc", "d", "efghij", "ab", "d"]


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def tiny_qwen(**options) -> Qwen2ForCausalLM:
    """Biases at queries, keys and values, and an output matrix of its own."""
    torch.manual_seed(0)
    config = Qwen2Config(
        **LLAMA_SIZE,
        **LETTER_IDS,
        initializer_range=0.3,
        tie_word_embeddings=False,
        **options,
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


def test_the_last_layer_computes_what_is_wanted_and_nothing_else(llama_shaped):
    """Catches tokens that are left out one layer too early: their keys would be missing to the others."""
    ids = torch.randint(2, 12, (9,), generator=seeded())

    def attend(i, q, k, v):
        return attention(q[None], k[None], v[None], causal=True)[0]

    llama = llama_in(llama_shaped)
    with torch.no_grad():
        everything = hidden_states(llama, ids, torch.arange(9), attend)
        rows = []
        for layer in llama.model.layers:  # two of them
            layer.post_attention_layernorm.register_forward_hook(lambda module, args, out: rows.append(len(out)))
        wanted = torch.tensor([8, 2, 2])
        torch.testing.assert_close(hidden_states(llama, ids, torch.arange(9), attend, wanted), everything[wanted])
    assert rows == [9, 3]


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


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_completions_of_a_row_do_not_see_each_other(k, tokenizer, monkeypatch):
    """However many share a row, the same tokens are drawn, and so they are without a shared cache; rows leave as they end."""
    model = tiny_llama().eval()
    monkeypatch.setattr(decoding, "most_in_a_row", lambda *sizes: k)
    together = sample(model, tokenizer, PROMPTS, 4, Sampling(10), seed=0)
    transformers_only(monkeypatch)
    alone = sample(model, tokenizer, PROMPTS, 4, Sampling(10), seed=0)
    assert together.completions == alone.completions
    torch.testing.assert_close(together.old_logps, alone.old_logps, rtol=1e-5, atol=1e-5)


STEPS = [  # each node a token and its parent; nodes part, end, come in any order, and whole rows leave
    ([2, 3, 4, 5, 6], [0, 0, 1, 2, 2]),
    ([7, 2, 7, 9, 3, 4], [4, 0, 1, 0, 3, 4]),
    ([5, 6], [5, 0]),
    ([8, 9, 2], [1, 0, 1]),
]


def test_a_decoder_goes_on_with_the_nodes_that_it_is_given():
    """Both decoders beside the definition. Catches a row that leaves and shifts the slots of the others."""
    model = tiny_llama().eval()
    ids = torch.tensor([[0, 2, 3], [4, 5, 6], [0, 0, 7]])
    mask = torch.tensor([[0, 1, 1], [1, 1, 1], [0, 0, 1]])
    with torch.no_grad():
        lengths = torch.tensor([2, 3, 1])
        plain = PlainDecoder(model, [[2, 3], [4, 5, 6], [7]])
        fast = LlamaDecoder(model, PackedPrompts.of(ids, lengths), lengths, prompt_of_row=[0, 1, 2], slots=20)
        general = CachedDecoder(model, ids, mask, torch.arange(3))
        for token, parent in [([], []), *STEPS]:
            for decoder in (plain, fast, general) if token else ():
                decoder.step(token, parent)
            torch.testing.assert_close(fast.logits, plain.logits, rtol=1e-4, atol=1e-5)
            torch.testing.assert_close(general.logits, plain.logits, rtol=1e-4, atol=1e-5)
    assert len(fast.cache.prompt_of_row) == 1, "only the third row has nodes left"


def test_the_plain_cache_gives_the_tokens_of_a_model_that_reads_all_anew(llama_shaped):
    """Catches a cache that is not written, a position that begins anew, and a prompt that sees its own end."""
    with torch.no_grad():
        plain = PlainDecoder(llama_shaped, [[2, 3, 7]])
        for token in plain_decode(llama_in(llama_shaped), [2, 3, 7], 8):
            assert token == plain.logits[0].argmax()
            plain.step([token], [0])


def test_decoding_reads_nothing_back_from_the_device():
    """Catches a mask as an index, or a number taken out of a tensor: each makes the host wait for a GPU, at each token.

    On the meta device tensors have shapes and no values, so whatever asks for a value raises.
    """
    model = tiny_llama().eval().to("meta")
    ids = torch.tensor([[0, 2, 3], [4, 5, 6], [0, 0, 7]], device="meta")
    with torch.no_grad():
        decoder, node = start_decoding(model, ids, ids, torch.tensor([2, 3, 1]), prompt_of=[0, 0, 1, 1, 2, 2], room=6)
        assert isinstance(decoder, LlamaDecoder) and node == [0, 0, 1, 1, 2, 2]
        for token, parent in STEPS:
            decoder.step(token, parent)
    assert decoder.logits.shape == (3, 12)


def test_under_autocast_the_cache_is_of_the_half_precision_type():
    """Catches keys left in float32 by their rotation: the whole cache would be converted anew at each token."""
    model = tiny_llama().eval()
    ids = torch.tensor([[2, 3], [4, 5]])
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        decoder, _ = start_decoding(model, ids, ids, torch.tensor([2, 2]), prompt_of=[0, 1], room=4)
        decoder.step([6, 7], [0, 1])
    kinds = {cache.dtype for cache in [*decoder.cache.keys, *decoder.cache.values, decoder.cache.mask]}
    assert kinds == {torch.bfloat16}


def test_one_token_each(tokenizer, monkeypatch):
    """Completions of one token have no token to read: only the prompts pass."""
    model = tiny_llama().eval()
    rollout = sample(model, tokenizer, PROMPTS, 4, Sampling(1), seed=0)
    torch.testing.assert_close(completion_logps(model, rollout)[0], rollout.old_logps, rtol=1e-5, atol=1e-5)


def test_only_models_of_this_shape_take_this_pass():
    assert llama_in(tiny_gpt2()) is None and llama_in(torch.nn.Linear(2, 2)) is None
    assert llama_in(tiny_qwen(use_sliding_window=True, sliding_window=4, max_window_layers=0)) is None
    lora = tiny_lora()
    assert llama_in(lora) is lora.get_base_model()


def test_a_row_is_not_fuller_than_pays():
    """The keys of the others are read in vain; with long completions that is most of what is read."""
    assert [most_in_a_row(P, C) for P, C in ((40, 16), (40, 256), (1, 1))] == [14, 4, 8]


@pytest.mark.parametrize("kind", MODELS)
def test_a_model_is_led_the_general_way_from_then_on(kind):
    """Catches a distrust that is said of the adapters alone, or of every model."""
    model, other = MODELS[kind](), MODELS[kind]()
    take_general_path(model)
    assert llama_in(model) is None and llama_in(other) is not None


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_only_the_last_layer_leaves_tokens_out(layers):
    """Catches tokens that are left out a layer too early, where others still read them; two layers cannot show it."""
    torch.manual_seed(0)
    model = LlamaForCausalLM(LlamaConfig(**LLAMA_SIZE | {"num_hidden_layers": layers}, **LETTER_IDS)).eval()
    ids = torch.tensor([4, 2, 7, 5])

    def attend(layer, q, k, v):
        return attention(q[None], k[None], v[None], causal=True)[0]

    every = hidden_states(model, ids, torch.arange(4), attend)
    wanted = torch.tensor([3, 1])
    torch.testing.assert_close(hidden_states(model, ids, torch.arange(4), attend, wanted), every[wanted])


@pytest.mark.parametrize("keys", [1, 2, 4])
def test_a_key_head_serves_its_query_heads_however_many_keys_there_are(keys):
    """Catches heads that are compared with keys: four query heads, two key heads, four keys."""
    q = torch.randn(1, 3, 4, 8, generator=seeded(1))
    k, v = (torch.randn(1, keys, 2, 8, generator=seeded(n)) for n in (2, 3))
    visible = torch.ones(1, 1, 3, keys, dtype=torch.bool)
    repeated = (x.repeat_interleave(2, dim=2).transpose(1, 2) for x in (k, v))
    each, values = repeated
    expected = ((q.transpose(1, 2) @ each.transpose(2, 3)) / 8**0.5).softmax(-1) @ values
    torch.testing.assert_close(attention(q, k, v, visible), expected.transpose(1, 2))
