"""A decoder: a model that has read the prompts and goes on one token at a time, for many completions at once.

The plain loop reads every completion from its beginning, for each token anew:

    for t in range(max_new_tokens):
        logits = model(prompt_and_tokens_so_far).logits[:, -1]  # (B, V)
        token = draw(logits.softmax(dim=-1), u[:, t])  # (B,)

A decoder gives the same logits from less work. It reads each prompt once and keeps what the model computed for it. It
holds R *nodes*. A node stands for all completions of a prompt that have drawn the same tokens so far: what they draw
next, they draw from the same logits.

    logits                  (R, V), of the token after each node; each completion draws from those of its node
    step(tokens, parents)   go on with these nodes: each is a token and its parent, the number of the node it follows

Completions that have ended, and nodes that nobody goes on from, are left out by not being named. Two completions after
the prompt `a b c`, two after `d`; EOS ends a completion:

    nodes        drawn                         step(tokens, parents)
    0: a b c     x by completions 0 and 1
    1: d         u by 2, v by 3                step([x, u, v], [0, 1, 1])
    0: a b c x   y by 0, z by 1
    1: d u       EOS by 2
    2: d v       w by 3                        step([y, z, w], [0, 0, 2])

`LlamaDecoder` is the one for Llama-shaped models, `CachedDecoder` of `shared.engine.cached` the one for any other. That
they draw the tokens of the plain loop is tested in `tests/engine/test_tree.py`,
`test_the_tokens_are_those_of_the_plain_loop`.
"""

from collections import Counter
from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedModel

from shared.engine.cached import CachedDecoder
from shared.engine.contexts import groups_of, numbers_within
from shared.engine.llama import PackedPrompts, Places, attention, first_places, hidden_states, llama_in


