"""A decoder: a model that has read the prompts and goes on one token at a time, for many completions at once.

A model without a cache reads all tokens so far for each new one. With a KV cache each layer keeps the keys and values of
earlier tokens, and the model reads the newest token alone: `plain_decode` writes and reads such a cache. A prompt of 10
tokens and 5 drawn behind it: 10 + 11 + 12 + 13 + 14 = 60 tokens pass without a cache, 10 + 4 = 14 with it.

`PlainDecoder`, without a cache, says what a decoder of many completions is. `LlamaDecoder`, for Llama-shaped models, lets
completions that begin alike share one cache (`shared.engine.shared_cache`); `shared.engine.lockstep` has a row of the
cache for each completion, and `CachedDecoder` of `shared.engine.cached` is for any other model.
`tests/engine/test_llama.py` holds them to the plain ones.
"""

from collections import Counter
from collections.abc import Sequence

import torch
from jaxtyping import Int
from torch import Tensor
from transformers import PreTrainedModel

from shared.engine.cached import CachedDecoder
from shared.engine.contexts import groups_of
from shared.engine.llama import PackedPrompts, attention, hidden_states, llama_in
from shared.engine.shared_cache import SharedCache, most_in_a_row


def plain_decode(llama: PreTrainedModel, prompt: list[int], count: int) -> list[int]:
    """The likeliest token, `count` times, with a KV cache: the definition for one completion of a Llama-shaped model."""
    cache: dict[int, tuple[Tensor, Tensor]] = {}  # of each layer the keys and the values, (tokens so far, heads, size)

    def attend(layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """Write the keys and values of the newest tokens, and read those of all tokens so far."""
        if layer in cache:
            keys = torch.cat([cache[layer][0], keys])
            values = torch.cat([cache[layer][1], values])
        cache[layer] = keys, values
        first = len(keys) == len(queries)  # the prompt, in which no token sees a later one
        return attention(queries[None], keys[None], values[None], causal=first)[0]

    newest, drawn = list(prompt), []
    for position in range(len(prompt), len(prompt) + count):
        positions = torch.arange(position - len(newest), position)
        hidden = hidden_states(llama, torch.tensor(newest), positions, attend)  # (newest tokens, d)
        newest = [int(llama.lm_head(hidden[-1]).argmax())]
        drawn += newest
    return drawn


class PlainDecoder:
    """A decoder of many completions, without a cache: the model reads its nodes from the beginning at every step.

    A *node* is the tokens that one or several completions of a prompt have so far. Completions that have ended are left
    out by not being named. Two completions after the prompt `a b c`, two after `d`:

        nodes        drawn                         step(tokens, parents)
        0: a b c     x by completions 0 and 1
        1: d         u by 2, v by 3                step([x, u, v], [0, 1, 1])
        0: a b c x   y by 0, z by 1
        1: d u       EOS by 2
        2: d v       w by 3                        step([y, z, w], [0, 0, 2])

    nodes: the ids of each of the R nodes.    logits: (R, V), of the token after each.
    """

    def __init__(self, model: PreTrainedModel, prompts: Sequence[list[int]]):
        self.model = model
        self._read(list(prompts))

    def step(self, tokens: Sequence[int], parents: Sequence[int]) -> None:
        """Go on with new nodes: each is a token, and the number of the node that it follows, its parent."""
        self._read([self.nodes[parent] + [token] for token, parent in zip(tokens, parents)])

    def _read(self, nodes: list[list[int]]) -> None:
        self.nodes = nodes
        rows = [self.model(input_ids=torch.tensor([ids], device=self.model.device)).logits[:, -1] for ids in nodes]
        self.logits = torch.cat(rows)  # (R, V)


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
    limit = most_in_a_row(prompt_ids.size(1), room)
    prompt_of_row, row_of_completion = groups_of(prompt_of, limit)
    # Where no two completions draw the same, each needs slots of its own.
    fullest = max(Counter(row_of_completion).values())
    prompts = PackedPrompts.of(prompt_ids, prompt_lengths, beginnings)
    decoder = LlamaDecoder(llama, prompts, prompt_lengths, prompt_of_row, room * fullest)
    return decoder, row_of_completion  # a row begins with one node, of the same number


class LlamaDecoder:
    """The decoder for Llama-shaped models: the pass of `shared.engine.llama`, and a cache that nodes of a prompt share.

    cache: it knows where the nodes stand.    logits: (R, V), of the token after each of the R nodes.
    """

    def __init__(
        self,
        llama: PreTrainedModel,
        prompts: PackedPrompts,
        prompt_lengths: Int[Tensor, "N"],
        prompt_of_row: Sequence[int],
        slots: int,
    ):
        """Read the prompts, each once, and begin each row of the cache with one. The first nodes are the rows' prompts.

        Args:
            prompt_lengths: on the host.
            prompt_of_row: the prompt of each row.
            slots: the tokens that a row must hold after its prompt, of all its completions together.
        """
        config = llama.config
        self.llama = llama
        self.cache = SharedCache(prompt_of_row, slots, config.num_attention_heads // config.num_key_value_heads)
        places = prompts.places

        # Called once for each layer, in order. It also puts the layer's keys and values into the cache.
        def attend(layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
            keys = places.padded(keys)  # (N, P, key heads, size)
            values = places.padded(values)
            self.cache.begin_layer(keys, values)
            return places.rows(attention(places.padded(queries), keys, values, causal=True))

        device = prompts.ids.device
        hidden = hidden_states(llama, prompts.ids, prompts.positions, attend, prompts.last.to(device))
        self.logits = llama.lm_head(hidden).index_select(0, torch.tensor(prompt_of_row, device=device))
        self.cache.end_prompts(prompt_lengths)

    def step(self, tokens: Sequence[int], parents: Sequence[int]) -> None:
        """Replace the nodes by these, and `logits` by theirs. Nothing is read back from the device.

        Args:
            tokens: the token of each new node.
            parents: for each new node, the number of the present node that it follows.
        """
        positions = self.cache.take_slots(parents)
        ids = torch.tensor(tokens, device=positions.device)
        hidden = hidden_states(self.llama, ids, positions, self.cache.attend)
        self.logits = self.llama.lm_head(hidden)
        self.cache.end_step()
