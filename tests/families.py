"""Families of causal language models, each as a tiny random one, and the plain way to score with any of them.

What they differ in: positions (learned, rotary and its scalings, ALiBi, none), windows, key heads, latent attention,
experts, convolutions and recurrences, and what their cache must hold. `tests/test_families.py` holds sampling and
scoring against the plain way.
"""

from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel

from shared.engine.sampling import Sampling
from shared.models import add_lora
from shared.rollout import Rollout, sample
from tests.fakes import letter_tokenizer

PROMPTS = ["abc", "d", "efghijab", "ab", "d"]  # of unequal length, so four of five are padded

IDS = dict(vocab_size=12, pad_token_id=0, bos_token_id=None, eos_token_id=1)
SMALL = dict(hidden_size=32, num_hidden_layers=2, **IDS)
HEADS = dict(num_attention_heads=4, **SMALL)
USUAL = dict(intermediate_size=48, num_key_value_heads=2, max_position_embeddings=64, **HEADS)
WITH_HEAD_DIM = dict(head_dim=8, **USUAL)
EXPERTS = dict(num_experts_per_tok=2, moe_intermediate_size=16)
WINDOW = dict(sliding_window=4, layer_types=["sliding_attention", "full_attention"])
LATENT = dict(q_lora_rank=16, kv_lora_rank=16, qk_rope_head_dim=8, qk_nope_head_dim=8, v_head_dim=8)
DEEPSEEK = dict(
    USUAL,
    num_key_value_heads=4,
    n_routed_experts=4,
    n_shared_experts=1,
    n_group=1,
    topk_group=1,
    first_k_dense_replace=1,
    **EXPERTS,
    **LATENT,
)
DELTA_RULE = dict(
    layer_types=["linear_attention", "full_attention"],
    linear_key_head_dim=8,
    linear_value_head_dim=8,
    linear_num_key_heads=2,
    linear_num_value_heads=4,
    linear_conv_kernel_dim=4,
)
MAMBA = dict(mamba_d_state=8, mamba_n_heads=4, mamba_d_head=16, mamba_n_groups=1, mamba_d_conv=4, mamba_expand=2)
STATE_SPACE = dict(state_size=8, **SMALL)


def rope(kind: str, **settings) -> dict:
    return {"rope_parameters": dict(rope_type=kind, rope_theta=10_000.0, **settings)}


@dataclass(frozen=True)
class Family:
    """kind: what transformers calls the architecture. adapters: where LoRA goes; all-linear breaks some of them."""

    kind: str
    settings: dict = field(default_factory=dict)
    adapters: str | tuple = "all-linear"


