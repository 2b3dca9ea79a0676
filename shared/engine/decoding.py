"""One token after another: what sampling asks of a model, for Llama-shaped models and for any other.

A decoder has read the prompts, each once, and holds R completions in progress. `logits` (R, V) are those of the next
token; `step` takes the tokens that were drawn and makes the next logits; `keep` goes on with some of the completions.
Neither reads anything back from the device.

`LlamaDecoder` is optional reading. It equals `CachedDecoder`, transformers' own pass and cache
(`tests/engine/test_llama.py`, `test_a_decoder_goes_on_with_the_rows_that_it_keeps`).
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor
from transformers import DynamicCache, PreTrainedModel

from shared.engine.llama import Places, attention, first_places, hidden_states, llama_in, packed_prompts
from shared.engine.sampling import position_ids


def start(
    model: PreTrainedModel,
    prompt_ids: Int[Tensor, "N P"],
    prompt_mask: Int[Tensor, "N P"],
    rows: Int[Tensor, "B"],
    num_generations: int,
    room: int,
    prompt_lengths: Int[Tensor, "N"],
) -> "LlamaDecoder | CachedDecoder":
    """Read N prompts, padded on the left, and begin B completions of at most `room` tokens.

    Args:
        rows: the prompt of each completion, `num_generations` in a row of the same one.
        prompt_lengths: on the host, where they are known since the prompts were made tokens.
    """
    llama = llama_in(model)
    if llama is None:
        return CachedDecoder(model, prompt_ids, prompt_mask, rows)
    k = group_size(num_generations, prompt_ids.size(1), room)
    decoder = LlamaDecoder(llama, rows, k, room)
    decoder.prefill(prompt_ids, prompt_lengths)
    return decoder


class CachedDecoder:
    """Any causal language model, through its own forward pass and cache."""

    def __init__(self, model: PreTrainedModel, prompt_ids: Tensor, prompt_mask: Tensor, rows: Tensor):
        self.model, self.cache, self.mask = model, DynamicCache(), prompt_mask[rows]
        logits = self._pass(prompt_ids, prompt_mask, position_ids(prompt_mask))
        self.cache.batch_select_indices(rows)
        self.logits = logits[rows]

    def _pass(self, ids: Tensor, mask: Tensor, positions: Tensor) -> Float[Tensor, "R V"]:
        out = self.model(
            input_ids=ids, attention_mask=mask, position_ids=positions, past_key_values=self.cache, use_cache=True,
            logits_to_keep=1,
        )
        return out.logits[:, -1]

    def step(self, token: Int[Tensor, "R"]) -> None:
        self.mask = F.pad(self.mask, (0, 1), value=1)
        self.logits = self._pass(token[:, None], self.mask, self.mask.sum(dim=1, keepdim=True) - 1)

    def keep(self, rows: list[int]) -> None:
        rows = torch.tensor(rows, device=self.mask.device)
        self.cache.batch_select_indices(rows)
        self.mask = self.mask[rows]


class LlamaDecoder:
    """A Llama-shaped model, with the passes of `shared.engine.llama` and a cache that completions of one prompt share.

    Attention with one query at a time is slow: it reads every key for a handful of products. So k completions of a
    prompt stand in a group, behind one copy of it, and their queries are multiplied with all keys of the group at
    once; a mask hides from a completion what the others have drawn. Two prompts of 3 and 1 tokens, so P = 3, with
    k = 2 completions each; the cache after two steps, x0 being what completion 0 drew first and `_` padding:

        width        0 1 2 | 3  4  | 5  6           P places, then k for each step
        group 0      a b c | x0 x1 | y0 y1
        group 1      d _ _ | x2 x3 | y2 y3

        seen by 0    a b c   x0      y0             completion j of a group sees the prompt and every k-th place after
        seen by 1    a b c      x1      y1
        seen by 2    d       x2      y2

    What it buys: sampling W1 on the embedded model 120 ms instead of 165, on one thread (benchmarks/README.md).

    keys, values: one for each layer, (groups, key heads, size, width) and (groups, key heads, width, size), with
        room for all steps from the start: to write into it is cheaper than to lengthen it.
    mask: (groups, key heads, k x query heads of a key head, width), what is added to the scores.
    places: where each completion in progress stands among groups x k, on the host; `place` the same on the device.
        Completions that were left out keep their places until their whole group is gone.
    """

    def __init__(self, llama: PreTrainedModel, rows: Int[Tensor, "B"], k: int, room: int):
        self.llama = llama
        self.k = k
        self.room = room
        self.rows = rows
        self.places = list(range(len(rows)))
        self.place = torch.arange(len(rows), device=rows.device)
        self.keys: list[Tensor] = []
        self.values: list[Tensor] = []

    def prefill(self, prompt_ids: Int[Tensor, "N P"], prompt_lengths: Int[Tensor, "N"]) -> None:
        """Read the prompts, each once, and keep their keys and values once for every group."""
        device = prompt_ids.device
        self.prompts = Places(prompt_lengths, prompt_ids.size(1), device)
        self.width = prompt_ids.size(1)
        ids, positions = packed_prompts(prompt_ids, prompt_lengths)
        hidden = hidden_states(self.llama, ids, positions, self._attend_in_prompts)
        last_of_prompt = (prompt_lengths.cumsum(dim=0) - 1).to(device)
        self.logits = self.llama.lm_head(hidden.index_select(0, last_of_prompt)).index_select(0, self.rows)
        lengths = prompt_lengths.to(device)
        self.next_position = lengths[self.rows]  # (R,)
        self.mask = self._mask(lengths[self.rows[:: self.k]])

    def step(self, token: Int[Tensor, "R"]) -> None:
        """Read the token that each completion drew, and make the logits of the next."""
        hidden = hidden_states(self.llama, token, self.next_position, self._attend_in_groups)
        self.logits = self.llama.lm_head(hidden)
        self.next_position = self.next_position + 1
        self.width += self.k

    def keep(self, rows: Sequence[int]) -> None:
        """Go on with these of the completions in progress; a group of which none is left leaves the cache."""
        device = self.place.device
        places = [self.places[row] for row in rows]
        groups = sorted({place // self.k for place in places})
        number = {group: i for i, group in enumerate(groups)}
        self.places = [number[place // self.k] * self.k + place % self.k for place in places]
        self.place = torch.tensor(self.places, device=device)
        self.next_position = self.next_position[torch.tensor(rows, device=device)]
        if len(groups) < len(self.mask):
            kept = torch.tensor(groups, device=device)
            self.mask = self.mask[kept]
            self.keys = [keys[kept] for keys in self.keys]
            self.values = [values[kept] for values in self.values]

    def _attend_in_prompts(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Float[Tensor, "T heads size"]:
        """Attention of the prompts' tokens, whose keys and values begin the cache."""
        keys = self.prompts.padded(k)  # (N, P, key heads, size)
        values = self.prompts.padded(v)
        of_groups = self.rows[:: self.k]  # (groups,), the prompt of each
        self.keys.append(F.pad(keys.permute(0, 2, 3, 1)[of_groups], (0, self.room * self.k)))
        self.values.append(F.pad(values.transpose(1, 2)[of_groups], (0, 0, 0, self.room * self.k)))
        return self.prompts.rows(attention(self.prompts.padded(q), keys, values, causal=True))

    def _attend_in_groups(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Float[Tensor, "R heads size"]:
        """Attention of one new token for each completion: all queries of a group with all its keys, in two products."""
        end = self.width + self.k
        q = self._in_groups(q)  # (groups, k, heads, size)
        self.keys[layer][..., self.width : end] = self._in_groups(k).permute(0, 2, 3, 1)
        self.values[layer][:, :, self.width : end] = self._in_groups(v).transpose(1, 2)

        # A key head and its query heads are a matrix product of their own; groups x key heads of them in a batch.
        keys = self.keys[layer][..., :end].flatten(0, 1)  # (groups x key heads, size, end)
        values = self.values[layer][:, :, :end].flatten(0, 1)
        mask = self.mask[..., :end].flatten(0, 1)
        key_heads = self.mask.size(1)
        queries = q.unflatten(2, (key_heads, -1)).transpose(1, 2)  # (groups, key heads, k, of a key head, size)
        size = q.size(-1)
        scores = torch.baddbmm(mask, queries.reshape(len(mask), -1, size), keys, alpha=size**-0.5)
        read = torch.bmm(scores.softmax(dim=-1), values)  # (groups x key heads, k x of a key head, size)
        read = read.view(queries.shape).transpose(1, 2).flatten(2, 3)  # (groups, k, heads, size)
        return read.flatten(0, 1).index_select(0, self.place)

    def _in_groups(self, rows: Float[Tensor, "R *shape"]) -> Float[Tensor, "groups k *shape"]:
        """Completions at their places in the groups, zeros at the places of those that were left out."""
        everyone = len(self.mask) * self.k
        if len(rows) < everyone:
            rows = rows.new_zeros(everyone, *rows.shape[1:]).index_copy_(0, self.place, rows)
        return rows.unflatten(0, (-1, self.k))

    def _mask(self, prompt_lengths: Int[Tensor, "groups"]) -> Float[Tensor, "groups heads queries width"]:
        """0 where a completion sees a place of its group's cache, and the lowest number where it does not."""
        device = prompt_lengths.device
        groups = len(prompt_lengths)
        j = torch.arange(self.k, device=device)
        prompt = first_places(prompt_lengths, self.width)  # (groups, P)
        own = j.repeat(self.room) == j[:, None]  # (k, room x k)
        visible = torch.cat([prompt[:, None].expand(-1, self.k, -1), own.expand(groups, -1, -1)], dim=2)
        cache = self.keys[0]
        mask = torch.zeros(visible.shape, dtype=cache.dtype, device=device)
        mask = mask.masked_fill(~visible, torch.finfo(cache.dtype).min)  # (groups, k, width)
        key_heads = self.llama.config.num_key_value_heads
        of_a_key_head = self.llama.config.num_attention_heads // key_heads
        mask = mask[:, None, :, None].expand(-1, key_heads, -1, of_a_key_head, -1)
        return mask.flatten(2, 3).contiguous()


def group_size(G: int, P: int, C: int) -> int:
    """How many of a prompt's G completions share a group: keys of others are read in vain, so not too many."""
    return max(k for k in range(1, G + 1) if G % k == 0 and (k == 1 or k * C <= 4 * (P + C)))
