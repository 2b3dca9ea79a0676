"""One token after another: what sampling asks of a model, for Llama-shaped models and for any other.

A decoder has read the prompts, each once, and holds R completions in progress. `logits` (R, V) are those of the next
token; `step` takes the tokens that were drawn and makes the next logits; `keep` goes on with some of the completions.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedModel

from shared.engine.cached import CachedDecoder
from shared.engine.llama import attention, hidden_states, llama_in
from shared.engine.sampling import position_ids


def start(
    model: PreTrainedModel,
    prompt_ids: Int[Tensor, "N P"],
    prompt_mask: Int[Tensor, "N P"],
    rows: Int[Tensor, "B"],
    num_generations: int,
    room: int,
) -> "LlamaDecoder | CachedDecoder":
    """Read N prompts, padded on the left, and begin B completions of at most `room` tokens.

    rows: the prompt of each completion, `num_generations` in a row of the same one.
    """
    llama = llama_in(model)
    if llama is None:
        return CachedDecoder(model, prompt_ids, prompt_mask, rows)
    k = group_size(num_generations, prompt_ids.size(1), room)
    return LlamaDecoder(llama, prompt_ids, prompt_mask, rows, room, k)


class LlamaDecoder:
    """A Llama-shaped model, with the passes of `shared.engine.llama` and a cache that completions of one prompt share.

    Attention with one query at a time is slow: it reads every key for a handful of products. So k completions of a
    prompt stand in a group, behind one copy of it, and their queries are multiplied with all keys of the group at
    once; a completion's view of the others is masked.

    keys, values: for each layer (groups, key heads, size, width) and (groups, key heads, width, size), the width
        being P places of the prompt, then k for each token; what completion j draws at step t is at P + t k + j.
    mask: (groups, key heads, k x query heads of a key head, width), what is added to the scores.
    place: (R,), where each completion in progress stands among all groups x k; those that were left out keep theirs.
    """

    def __init__(
        self, llama: PreTrainedModel, prompt_ids: Tensor, prompt_mask: Tensor, rows: Tensor, room: int, k: int
    ):
        self.llama, self.k, self.keys, self.values = llama, k, [], []
        self.place = torch.arange(len(rows), device=rows.device)
        (N, P), prompts = prompt_ids.shape, rows[::k]  # (groups,), the prompt of each group
        real, positions, lengths = prompt_mask.bool(), position_ids(prompt_mask), prompt_mask.sum(dim=1)
        slot = (positions + P * torch.arange(N, device=real.device)[:, None])[real]  # (T,), each token's among N x P

        def attend(i: int, *qkv: Tensor) -> Tensor:
            query, key, value = (spread(t, slot, N * P).unflatten(0, (N, P)) for t in qkv)
            self.keys.append(F.pad(key.permute(0, 2, 3, 1)[prompts], (0, room * k)))
            self.values.append(F.pad(value.transpose(1, 2)[prompts], (0, 0, 0, room * k)))
            return attention(query, key, value, causal=True).flatten(0, 1)[slot]

        hidden = hidden_states(llama, prompt_ids[real], positions[real], attend)
        self.logits = llama.lm_head(hidden[lengths.cumsum(dim=0) - 1])[rows]
        self.next_position, self.width = lengths[rows], P

        j = torch.arange(k, device=rows.device)
        prompt = torch.arange(P, device=rows.device) < lengths[prompts][:, None]  # (groups, P)
        own = j.repeat(room) == j[:, None]  # (k, room k)
        visible = torch.cat([prompt[:, None].expand(-1, k, -1), own.expand(len(prompts), -1, -1)], dim=2)
        heads = llama.config.num_key_value_heads
        of_a_key_head = llama.config.num_attention_heads // heads
        mask = torch.zeros(visible.shape, dtype=hidden.dtype, device=rows.device)
        mask = mask.masked_fill(~visible, torch.finfo(hidden.dtype).min)[:, None, :, None]
        self.mask = mask.expand(-1, heads, -1, of_a_key_head, -1).flatten(2, 3).contiguous()

    def step(self, token: Int[Tensor, "R"]) -> None:
        k, new, end = self.k, slice(self.width, self.width + self.k), self.width + self.k
        mask = self.mask[..., :end].flatten(0, 1)
        everyone = len(self.mask) * k

        def attend(i: int, *qkv: Tensor) -> Tensor:
            q, key, value = (spread(t, self.place, everyone).unflatten(0, (-1, k)) for t in qkv)
            self.keys[i][..., new], self.values[i][:, :, new] = key.permute(0, 2, 3, 1), value.transpose(1, 2)
            keys, values = self.keys[i][..., :end].flatten(0, 1), self.values[i][:, :, :end].flatten(0, 1)
            queries = q.unflatten(2, (key.size(2), -1)).transpose(1, 2)  # (groups, key heads, k, of a key head, size)
            scores = torch.baddbmm(mask, queries.reshape(len(mask), -1, q.size(-1)), keys, alpha=q.size(-1) ** -0.5)
            read = torch.bmm(scores.softmax(dim=-1), values).view(queries.shape).transpose(1, 2).flatten(2, 3)
            return read.flatten(0, 1)[self.place]

        self.logits = self.llama.lm_head(hidden_states(self.llama, token, self.next_position, attend))
        self.next_position, self.width = self.next_position + 1, end

    def keep(self, rows: list[int]) -> None:
        rows = torch.tensor(rows, device=self.place.device)
        self.next_position, place = self.next_position[rows], self.place[rows]
        groups, number = torch.unique(place // self.k, return_inverse=True)
        self.place = number * self.k + place % self.k
        if len(groups) < len(self.mask):
            self.mask = self.mask[groups]
            self.keys, self.values = ([t[groups] for t in layers] for layers in (self.keys, self.values))


def spread(rows: Float[Tensor, "R *shape"], place: Int[Tensor, "R"], total: int) -> Float[Tensor, "total *shape"]:
    """Rows at their places among `total`, zeros elsewhere."""
    if len(rows) == total:
        return rows
    return rows.new_zeros(total, *rows.shape[1:]).index_copy_(0, place, rows)


def group_size(G: int, P: int, C: int) -> int:
    """How many of a prompt's G completions share a group: keys of others are read in vain, so not too many."""
    return max(k for k in range(1, G + 1) if G % k == 0 and (k == 1 or k * C <= 4 * (P + C)))
