"""The forward pass of Llama-shaped models, written out for tokens that stand in one matrix.

Optional reading. It equals `model(input_ids=ids).logits`, token for token (`tests/engine/test_llama.py`,
`test_hidden_states_are_those_of_transformers`).

`transformers` has one pass for every model in every setting, on padded batches. On a small model that costs more than
the arithmetic. Here the real tokens of all sequences are the rows of one matrix, (T, d), and no padding passes through
the layers. All parts of a layer but attention treat each token alone. Attention must know which tokens make a sequence,
so it is a function that the caller gives. The weights are used through the model's own modules, so adapters and 4-bit
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

from shared.engine.unpadded import base_model

LLAMA_SHAPED = {"LlamaForCausalLM", "Qwen2ForCausalLM"}

# Attention of one layer. Its arguments are the layer's number, queries (T, heads, head size), and keys and values
# (T, key heads, head size); it returns what each query reads.
Attend = Callable[[int, Tensor, Tensor, Tensor], Float[Tensor, "T heads size"]]


def llama_in(model: torch.nn.Module) -> PreTrainedModel | None:
    """The Llama-shaped model that `model` is, or that is below its LoRA adapters.

    None for a model of another shape, and for one that `take_general_path` was called for.
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
    """Lead `model` through transformers' own pass from now on: `llama_in` is None, also with LoRA adapters above it."""
    base_model(model).takes_general_path = True


def hidden_states(
    llama: PreTrainedModel,
    ids: Int[Tensor, "T"],
    positions: Int[Tensor, "T"],
    attend: Attend,
    wanted: Int[Tensor, "K"] | None = None,
) -> Float[Tensor, "K d"]:
    """The final, normalised hidden states, of which `llama.lm_head` makes logits. Dropout is left out.

    wanted: the rows whose states are returned; None for all. The others are only read by attention, so the last layer
        computes nothing for them behind its attention.
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
    """Each token's vector cut into heads of this size."""
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
    """The way from the rows of a matrix to places in a padded batch, and back. Attention wants sequences of one length.

    Three sequences of 3, 1 and 2 tokens, width 3; `_` is padding:

        rows      0 1 2 3 4 5
        places    0 1 2 | 3 _ _ | 4 5 _

    `padded` takes the six rows to (3, 3, ...), `rows` takes them back. A row may stand at several places. The same is
    computed at each of them, so `rows` takes it from one.

    row_at: (sequences, width), the row at each place; any row in the padding.
    place_of: (T,), for each row one of its places, counted through the batch. Both are given on the host, so that
        nothing waits for the device.
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
    """The first place in `row_of` at which each row is met. Rows 0 1 0 2: places 0 1 3."""
    never = torch.full((rows,), len(row_of))
    return never.scatter_reduce(0, row_of, torch.arange(len(row_of)), "amin")


@dataclass(frozen=True)
class PackedPrompts:
    """Prompts as rows of a matrix, without padding. A beginning that several of them share stands there once.

    Prompts of a task begin alike: with its instructions, with the system prompt of a chat. `a b c`, `a b d`, `e`:

        row         0 1 2 3 4
        token       a b c d e
        position    0 1 2 2 0
        places      0 1 2 | 0 1 3 | 4 _ _
        last        2, 3, 4

    ids, positions: (T,), of each row.
    places: of the rows in a batch of N sequences of P tokens, padded on the right.
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
        """Pack prompts that are padded on the left.

        lengths: on the host.
        beginnings: on the host, a number for each token of a prompt; tokens with equal numbers become one row
            (`shared.engine.contexts.number_beginnings`). None makes a row of each token.
        """
        N, P = prompt_ids.shape
        if beginnings is None:
            beginnings = torch.arange(N * P).view(N, P)
        # The L tokens stand at these places of (N, P): now, padded on the left, and in the batch, padded on the right.
        padded_right = first_places(lengths, P)
        padded_left = padded_right.flip(1)
        numbers, row_of_token = torch.unique(beginnings[padded_left], return_inverse=True)  # (T,), (L,)
        first = first_of_each(row_of_token, len(numbers))  # (T,), a token of each row, among the L
        source = padded_left.flatten().nonzero()[first, 0]
        place_of = padded_right.flatten().nonzero()[first, 0]
        row_at = torch.zeros(N, P, dtype=torch.long)
        row_at[padded_right] = row_of_token
        device = prompt_ids.device
        return cls(
            ids=prompt_ids.flatten().index_select(0, source.to(device)),
            positions=(place_of % P).to(device),
            places=Places(row_at, place_of, device),
            last=row_at[torch.arange(N), lengths - 1],
        )
