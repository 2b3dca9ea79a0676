"""One token after another: what sampling asks of a model, for Llama-shaped models and for any other.

The plain loop passes over every completion from its beginning, for each token anew:

    for t in range(max_new_tokens):
        logits = model(prompt_and_tokens_so_far).logits[:, -1]  # (B, V)
        token = draw(logits.softmax(dim=-1), u[:, t])  # (B,)

A decoder gives the same logits from less work. It has read the prompts, each once, and holds R *nodes*: a node stands
for all completions that have drawn the same so far (`shared.engine.contexts`). `logits` (R, V) are those of the token
after each node. Its completions draw from them, each with its own number u, and `step` takes the nodes that come of
it: each is a token and its parent, the number of the node that it follows. So completions that have ended, and nodes
that no one goes on from, are left out by not being named. `step` reads nothing back from the device.

Two completions after the prompt `a b c`, two after `d`:

    nodes        drawn                         step(token, parent)
    0: a b c     x by completions 0 and 1
    1: d         u by 2, v by 3                step([x, u, v], [0, 1, 1])
    0: a b c x   y by 0, z by 1
    1: d u       EOS by 2
    2: d v       w by 3                        step([y, z, w], [0, 0, 2])

That this draws the tokens of the plain loop is tested in `tests/engine/test_tree.py`,
`test_the_tokens_are_those_of_the_plain_loop`.
"""

from collections import Counter
from collections.abc import Sequence
from functools import partial

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedModel

from shared.engine.cached import CachedDecoder
from shared.engine.contexts import groups_of, numbers_within
from shared.engine.llama import PackedPrompts, Places, attention, first_places, hidden_states, llama_in


def start(
    model: PreTrainedModel,
    prompt_ids: Int[Tensor, "N P"],
    prompt_mask: Int[Tensor, "N P"],
    prompt_lengths: Int[Tensor, "N"],
    prompt_of: Sequence[int],
    room: int,
    beginnings: Int[Tensor, "N P"] | None = None,
) -> "tuple[LlamaDecoder | CachedDecoder, list[int]]":
    """Read N prompts, padded on the left, and begin completions of at most `room` tokens.

    Args:
        prompt_lengths: on the host, where they are known since the prompts were made tokens.
        prompt_of: which of the prompts each of the B completions follows.
        beginnings: of the prompts, see `shared.engine.llama.PackedPrompts`.

    Returns:
        the decoder, and the node at which each completion begins.
    """
    llama = llama_in(model)
    if llama is None:
        each_once = torch.arange(len(prompt_ids), device=prompt_ids.device)
        return CachedDecoder(model, prompt_ids, prompt_mask, each_once), list(prompt_of)
    limit = group_limit(prompt_ids.size(1), room)
    prompt_of_group, group_of = groups_of(prompt_of, limit)
    decoder = LlamaDecoder(llama, prompt_of_group, room * max(Counter(group_of).values()))
    decoder.prefill(PackedPrompts.of(prompt_ids, prompt_lengths, beginnings), prompt_lengths)
    return decoder, group_of


# To leave groups out of the cache copies the others; it pays once a quarter of them have no nodes any more.
DROP_GROUPS_BELOW = 0.75


