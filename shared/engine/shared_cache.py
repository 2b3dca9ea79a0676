"""A cache of keys and values in which nodes of one prompt share a row (nodes: see `shared.engine.decoding`).

The plain cache has a row for each completion, and in it a copy of the prompt: `shared.engine.lockstep` has one. Each
query then meets the keys of its own row, and one query at a time is slow on a CPU. Here several nodes of a prompt share a
row. Behind one copy of the prompt stand the tokens of all of them, each in a *slot* of its own. The queries of a row's
nodes are multiplied with all keys of the row at once, and a mask hides from a node every token that is not before it.
Where completions part, a new node copies the mask of its parent, and nothing of the cache.

The nodes of the drawing in `shared.engine.decoding`, with prompts of at most P = 3 tokens; `_` is an unused slot:

    slot         0 1 2 | 3 4 | 5 6        P slots, then for each step as many as the fullest row has nodes
    row 0        a b c | x _ | y z
    row 1        d _ _ | u v | w _

    y sees       a b c   x     y
    z sees       a b c   x       z
    w sees       d         v   w

What shared rows buy: sampling W1 on the embedded model takes 120 ms instead of 165, on one thread (benchmarks/README.md).
That the logits are those of the plain way is tested in `tests/engine/test_llama.py`,
`test_a_decoder_goes_on_with_the_nodes_that_it_is_given`.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from shared.engine.contexts import numbers_within
from shared.engine.llama import Places, first_places

# Dropping empty rows copies the others; it pays once a quarter of the rows are empty.
DROP_ROWS_BELOW = 0.75

# A fuller row makes fewer and larger products. It also makes each node read more keys of other nodes in vain. Four is a
# round number between the two; it was not tuned.
OVERREAD = 4


def most_in_a_row(P: int, C: int) -> int:
    """The most completions that may share a row, after a prompt of P tokens and with room for C tokens each.

    Alone, a completion reads P + C keys. In a shared row it reads the prompt, and C keys of every completion of the row.
    The limit keeps these last ones within OVERREAD times P + C:

        P = 100, C = 50      alone           100 + 50       =  150 keys
                             limit           4 * 150 // 50  =  12 completions
                             in the row      12 * 50        =  600 keys after the prompt, 4 times 150
    """
    return OVERREAD * (P + C) // C


class SharedCache:
    """The cache, and where in it the R present nodes stand.

    keys: one tensor for each layer, (rows, key heads, size, slots).
    values: one tensor for each layer, (rows, key heads, slots, size).
    used: how many slots are in use, the same number in every row.
    prompt_of_row: the number of each row's prompt.
    next_position: for each row, the position in the text of its nodes' next tokens.
    row_of_node: for each of the R nodes, its row.
    mask: (R, used), added to a node's attention scores: 0 at what it sees, the lowest number elsewhere.
    width, layout, mask_of_heads: of the step that is being taken: how many slots it adds to each row, the way of its nodes
        into them, and the mask for every head.
    """

    def __init__(self, prompt_of_row: Sequence[int], room: int, queries_per_key_head: int):
        """Make a cache that has read nothing. room: slots of a row after its prompt."""
        self.room = room
        self.queries_per_key_head = queries_per_key_head
        self.keys: list[Tensor] = []
        self.values: list[Tensor] = []
        self.used = 0
        self.prompt_of_row = list(prompt_of_row)
        self.next_position = [0] * len(self.prompt_of_row)
        self.row_of_node = list(range(len(self.prompt_of_row)))  # at first a node for each row: its prompt

    def begin_layer(
        self, keys: Float[Tensor, "N P key_heads size"], values: Float[Tensor, "N P key_heads size"]
    ) -> None:
        """Begin the next layer with the keys and values of N prompts: a copy in each row."""
        prompt = torch.tensor(self.prompt_of_row, device=keys.device)
        rows = len(prompt)
        _, P, key_heads, size = keys.shape
        # The room after the prompt is left as it is: `attend` fills it before anything reads it.
        row_keys = keys.new_empty(rows, key_heads, size, P + self.room)
        row_keys[..., :P] = keys.permute(0, 2, 3, 1).index_select(0, prompt)
        self.keys.append(row_keys)
        row_values = values.new_empty(rows, key_heads, P + self.room, size)
        row_values[:, :, :P] = values.transpose(1, 2).index_select(0, prompt)
        self.values.append(row_values)
        self.used = P

    def end_prompts(self, prompt_lengths: Int[Tensor, "N"]) -> None:
        """Let each row's first node see its prompt, without the padding. Lengths are on the host."""
        lengths = prompt_lengths[self.prompt_of_row]
        self.next_position = lengths.tolist()
        padding = ~first_places(lengths, self.used).to(self.keys[0].device)
        self.mask = self.keys[0].new_zeros(padding.shape).masked_fill(padding, self._unseen)

    def take_slots(self, parents: Sequence[int]) -> Int[Tensor, "R"]:
        """Put a new node behind each of these parents, in the parent's row, and return the nodes' positions.

        The new nodes take the place of the present ones. Rows that have no node any more go.
        """
        self.row_of_node = [self.row_of_node[parent] for parent in parents]
        self._drop_empty_rows()
        # Every row gets as many slots as the fullest has nodes. Each node takes one of its row and sees it.
        slot = numbers_within(self.row_of_node)
        self.width = max(slot) + 1
        device = self.mask.device
        self.mask = self._mask_after(parents, slot)  # (R, used + width)
        self.layout = nodes_in_rows(self.row_of_node, slot, len(self.prompt_of_row), self.width, device)
        self.mask_of_heads = self._for_all_heads(self.layout.padded(self.mask))
        return torch.tensor([self.next_position[row] for row in self.row_of_node], device=device)

    def attend(
        self,
        layer: int,
        queries: Float[Tensor, "R heads size"],
        keys: Float[Tensor, "R key_heads size"],
        values: Float[Tensor, "R key_heads size"],
    ) -> Float[Tensor, "R heads size"]:
        """Put the new nodes' keys and values into their slots; what the nodes read from all that they see."""
        end = self.used + self.width
        self.keys[layer][..., self.used : end] = self.layout.padded(keys).permute(0, 2, 3, 1)
        self.values[layer][:, :, self.used : end] = self.layout.padded(values).transpose(1, 2)
        in_rows = self.layout.padded(queries)  # (rows, width, heads, size)
        read = attention_in_rows(
            in_rows, self.keys[layer][..., :end], self.values[layer][:, :, :end], self.mask_of_heads
        )
        return self.layout.rows(read)

    def end_step(self) -> None:
        """Count the new slots as used, now that every layer has filled them."""
        self.used += self.width
        self.next_position = [position + 1 for position in self.next_position]

    @property
    def _unseen(self) -> float:
        """The number that is added to the score of a key that a query must not see."""
        return torch.finfo(self.keys[0].dtype).min

    def _drop_empty_rows(self) -> None:
        """Leave rows without nodes out, once they are many; the others are numbered anew."""
        alive = sorted(set(self.row_of_node))
        if len(alive) >= DROP_ROWS_BELOW * len(self.prompt_of_row):
            return
        kept = torch.tensor(alive, device=self.mask.device)
        self.keys = [keys.index_select(0, kept) for keys in self.keys]
        self.values = [values.index_select(0, kept) for values in self.values]
        self.prompt_of_row = [self.prompt_of_row[row] for row in alive]
        self.next_position = [self.next_position[row] for row in alive]
        new_number = {row: i for i, row in enumerate(alive)}
        self.row_of_node = [new_number[row] for row in self.row_of_node]

    def _mask_after(self, parents: Sequence[int], slot: Sequence[int]) -> Float[Tensor, "R slots"]:
        """The mask of the new nodes: each sees what its parent saw, and of the new slots its own."""
        device = self.mask.device
        of_parents = self.mask.index_select(0, torch.tensor(parents, device=device))
        own = torch.full((len(parents), self.width), self._unseen, dtype=self.mask.dtype, device=device)
        own = own.scatter(1, torch.tensor(slot, device=device)[:, None], 0.0)
        return torch.cat([of_parents, own], dim=1)

    def _for_all_heads(self, mask: Float[Tensor, "rows width slots"]) -> Float[Tensor, "batch queries slots"]:
        """The mask as `attention_in_rows` wants it, the same for all heads."""
        key_heads = self.keys[0].size(1)
        mask = mask[:, None, :, None].expand(-1, key_heads, -1, self.queries_per_key_head, -1)
        return mask.flatten(2, 3).flatten(0, 1)