def start_decoding(
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
        room: the most tokens that a completion may have.
        beginnings: a number for each prompt token, equal where two prompts are equal up to that token; such a token
            is computed once. None computes each prompt for itself.

    Returns:
        the decoder, and for each completion the node at which it begins.
    """
    llama = llama_in(model)
    if llama is None:
        each_once = torch.arange(len(prompt_ids), device=prompt_ids.device)
        return CachedDecoder(model, prompt_ids, prompt_mask, each_once), list(prompt_of)
    limit = group_limit(prompt_ids.size(1), room)
    prompt_of_group, group_of_completion = groups_of(prompt_of, limit)
    # Where no two completions draw the same, each needs places of its own.
    largest = max(Counter(group_of_completion).values())
    decoder = LlamaDecoder(llama, prompt_of_group, room * largest)
    decoder.prefill(PackedPrompts.of(prompt_ids, prompt_lengths, beginnings), prompt_lengths)
    return decoder, group_of_completion  # a group begins with one node, of the same number


# Dropping empty groups copies the cache of the others; it pays once a quarter of the groups are empty.
DROP_GROUPS_BELOW = 0.75


class LlamaDecoder:
    """The decoder for Llama-shaped models: the pass of `shared.engine.llama`, and a cache that nodes of a prompt share.

    It equals `CachedDecoder`, transformers' own pass and cache (`tests/engine/test_llama.py`,
    `test_a_decoder_goes_on_with_the_nodes_that_it_is_given`).

    Three words. A *node* is one beginning of completions, as above. A *group* is a set of nodes of one prompt; they
    share one stretch of the cache. A *place* is room for one token in that stretch.

    With one query at a time attention is slow: it reads every key for a handful of products. So the queries of a
    group's nodes are multiplied with all keys of the group at once. The keys of a group begin with one copy of its
    prompt. A mask hides from a node every token that is not before it. Where completions part, a new node copies the
    mask of its parent, and nothing of the cache.

    The nodes of the drawing above, prompts of at most P = 3 tokens; `_` is an unused place:

        place        0 1 2 | 3 4 | 5 6        P places, then for each step as many as the largest group has nodes
        group 0      a b c | x _ | y z
        group 1      d _ _ | u v | w _

        y sees       a b c   x     y
        z sees       a b c   x       z
        w sees       d         v   w

    What groups buy: sampling W1 on the embedded model 120 ms instead of 165, on one thread (benchmarks/README.md).

    prompt_of_group: for each group, the number of its prompt.
    next_position: for each group, the position in the text of its nodes' next tokens.
    group_of_node: for each of the R nodes, its group.
    mask: (R, places in use), added to a node's attention scores: 0 at what it sees, the lowest number elsewhere.
    logits: (R, V), of the token after each node.
    """

    def __init__(self, llama: PreTrainedModel, prompt_of_group: Sequence[int], room: int):
        """Make groups that have read nothing yet; `prefill` comes next. room: places of a group after its prompt."""
        groups = len(prompt_of_group)
        self.llama = llama
        self.cache = GroupCache(room)
        self.prompt_of_group = list(prompt_of_group)
        self.next_position = [0] * groups
        self.group_of_node = list(range(groups))  # at first one node for each group: its prompt
        self.mask = torch.empty(groups, 0)
        self.logits = torch.empty(groups, 0)

    def prefill(self, prompts: PackedPrompts, prompt_lengths: Int[Tensor, "N"]) -> None:
        """Read the prompts, each once; their keys and values begin the cache of each group. Lengths are on the host."""
        device = prompts.ids.device
        places = prompts.places
        prompt_of_group = torch.tensor(self.prompt_of_group, device=device)

        # Called once for each layer, in order. It also puts the layer's keys and values into the cache.
        def attend(layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Float[Tensor, "T heads size"]:
            keys = places.padded(keys)  # (N, P, key heads, size)
            values = places.padded(values)
            self.cache.begin(keys, values, prompt_of_group)
            return places.rows(attention(places.padded(queries), keys, values, causal=True))

        hidden = hidden_states(self.llama, prompts.ids, prompts.positions, attend, prompts.last.to(device))
        self.logits = self.llama.lm_head(hidden).index_select(0, prompt_of_group)
        lengths = prompt_lengths[self.prompt_of_group]
        self.next_position = lengths.tolist()
        padding = ~first_places(lengths, self.cache.used).to(device)
        self.mask = self.cache.keys[0].new_zeros(padding.shape).masked_fill(padding, self._unseen)

    def step(self, tokens: Sequence[int], parents: Sequence[int]) -> None:
        """Replace the nodes by these, and `logits` by theirs. Nothing is read back from the device.

        Args:
            tokens: the token of each new node.
            parents: for each new node, the number of the present node that it follows.
        """
        device = self.mask.device
        # 1. A node stays in the group of its parent. Groups without nodes go.
        self.group_of_node = [self.group_of_node[parent] for parent in parents]
        self._drop_empty_groups()
        # 2. Every group gets as many new places as the largest has nodes. Each node takes one and sees it.
        new_place = numbers_within(self.group_of_node)
        width = max(new_place) + 1
        self.mask = self._mask_after(parents, new_place, width)  # (R, places in use + width)
        places = places_in_groups(self.group_of_node, new_place, len(self.prompt_of_group), width, device)
        mask = self._for_all_heads(places.padded(self.mask))

        # 3. The pass. `attend` is called once for each layer. It also writes the layer's keys and values to the cache.
        def attend(layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Float[Tensor, "R heads size"]:
            keys, values = self.cache.write(layer, places.padded(keys), places.padded(values))
            return places.rows(group_attention(places.padded(queries), keys, values, mask))

        position = torch.tensor([self.next_position[group] for group in self.group_of_node], device=device)
        hidden = hidden_states(self.llama, torch.tensor(tokens, device=device), position, attend)
        self.logits = self.llama.lm_head(hidden)
        # 4. Every layer has written its keys and values: the new places are in use.
        self.cache.used += width
        self.next_position = [position + 1 for position in self.next_position]

    @property
    def _unseen(self) -> float:
        """The number that is added to the score of a key that a query must not see."""
        return torch.finfo(self.cache.keys[0].dtype).min

    def _drop_empty_groups(self) -> None:
        """Leave groups without nodes out of the cache, once they are many; the others are numbered anew."""
        alive = sorted(set(self.group_of_node))
        if len(alive) >= DROP_GROUPS_BELOW * len(self.prompt_of_group):
            return
        self.cache.keep(torch.tensor(alive, device=self.mask.device))
        self.prompt_of_group = [self.prompt_of_group[group] for group in alive]
        self.next_position = [self.next_position[group] for group in alive]
        new_number = {group: i for i, group in enumerate(alive)}
        self.group_of_node = [new_number[group] for group in self.group_of_node]

    def _mask_after(self, parents: Sequence[int], new_place: Sequence[int], width: int) -> Float[Tensor, "R places"]:
        """The mask of the new nodes: each sees what its parent saw, and of the `width` new places its own."""
        device = self.mask.device
        of_parents = self.mask.index_select(0, torch.tensor(parents, device=device))
        own = torch.full((len(parents), width), self._unseen, dtype=self.mask.dtype, device=device)
        own = own.scatter(1, torch.tensor(new_place, device=device)[:, None], 0.0)
        return torch.cat([of_parents, own], dim=1)

    def _for_all_heads(self, mask: Float[Tensor, "groups width places"]) -> Float[Tensor, "batch queries places"]:
        """The mask as `group_attention` wants it, the same for all heads."""
        key_heads = self.llama.config.num_key_value_heads
        queries_per_key_head = self.llama.config.num_attention_heads // key_heads
        mask = mask[:, None, :, None].expand(-1, key_heads, -1, queries_per_key_head, -1)
        return mask.flatten(2, 3).flatten(0, 1)


class GroupCache:
    """The keys and values of each group, layer by layer, at places that fill up from the left.

    keys: one tensor for each layer, (groups, key heads, size, places).
    values: one tensor for each layer, (groups, key heads, places, size).
    used: how many places are in use, the same number in every group.
    """

    def __init__(self, room: int):
        """Make an empty cache. room: places of a group after its prompt."""
        self.room = room
        self.used = 0
        self.keys: list[Tensor] = []
        self.values: list[Tensor] = []

    def begin(
        self,
        keys: Float[Tensor, "N P key_heads size"],
        values: Float[Tensor, "N P key_heads size"],
        prompt_of_group: Int[Tensor, "groups"],
    ) -> None:
        """Begin the next layer with the keys and values of each group's prompt."""
        _, P, key_heads, size = keys.shape
        groups = len(prompt_of_group)
        # The room after the prompt is left as it is: `write` fills it before anything reads it.
        cached_keys = keys.new_empty(groups, key_heads, size, P + self.room)
        cached_keys[..., :P] = keys.permute(0, 2, 3, 1).index_select(0, prompt_of_group)
        self.keys.append(cached_keys)
        cached_values = values.new_empty(groups, key_heads, P + self.room, size)
        cached_values[:, :, :P] = values.transpose(1, 2).index_select(0, prompt_of_group)
        self.values.append(cached_values)
        self.used = P

    def write(
        self,
        layer: int,
        keys: Float[Tensor, "groups width key_heads size"],
        values: Float[Tensor, "groups width key_heads size"],
    ) -> tuple[Float[Tensor, "groups key_heads size places"], Float[Tensor, "groups key_heads places size"]]:
        """Write behind the places in use, which stay as they are; return the layer's keys and values, old and new."""
        end = self.used + keys.size(1)
        self.keys[layer][..., self.used : end] = keys.permute(0, 2, 3, 1)
        self.values[layer][:, :, self.used : end] = values.transpose(1, 2)
        return self.keys[layer][..., :end], self.values[layer][:, :, :end]

    def keep(self, groups: Int[Tensor, "kept"]) -> None:
        """Keep the rows of these groups."""
        self.keys = [keys.index_select(0, groups) for keys in self.keys]
        self.values = [values.index_select(0, groups) for values in self.values]


