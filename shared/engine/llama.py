"""The forward pass of Llama-shaped models, written out for tokens that stand in one row.

`transformers` computes every model in every setting, on padded batches; on a small model that costs more than the
arithmetic. Here the real tokens of all sequences are the rows of one matrix, (T, d). Everything but attention treats
each token alone, so attention is a function that the caller gives: it knows which tokens make a sequence. The weights
are used through the model's own modules, so adapters and 4-bit matrices work. Llama, SmolLM and Qwen2 have this
shape; any other model takes transformers' own pass (`shared.logps`, `shared.engine.decoding`).
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedModel

from shared.engine.plain import base_model

LLAMA_SHAPED = {"LlamaForCausalLM", "Qwen2ForCausalLM"}

# Of layer i, with queries (T, heads, head size), keys and values (T, key heads, head size): what each query reads.
Attend = Callable[[int, Tensor, Tensor, Tensor], Float[Tensor, "T heads size"]]


def llama_in(model: torch.nn.Module) -> PreTrainedModel | None:
    """The Llama-shaped model that `model` is, or that it is below LoRA adapters; None when it is of another kind.

    Or when `take_general_path` was called for it.
    """
    if hasattr(model, "get_base_model"):  # of peft
        if model.active_peft_config.is_prompt_learning:
            return None
        model = model.get_base_model()
    if getattr(model, "takes_general_path", False):
        return None
    config = getattr(model, "config", None)
    plain = getattr(config, "hidden_act", "") == "silu" and not getattr(config, "use_sliding_window", False)
    return model if plain and type(model).__name__ in LLAMA_SHAPED else None


def take_general_path(model: torch.nn.Module) -> None:
    """From now on `model` (or the one below its LoRA adapters) passes as transformers has it: `llama_in` is None."""
    base_model(model).takes_general_path = True


def hidden_states(
    llama: PreTrainedModel, ids: Int[Tensor, "T"], positions: Int[Tensor, "T"], attend: Attend
) -> Float[Tensor, "T d"]:
    """The final, normalised hidden state of each token; `llama.lm_head` makes its logits. Dropout is left out."""
    decoder = llama.model
    x = decoder.embed_tokens(ids)
    cos, sin = (t[0, :, None] for t in decoder.rotary_emb(x, positions[None]))  # (T, 1, head size)
    lower, upper = sin.chunk(2, dim=-1)
    sin = torch.cat([-lower, upper], dim=-1)  # the sign of `rotate`, once for all layers
    for i, layer in enumerate(decoder.layers):
        attention, mlp = layer.self_attn, layer.mlp
        h = layer.input_layernorm(x)
        q, k, v = (project(h).unflatten(-1, (-1, attention.head_dim)) for project in
                   (attention.q_proj, attention.k_proj, attention.v_proj))
        read = attend(i, rotate(q, cos, sin), rotate(k, cos, sin), v)
        x = x + attention.o_proj(read.flatten(1))
        h = layer.post_attention_layernorm(x)
        x = x + mlp.down_proj(F.silu(mlp.gate_proj(h)) * mlp.up_proj(h))
    return decoder.norm(x)


def rotate(x: Float[Tensor, "T heads size"], cos: Tensor, signed_sin: Tensor) -> Float[Tensor, "T heads size"]:
    """Rotary positions (Su et al. 2021, arXiv:2104.09864): number i and number i + size/2 turn by the token's angle.

    cos, signed_sin: (T, 1, size), the sine negated in its first half.
    """
    return torch.addcmul(x * cos, x.roll(x.size(-1) // 2, dims=-1), signed_sin)


def attention(q: Tensor, k: Tensor, v: Tensor, visible: Tensor | None = None, causal: bool = False) -> Tensor:
    """Softmax attention of q, k, v, each (sequences, tokens, heads, head size), with one shape in and out.

    visible: which keys a query sees, (sequences, 1, queries, keys); every query sees one. A key head serves several
        query heads.
    """
    q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    shared_keys = q.size(1) != k.size(1)
    return F.scaled_dot_product_attention(q, k, v, visible, is_causal=causal, enable_gqa=shared_keys).transpose(1, 2)