def nodes_in_rows(
    row_of_node: Sequence[int], slot: Sequence[int], rows: int, width: int, device: torch.device
) -> Places:
    """The way from R nodes to the `width` new slots of each row, and back: node i is at slot[i] of its row.

    Unused slots hold node 0, and the mask hides them. The second step of the drawing, nodes y z w:

        row_of_node   0 0 1
        slot          0 1 0
        node_at       0 1 | 2 0        row 0: y z, row 1: w and an unused slot
        place_of      0 1 2            counted through all rows: row_of_node * width + slot
    """
    place_of = torch.tensor(row_of_node) * width + torch.tensor(slot)
    node_at = torch.zeros(rows * width, dtype=torch.long)
    node_at[place_of] = torch.arange(len(place_of))
    return Places(node_at.view(rows, width), place_of, device)


def attention_in_rows(
    q: Float[Tensor, "rows width heads size"],
    keys: Float[Tensor, "rows key_heads size slots"],
    values: Float[Tensor, "rows key_heads slots size"],
    mask: Float[Tensor, "batch queries slots"],
) -> Float[Tensor, "rows width heads size"]:
    """Attention of one new token for each node: all queries of a row with all its keys, in two products.

    A key head serves several query heads, which are multiplied with it together. The batch is rows x key heads; its
    queries are width x queries per key head.
    """
    key_heads = keys.size(1)
    size = keys.size(2)
    queries = q.unflatten(2, (key_heads, -1)).transpose(1, 2)  # (rows, key heads, width, queries per key head, size)
    keys = keys.flatten(0, 1)  # (batch, size, slots)
    values = values.flatten(0, 1)  # (batch, slots, size)
    scores = torch.baddbmm(mask, queries.reshape(len(keys), -1, size), keys, alpha=size**-0.5)
    read = torch.bmm(scores.softmax(dim=-1), values)  # (batch, queries, size)
    return read.view(queries.shape).transpose(1, 2).flatten(2, 3)