RIGHT = {
    "GPT-2": Family("gpt2", dict(n_positions=64, **HEADS)),
    "GPT-Neo": Family(
        "gpt_neo",
        dict(
            hidden_size=32,
            num_layers=2,
            num_heads=4,
            intermediate_size=48,
            max_position_embeddings=64,
            attention_types=[[["global", "local"], 1]],
            window_size=4,
            **IDS,
        ),
    ),
    "GPT-J": Family("gptj", dict(n_positions=64, rotary_dim=4, **HEADS)),
    "GPT-NeoX": Family("gpt_neox", USUAL),
    "GPT-BigCode": Family("gpt_bigcode", dict(n_positions=64, **HEADS)),
    "OPT": Family("opt", dict(ffn_dim=48, max_position_embeddings=64, word_embed_proj_dim=32, **HEADS)),
    "Bloom": Family("bloom", dict(hidden_size=32, n_layer=2, n_head=4, **IDS)),
    "MPT": Family("mpt", dict(d_model=32, n_layers=2, n_heads=4, max_seq_len=64, **IDS)),
    "Falcon": Family("falcon", HEADS),
    "Falcon, ALiBi": Family("falcon", dict(alibi=True, **HEADS)),
    "XGLM": Family(
        "xglm", dict(d_model=32, ffn_dim=48, num_layers=2, attention_heads=4, max_position_embeddings=64, **IDS)
    ),
    "CTRL": Family("ctrl", dict(n_positions=64, n_embd=32, n_layer=2, n_head=4, dff=48, vocab_size=12)),
    "Gemma": Family("gemma", WITH_HEAD_DIM),
    "Gemma 2": Family("gemma2", dict(sliding_window=4, **WITH_HEAD_DIM)),
    "Gemma 3": Family("gemma3_text", dict(**WINDOW, **WITH_HEAD_DIM)),
    "Gemma 3n": Family(
        "gemma3n_text",
        dict(
            hidden_size_per_layer_input=8,
            vocab_size_per_layer_input=12,
            laurel_rank=4,
            num_kv_shared_layers=0,
            altup_num_inputs=2,
            **WINDOW,
            **WITH_HEAD_DIM,
        ),
    ),
    "Mistral": Family("mistral", dict(sliding_window=4, **USUAL)),
    "Ministral 3": Family("ministral3", WITH_HEAD_DIM),
    "Mixtral": Family("mixtral", dict(num_local_experts=4, num_experts_per_tok=2, **USUAL)),
    "Phi-2": Family("phi", USUAL),
    "Phi-3": Family("phi3", USUAL),
    "Qwen2": Family("qwen2", USUAL),
    "Qwen2-MoE": Family("qwen2_moe", dict(num_experts=4, shared_expert_intermediate_size=16, **EXPERTS, **USUAL)),
    "Qwen3": Family("qwen3", WITH_HEAD_DIM),
    "Qwen3-MoE": Family("qwen3_moe", dict(num_experts=4, **EXPERTS, **WITH_HEAD_DIM)),
    "SmolLM3": Family("smollm3", USUAL),
    "Llama": Family("llama", USUAL),
    "Llama 3.2 scaling": Family(
        "llama",
        dict(
            **USUAL,
            **rope(
                "llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=16
            ),
        ),
    ),
    "YaRN": Family("llama", dict(**USUAL, **rope("yarn", factor=4.0, original_max_position_embeddings=16))),
    "OLMo 2": Family("olmo2", USUAL),
    "OLMo 3": Family("olmo3", dict(**WINDOW, **USUAL)),
    "Cohere": Family("cohere", dict(logit_scale=1.0, **USUAL)),
    "Cohere 2": Family("cohere2", dict(logit_scale=1.0, **WINDOW, **USUAL)),
    "Granite": Family("granite", USUAL),
    "StableLM": Family("stablelm", USUAL),
    "StarCoder 2": Family("starcoder2", dict(sliding_window=4, **USUAL)),
    "GPT-OSS": Family("gpt_oss", dict(num_local_experts=4, num_experts_per_tok=2, **WINDOW, **WITH_HEAD_DIM)),
    "DeepSeek-V2": Family("deepseek_v2", DEEPSEEK),
    "DeepSeek-V3": Family("deepseek_v3", DEEPSEEK),
    "DeepSeek-V3.2": Family("deepseek_v32", dict(index_n_heads=2, index_head_dim=8, index_topk=64, **DEEPSEEK)),
    "GLM-4": Family("glm4", WITH_HEAD_DIM),
    "LFM2": Family("lfm2", dict(layer_types=["conv", "full_attention"], **USUAL)),
    "Qwen3-Next": Family(
        "qwen3_next", dict(num_experts=4, shared_expert_intermediate_size=16, **EXPERTS, **DELTA_RULE, **WITH_HEAD_DIM)
    ),
    "Qwen3.5": Family("qwen3_5_text", dict(**DELTA_RULE, **WITH_HEAD_DIM)),
    "OLMo hybrid": Family("olmo_hybrid", dict(**DELTA_RULE, **USUAL)),
    "Falcon-H1": Family("falcon_h1", dict(mamba_d_ssm=64, **MAMBA, **USUAL), adapters=("q_proj", "in_proj")),
    "Granite 4 hybrid": Family(
        "granitemoehybrid",
        dict(
            layer_types=["mamba", "attention"],
            shared_intermediate_size=16,
            num_local_experts=4,
            num_experts_per_tok=2,
            **MAMBA,
            **USUAL,
        ),
    ),
    "Jamba": Family(
        "jamba",
        dict(
            attn_layer_period=2,
            attn_layer_offset=1,
            expert_layer_period=2,
            expert_layer_offset=1,
            num_experts=4,
            mamba_d_state=8,
            mamba_dt_rank=4,
            use_mamba_kernels=False,
            **USUAL,
        ),
    ),
    "Mamba": Family("mamba", STATE_SPACE, adapters=("in_proj", "x_proj")),
    "Mamba-2": Family(
        "mamba2", dict(num_heads=4, head_dim=16, n_groups=1, chunk_size=8, **STATE_SPACE), adapters=("in_proj",)
    ),
    "Falcon-Mamba": Family("falcon_mamba", STATE_SPACE, adapters=("in_proj", "x_proj")),
}