def group_attention(
    q: Float[Tensor, "groups width heads size"],
    keys: Float[Tensor, "groups key_heads size places"],
    values: Float[Tensor, "groups key_heads places size"],
    mask: Float[Tensor, "batch queries places"],
) -> Float[Tensor, "groups width heads size"]:
    """Attention of one new token for each node: all queries of a group with all its keys, in two products.

    A key head serves several query heads, which are multiplied with it together. The batch is groups x key heads; its
    queries are width x queries per key head.
    """
    key_heads = keys.size(1)
    size = keys.size(2)
    queries = q.unflatten(2, (key_heads, -1)).transpose(1, 2)  # (groups, key heads, width, queries per key head, size)
    keys = keys.flatten(0, 1)  # (batch, size, places)
    values = values.flatten(0, 1)  # (batch, places, size)
    scores = torch.baddbmm(mask, queries.reshape(len(keys), -1, size), keys, alpha=size**-0.5)
    read = torch.bmm(scores.softmax(dim=-1), values)  # (batch, queries, size)
    return read.view(queries.shape).transpose(1, 2).flatten(2, 3)


def places_in_groups(
    group_of_node: Sequence[int], new_place: Sequence[int], groups: int, width: int, device: torch.device
) -> Places:
    """The way from R nodes to the `width` new places of each group, and back: node i is at new_place[i] of its group.

    Unused places hold node 0, and the mask hides them. The second step of the drawing, nodes y z w:

        group_of_node   0 0 1
        new_place       0 1 0
        node_at         0 1 | 2 0        group 0: y z, group 1: w and an unused place
        place_of_node   0 1 2            counted through all groups: group_of_node * width + new_place
    """
    place_of_node = torch.tensor(group_of_node) * width + torch.tensor(new_place)
    node_at = torch.zeros(groups * width, dtype=torch.long)
    node_at[place_of_node] = torch.arange(len(place_of_node))
    return Places(node_at.view(groups, width), place_of_node, device)


# A larger group makes fewer and larger products. It also makes each node read more keys of other nodes in vain. Four is a
# round number between the two; it was not tuned.
OVERREAD = 4


def group_limit(P: int, C: int) -> int:
    """The most completions that may share a group, after a prompt of P tokens and with room for C tokens each.

    Alone, a completion reads P + C keys. In a group it reads the prompt, and C keys of every completion of the group.
    The limit keeps these last ones within OVERREAD times P + C:

        P = 100, C = 50      alone           100 + 50       =  150 keys
                             limit           4 * 150 // 50  =  12 completions
                             in the group    12 * 50        =  600 keys after the prompt, 4 times 150
    """
    return OVERREAD * (P + C) // C