class LlamaDecoder:
    """A Llama-shaped model, with the passes of `shared.engine.llama` and a cache that completions of one prompt share.

    Optional reading. It equals `CachedDecoder`, transformers' own pass and cache (`tests/engine/test_llama.py`,
    `test_a_decoder_goes_on_with_the_nodes_that_it_is_given`).

    Attention with one query at a time is slow: it reads every key for a handful of products. So the nodes of a prompt
    stand in a group, behind one copy of the prompt, and their queries are multiplied with all keys of the group at
    once; a mask hides from a node what does not lead to it. Where completions part, the new nodes copy their parent's
    row of the mask, never the cache. The nodes of the drawing above, with P = 3 and k = 2 completions in a group; `_`
    is padding:

        width        0 1 2 | 3 4 | 5 6        P places, then for each step as many as the group with most nodes needs
        group 0      a b c | x _ | y z
        group 1      d _ _ | u v | w _

        seen by y    a b c   x     y
        seen by z    a b c   x       z
        seen by w    d         v   w

    What groups buy: sampling W1 on the embedded model 120 ms instead of 165, on one thread (benchmarks/README.md).

    prompts: the prompt of each group, and position: of its next tokens.
    keys, values: one for each layer, (groups, key heads, size, P + room) and (groups, key heads, P + room, size), of
        which `width` places are in use.
    group: the group of each of the R nodes, and mask: (R, width), what is added to its scores, 0 for what leads to it.
    """

    def __init__(self, llama: PreTrainedModel, prompts: Sequence[int], room: int):
        self.llama = llama
        self.prompts = list(prompts)
        self.group = list(range(len(prompts)))
        self.room = room
        self.width = 0
        self.position: list[int] = []
        self.keys: list[Tensor] = []
        self.values: list[Tensor] = []

    def prefill(self, prompts: PackedPrompts, prompt_lengths: Int[Tensor, "N"]) -> None:
        """Read the prompts, each once; their keys and values begin the cache of each group. Lengths are on the host."""
        device = prompts.ids.device
        P = prompts.places.shape[1]
        of_groups = torch.tensor(self.prompts, device=device)
        attend = partial(self._attend_in_prompts, prompts.places, of_groups)
        hidden = hidden_states(self.llama, prompts.ids, prompts.positions, attend, prompts.last.to(device))
        self.logits = self.llama.lm_head(hidden).index_select(0, of_groups)
        self.width = P
        self.position = prompt_lengths[self.prompts].tolist()
        padding = ~first_places(prompt_lengths[self.prompts], P).to(device)
        self.mask = self.keys[0].new_zeros(padding.shape).masked_fill(padding, self._hidden)

    def step(self, token: Sequence[int], parent: Sequence[int]) -> None:
        """Go on with these nodes: each is a token after one of the present nodes. Their logits are the next."""
        device = self.mask.device
        self.group = [self.group[node] for node in parent]
        alive = sorted(set(self.group))
        if len(alive) < DROP_GROUPS_BELOW * len(self.prompts):
            self._keep_groups(alive)
        number = numbers_within(self.group)  # of each node, in its group
        k = max(number) + 1

        own = torch.full((len(token), k), self._hidden, dtype=self.mask.dtype, device=device)
        own = own.scatter(1, torch.tensor(number, device=device)[:, None], 0.0)
        leads_here = self.mask.index_select(0, torch.tensor(parent, device=device))
        self.mask = torch.cat([leads_here, own], dim=1)  # (R, width + k)

        places = places_in_groups(self.group, number, len(self.prompts), k, device)
        attend = partial(self._attend_in_groups, places, self._for_all_heads(places.padded(self.mask)))
        position = torch.tensor([self.position[group] for group in self.group], device=device)
        hidden = hidden_states(self.llama, torch.tensor(token, device=device), position, attend)
        self.logits = self.llama.lm_head(hidden)
        self.position = [position + 1 for position in self.position]
        self.width += k

    @property
    def _hidden(self) -> float:
        """What is added to the score of a key that a query must not see."""
        return torch.finfo(self.keys[0].dtype).min

    def _keep_groups(self, groups: Sequence[int]) -> None:
        """Leave the other groups, which have no nodes any more, out of the cache."""
        kept = torch.tensor(groups, device=self.mask.device)
        self.keys = [keys.index_select(0, kept) for keys in self.keys]
        self.values = [values.index_select(0, kept) for values in self.values]
        self.prompts = [self.prompts[group] for group in groups]
        self.position = [self.position[group] for group in groups]
        number = {group: i for i, group in enumerate(groups)}
        self.group = [number[group] for group in self.group]

    def _attend_in_prompts(
        self, places: Places, of_groups: Int[Tensor, "groups"], layer: int, q: Tensor, k: Tensor, v: Tensor
    ) -> Float[Tensor, "T heads size"]:
        """Attention of the prompts' tokens, whose keys and values begin the cache."""
        keys = places.padded(k)  # (N, P, key heads, size)
        values = places.padded(v)
        N, P, key_heads, size = keys.shape
        groups = len(of_groups)
        # What stands in the room for the nodes to come is written before it is read.
        cached_keys = keys.new_empty(groups, key_heads, size, P + self.room)
        cached_keys[..., :P] = keys.permute(0, 2, 3, 1).index_select(0, of_groups)
        self.keys.append(cached_keys)
        cached_values = values.new_empty(groups, key_heads, P + self.room, size)
        cached_values[:, :, :P] = values.transpose(1, 2).index_select(0, of_groups)
        self.values.append(cached_values)
        return places.rows(attention(places.padded(q), keys, values, causal=True))

    def _attend_in_groups(
        self, places: Places, mask: Float[Tensor, "batch queries width"], layer: int, q: Tensor, k: Tensor, v: Tensor
    ) -> Float[Tensor, "R heads size"]:
        """Attention of one new token for each node: all queries of a group with all its keys, in two products."""
        queries = places.padded(q)  # (groups, k, heads, size)
        end = self.width + queries.size(1)
        self.keys[layer][..., self.width : end] = places.padded(k).permute(0, 2, 3, 1)
        self.values[layer][:, :, self.width : end] = places.padded(v).transpose(1, 2)

        # A key head and its query heads are a matrix product of their own; groups x key heads of them in a batch.
        keys = self.keys[layer][..., :end].flatten(0, 1)  # (batch, size, end)
        values = self.values[layer][:, :, :end].flatten(0, 1)
        key_heads = k.size(1)
        size = k.size(2)
        queries = queries.unflatten(2, (key_heads, -1)).transpose(1, 2)
        shape = queries.shape  # (groups, key heads, k, query heads of a key head, size)
        scores = torch.baddbmm(mask, queries.reshape(len(keys), -1, size), keys, alpha=size**-0.5)
        read = torch.bmm(scores.softmax(dim=-1), values)  # (batch, k x query heads of a key head, size)
        return places.rows(read.view(shape).transpose(1, 2).flatten(2, 3))

    def _for_all_heads(self, mask: Float[Tensor, "groups k width"]) -> Float[Tensor, "batch queries width"]:
        """The mask as the scores stand: (groups x key heads, k x query heads of a key head, width)."""
        key_heads = self.llama.config.num_key_value_heads
        of_a_key_head = self.llama.config.num_attention_heads // key_heads
        mask = mask[:, None, :, None].expand(-1, key_heads, -1, of_a_key_head, -1)
        return mask.flatten(2, 3).flatten(0, 1)


def places_in_groups(group: Sequence[int], number: Sequence[int], groups: int, k: int, device: torch.device) -> Places:
    """Node i is number[i] among those of group[i]. Where a group has fewer than k, any node stands; none sees it."""
    place_of = torch.tensor(group) * k + torch.tensor(number)
    row_at = torch.zeros(groups * k, dtype=torch.long)
    row_at[place_of] = torch.arange(len(place_of))
    return Places(row_at.view(groups, k), place_of, device)


def group_limit(P: int, C: int) -> int:
    """How many completions may share a group: where they part, each reads the others' keys in vain.

    Reading goes up to about four times the keys of one completion alone, P + C.
    """
    return 4 * (P + C) // C