# Refused while the first rollout is sampled: they take no cache that can be filled one token at a time and cut to rows.
NO_CACHE = {
    "GPT": Family("openai-gpt", dict(n_positions=64, n_embd=32, n_layer=2, n_head=4, vocab_size=12)),
    "XLNet": Family("xlnet", dict(d_model=32, n_layer=2, n_head=4, d_inner=48, vocab_size=12)),
    "RWKV": Family("rwkv", dict(context_length=64, **SMALL)),
    "xLSTM": Family("xlstm", dict(num_blocks=2, num_heads=4, **SMALL)),
    "RecurrentGemma": Family(
        "recurrent_gemma",
        dict(lru_width=32, attention_window_size=4, block_types=["recurrent", "attention"], **WITH_HEAD_DIM),
    ),
}

# Refused by the guard: they run, and are wrong as soon as a row is padded.
WRONG_WHEN_PADDED = {
    "BART": Family(
        "bart",
        dict(
            d_model=32,
            decoder_layers=2,
            encoder_layers=2,
            decoder_attention_heads=4,
            decoder_ffn_dim=48,
            max_position_embeddings=64,
            **IDS,
        ),
    ),
    "RoFormer": Family("roformer", dict(is_decoder=True, **USUAL)),
    "ProphetNet": Family(
        "prophetnet",
        dict(
            num_decoder_layers=2,
            num_decoder_attention_heads=4,
            decoder_ffn_dim=48,
            max_position_embeddings=64,
            hidden_size=32,
            **IDS,
        ),
    ),
}


def build(family: Family, lora: bool = False) -> PreTrainedModel:
    """A random model of the family; noise on every parameter, so that no bias is 0 and no adapter without effect."""
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(family.kind, **family.settings))
    if lora:
        targets = family.adapters if isinstance(family.adapters, str) else list(family.adapters)
        model = add_lora(model, r=4, target_modules=targets)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.15 * torch.randn(parameter.shape, generator=generator))
    return model.eval()


def draw(
    model: PreTrainedModel, sampling: Sampling = Sampling(8), prompts: list[str] = PROMPTS, seed: int = 0, **options
) -> Rollout:
    """Two completions for each prompt."""
    return sample(model, letter_tokenizer(), prompts, 2, sampling, seed=seed, **options)


def plain_logps(model: PreTrainedModel, rollout: Rollout) -> torch.Tensor:
    """The rollout's tokens scored one row at a time, without padding or cache, at temperature 1, (B, C)."""
    rows = []
    for b, completion in enumerate(rollout.completion_ids):
        n = b // rollout.num_generations
        prompt = rollout.prompt_ids[n][rollout.prompt_mask[n].bool()]
        completion = completion[rollout.completion_mask[b].bool()]
        logits = model(input_ids=torch.cat([prompt, completion])[None], use_cache=False).logits[0]
        before = logits[len(prompt) - 1 : -1]  # a token is drawn from the logits of the one before it
        logps = before.float().log_softmax(dim=-1).gather(-1, completion[:, None])[:, 0]
        rows.append(F.pad(logps, (0, rollout.completion_ids.size(1) - len(logps))))
    return torch.stack(rows)
