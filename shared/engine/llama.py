"""The forward pass of Llama-shaped models, written out for tokens that stand in one matrix.

Optional reading. It equals `model(input_ids=ids).logits`, token for token (`tests/engine/test_llama.py`,
`test_hidden_states_are_those_of_transformers`).

`transformers` computes every model in every setting, on padded batches; on a small model that costs more than the
arithmetic. Here the real tokens of all sequences are the rows of one matrix, (T, d): no padding passes through the
layers. Everything but attention treats each token alone, so attention is a function that the caller gives: it knows
which tokens make a sequence. The weights are used through the model's own modules, so that adapters and 4-bit
matrices work. Llama, SmolLM and Qwen2 have this shape; any other model takes transformers' own pass.

Used by `shared.engine.scoring` and `shared.engine.decoding`. What it buys there on the embedded model, on four
threads: a GRPO step of 179 ms instead of 209 (W1) and 66 instead of 77 (W2; benchmarks/README.md).
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
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
    llama: PreTrainedModel,
    ids: Int[Tensor, "T"],
    positions: Int[Tensor, "T"],
    attend: Attend,
    wanted: Int[Tensor, "K"] | None = None,
) -> Float[Tensor, "K d"]:
    """The final, normalised hidden state of the wanted tokens; `llama.lm_head` makes its logits. Dropout is left out.

    wanted: None for all. Of the others the last layer gives keys and values, and nothing behind its attention.
    """
    decoder = llama.model
    x = decoder.embed_tokens(ids)  # (T, d)
    cos, sin = decoder.rotary_emb(x, positions[None])  # (1, T, head size) each
    cos = cos[0, :, None]  # (T, 1, head size)
    signed_sin = with_sign_of_rotation(sin[0, :, None])
    for i, layer in enumerate(decoder.layers):
        normed = layer.input_layernorm(x)
        q = in_heads(layer.self_attn.q_proj(normed), layer.self_attn.head_dim)
        k = in_heads(layer.self_attn.k_proj(normed), layer.self_attn.head_dim)
        v = in_heads(layer.self_attn.v_proj(normed), layer.self_attn.head_dim)
        # Under autocast the angles are float32 and so is what they turn; all three go on in the type of v.
        q = rotate(q, cos, signed_sin).to(v.dtype)
        k = rotate(k, cos, signed_sin).to(v.dtype)
        read = attend(i, q, k, v)  # (T, heads, head size)
        if wanted is not None and layer is decoder.layers[-1]:
            x = x.index_select(0, wanted)
            read = read.index_select(0, wanted)
        x = x + layer.self_attn.o_proj(read.flatten(1))
        normed = layer.post_attention_layernorm(x)
        gate = F.silu(layer.mlp.gate_proj(normed))
        x = x + layer.mlp.down_proj(gate * layer.mlp.up_proj(normed))
    return decoder.norm(x)


def in_heads(x: Float[Tensor, "T d"], size: int) -> Float[Tensor, "T heads size"]:
    return x.unflatten(-1, (-1, size))


def rotate(x: Float[Tensor, "T heads size"], cos: Tensor, signed_sin: Tensor) -> Float[Tensor, "T heads size"]:
    """Rotary positions (Su et al. 2021, arXiv:2104.09864): number i and number i + size/2 turn by the token's angle.

    cos, signed_sin: (T, 1, size), the sine with the sign that `with_sign_of_rotation` gives it.
    """
    x = x.to(cos.dtype)
    return torch.addcmul(x * cos, x.roll(x.size(-1) // 2, dims=-1), signed_sin)


def with_sign_of_rotation(sin: Float[Tensor, "T 1 size"]) -> Float[Tensor, "T 1 size"]:
    """The sine, negated in its first half: (x, y) turns to (x cos - y sin, y cos + x sin). Once for all layers."""
    lower, upper = sin.chunk(2, dim=-1)
    return torch.cat([-lower, upper], dim=-1)


def attention(q: Tensor, k: Tensor, v: Tensor, visible: Tensor | None = None, causal: bool = False) -> Tensor:
    """Softmax attention of q, k, v, each (sequences, tokens, heads, head size), with one shape in and out.

    visible: which keys a query sees, (sequences, 1, queries, keys); every query sees one. A key head serves several
        query heads.
    """
    q = q.transpose(1, 2)  # (sequences, heads, tokens, head size)
    k = k.transpose(1, 2)
    v = v.transpose(1, 2)
    shared_keys = q.size(1) != k.size(1)
    read = F.scaled_dot_product_attention(q, k, v, visible, is_causal=causal, enable_gqa=shared_keys)
    return read.transpose(1, 2)


class Places:
    """Where the rows of a matrix stand in a padded batch, and back: attention wants sequences of one length.

    Three sequences of 3, 1 and 2 tokens, width 3; `_` is padding:

        rows      0 1 2 3 4 5
        places    0 1 2 | 3 _ _ | 4 5 _

    `padded` takes the six rows to (3, 3, ...), `rows` takes them back. One row may stand at several places; what is
    computed there is the same, so `rows` takes it from one of them.

    row_at: (sequences, width), in the padding any row.    place_of: (T,), among sequences x width. Both are given on
        the host, so that nothing waits for the device.
    """

    def __init__(self, row_at: Int[Tensor, "sequences width"], place_of: Int[Tensor, "T"], device: torch.device):
        self.shape = row_at.shape
        self.row_at = row_at.flatten().to(device)
        self.place_of = place_of.to(device)

    def padded(self, rows: Float[Tensor, "T *shape"]) -> Float[Tensor, "sequences width *shape"]:
        return rows.index_select(0, self.row_at).unflatten(0, self.shape)

    def rows(self, padded: Float[Tensor, "sequences width *shape"]) -> Float[Tensor, "T *shape"]:
        return padded.flatten(0, 1).index_select(0, self.place_of)


def first_places(lengths: Int[Tensor, "sequences"], width: int) -> Bool[Tensor, "sequences width"]:
    """True at the first `lengths` places of each sequence, on the device of the lengths."""
    return torch.arange(width, device=lengths.device) < lengths[:, None]


def first_of_each(row_of: Int[Tensor, "L"], rows: int) -> Int[Tensor, "rows"]:
    """Where each row is first met."""
    never = torch.full((rows,), len(row_of))
    return never.scatter_reduce(0, row_of, torch.arange(len(row_of)), "amin")


@dataclass(frozen=True)
class PackedPrompts:
    """Prompts as rows of a matrix, without padding; what some of them begin with stands there once.

    Prompts of a task begin alike: with their instructions, with the system prompt of a chat. `a b c`, `a b d`, `e`:

        row         0 1 2 3 4
        token       a b c d e
        position    0 1 2 2 0
        places      0 1 2 | 0 1 3 | 4 _ _
        last        2, 3, 4

    ids, positions: (T,).    places: of the rows in N sequences of P tokens.
    last: (N,), the row that ends each prompt, on the host.
    """

    ids: Int[Tensor, "T"]
    positions: Int[Tensor, "T"]
    places: Places
    last: Int[Tensor, "N"]

    @classmethod
    def of(
        cls, prompt_ids: Int[Tensor, "N P"], lengths: Int[Tensor, "N"], beginnings: Int[Tensor, "N P"] | None = None
    ) -> "PackedPrompts":
        """From prompts that are padded on the left.

        lengths, beginnings: on the host. Equal numbers are of equal tokens after equal tokens
            (`shared.engine.contexts.number_beginnings`); None when nothing is known.
        """
        N, P = prompt_ids.shape
        if beginnings is None:
            beginnings = torch.arange(N * P).view(N, P)
        on_the_right = first_places(lengths, P)  # (N, P), where the tokens would stand without padding before them
        on_the_left = on_the_right.flip(1)  # and where they do
        numbers, row_of_token = torch.unique(beginnings[on_the_left], return_inverse=True)  # (T,), (L,)
        first = first_of_each(row_of_token, len(numbers))
        place_of = on_the_right.flatten().nonzero()[first, 0]
        taken = on_the_left.flatten().nonzero()[first, 0]
        row_at = torch.zeros(N, P, dtype=torch.long)
        row_at[on_the_right] = row_of_token
        device = prompt_ids.device
        return cls(
            ids=prompt_ids.flatten().index_select(0, taken.to(device)),
            positions=(place_of % P).to(device),
            places=Places(row_at, place_of, device),
            last=row_at[torch.arange(N), lengths - 1],
        )
