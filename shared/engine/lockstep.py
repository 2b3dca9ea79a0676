"""Sampling in lockstep, for a GPU: all completions take one token at a time, in tensors whose shapes stay the same.

This is the plain way to sample with a cache. B completions are B rows, and each row has room for its prompt and for
C tokens. A step reads one token of every row, at the same place of each, and gives the logits of the next:

    logits = decoder.logits  # (B, V), after the prompts
    for t in range(C):
        token = draw(logits.softmax(dim=-1), u[:, t])  # (B,)
        logits = decoder.step(token)

Two prompts of at most P = 3 tokens, G = 1, C = 3; `_` is padding, which a mask hides. EOS is the dot:

    place     0 1 2 | 3 4 5
    row 0     a b c | x y .
    row 1     d _ _ | . z z      it has ended: what follows is computed, and nobody reads it

On a GPU a small model is not slow because of its arithmetic. It waits for the host, which names each operation. So
nothing here asks the device for a value, but for one number every LOOK_EVERY tokens: how many completions go on. And
since no shape changes, the operations of a step are recorded once, as a CUDA graph, and given to the GPU as a whole.
When at most half of the rows go on, the others are left out, down to a power of two: the shapes change log2(B) times.

On the CPU `shared.engine.decoding` computes what completions have in common once, which pays there, and here not: the
host would have to see each token. With an untrained policy, whose completions have little in common, the CPU seconds of
sampling in trees and in lockstep are 0.114 and 0.147 (W1 of benchmarks/README.md), 0.034 and 0.041 (W2); at 135M
parameters 3.8 and 4.4, 1.43 and 1.45. That both draw the same tokens is tested in `tests/engine/test_lockstep.py`.
"""

import warnings
from collections.abc import Callable, Collection, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedModel

from shared.constrain import ROOT, AnswerTrie
from shared.engine.llama import PackedPrompts, attention, first_places, hidden_states
from shared.engine.sampling import Sampling, next_token
from shared.engine.shared_cache import attention_in_rows

LOOK_EVERY = 8


class LockstepDecoder:
    """B completions of a Llama-shaped model: the pass of `shared.engine.llama`, and a cache with a row for each.

    keys, values: one tensor for each layer, (B, key heads, size, P + C) and (B, key heads, P + C, size).
    unseen: (B, P + C), added to attention scores: 0 at what a row sees, the lowest number elsewhere.
    position: (B,), in the text, of each row's next token.    place: (1,), in the cache, of all rows' next tokens.
    logits: (B, V), of the next token.
    """

    def __init__(
        self,
        llama: PreTrainedModel,
        prompts: PackedPrompts,
        prompt_lengths: Int[Tensor, "N"],
        prompt_of: Sequence[int],
        room: int,
    ):
        """Read N prompts, each once, and begin a row for each of B completions.

        Args:
            prompt_lengths: on the host.
            prompt_of: which of the prompts each completion follows.
            room: C, the most tokens that a completion may have.
        """
        device = prompts.ids.device
        rows = torch.tensor(prompt_of)
        of_prompts = rows.to(device)
        places = prompts.places
        N, P = places.shape
        self.llama = llama
        self.keys: list[Tensor] = []
        self.values: list[Tensor] = []

        # Called once for each layer, in order.
        def attend(layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Float[Tensor, "T heads size"]:
            keys = places.padded(keys)  # (N, P, key heads, size)
            values = places.padded(values)
            self.keys.append(with_room(keys.permute(0, 2, 3, 1).index_select(0, of_prompts), 3, room))
            self.values.append(with_room(values.transpose(1, 2).index_select(0, of_prompts), 2, room))
            return places.rows(attention(places.padded(queries), keys, values, causal=True))

        hidden = hidden_states(llama, prompts.ids, prompts.positions, attend, prompts.last.to(device))
        self.logits = llama.lm_head(hidden).index_select(0, of_prompts)
        self.position = prompt_lengths[rows].to(device)
        self.place = torch.full((1,), P, device=device)
        seen = first_places(self.position, P + room)
        lowest = torch.finfo(self.keys[0].dtype).min
        self.unseen = self.keys[0].new_zeros(seen.shape).masked_fill(~seen, lowest)
        self.token = torch.zeros_like(self.position)
        self._begin_recording()

    def step(self, token: Int[Tensor, "B"]) -> Float[Tensor, "B V"]:
        """Read a token of each row; the logits of the next. They are overwritten by the next step."""
        self.token.copy_(token)
        self.logits = self._run()
        if self._is_to_be_recorded:  # now that a first pass of these shapes has made the device ready
            self._run = recorded(self._pass)
            self._is_to_be_recorded = False
        return self.logits

    def keep(self, rows: Int[Tensor, "kept"]) -> None:
        """Leave out all other rows. What was recorded is of other shapes."""
        self.keys = [keys.index_select(0, rows) for keys in self.keys]
        self.values = [values.index_select(0, rows) for values in self.values]
        self.unseen = self.unseen.index_select(0, rows)
        self.position = self.position.index_select(0, rows)
        self.token = self.token.index_select(0, rows)
        self.logits = self.logits.index_select(0, rows)
        self._begin_recording()

    def _begin_recording(self) -> None:
        """Run the next pass operation by operation, and record it after that where the device can."""
        self._run = self._pass
        self._is_to_be_recorded = self.place.device.type == "cuda"

    def _pass(self) -> Float[Tensor, "B V"]:
        """Read `token`. All that changes from one pass to the next changes in place, so a recorded pass goes on rightly."""
        self.unseen.index_fill_(1, self.place, 0.0)
        key_heads = self.llama.config.num_key_value_heads
        mask = self.unseen.repeat_interleave(key_heads, dim=0)[:, None]  # (B x key heads, 1, P + C)

        # Called once for each layer. It also writes the layer's keys and values to the cache.
        def attend(layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Float[Tensor, "B heads size"]:
            self.keys[layer].index_copy_(3, self.place, keys[..., None])
            self.values[layer].index_copy_(2, self.place, values[:, :, None])
            return attention_in_rows(queries[:, None], self.keys[layer], self.values[layer], mask)[:, 0]

        hidden = hidden_states(self.llama, self.token, self.position, attend)
        self.position.add_(1)
        self.place.add_(1)
        return self.llama.lm_head(hidden)


def with_room(prompts: Tensor, dim: int, room: int) -> Tensor:
    """The keys or values of prompts with zeros for `room` tokens behind them, along the dimension of places.

    Not whatever lies in the memory: a nan there would pass through a mask.
    """
    shape = list(prompts.shape)
    shape[dim] = room
    return torch.cat([prompts, prompts.new_zeros(shape)], dim=dim)


def recorded(function: Callable[[], Tensor]) -> Callable[[], Tensor]:
    """The operations of a function as a CUDA graph, which repeats them on the same memory; the function where that fails.

    Recording runs nothing. The graph lives as long as what is returned, which a decoder holds: it ends with the sampling
    that it was made for, so no graph meets weights that were put in anew.
    """
    graph = torch.cuda.CUDAGraph()
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    try:
        with torch.cuda.stream(stream):
            graph.capture_begin(capture_error_mode="thread_local")  # other threads may go on
            try:
                result = function()
            finally:
                graph.capture_end()
    except RuntimeError as error:
        reason = str(error).splitlines()[0]
        warnings.warn(
            f"Sampling is slower than it could be: a pass was not recorded as a CUDA graph ({reason}).", stacklevel=2
        )
        return function
    torch.cuda.current_stream().wait_stream(stream)

    def replay() -> Tensor:
        graph.replay()
        return result

    return replay


def draw_in_lockstep(
    decoder: LockstepDecoder,
    sampling: Sampling,
    eos: Collection[int],
    constraint: AnswerTrie | None,
    u: Float[Tensor, "B C"] | None,
) -> tuple[Int[Tensor, "B C"], Float[Tensor, "B C"], Float[Tensor, "B C"]]:
    """Draw at most C tokens for each of B completions.

    Args:
        constraint: on the decoder's device.
        u: a random number for each token; None when sampling is greedy.

    Returns:
        the tokens, their log-probabilities, and the entropies of the distributions that they were drawn from. Behind the
        first EOS of a row they mean nothing.
    """
    device = decoder.place.device
    B = len(decoder.logits)
    C = sampling.max_new_tokens
    ends = torch.tensor(sorted(eos), device=device)
    ids = torch.zeros(B, C, dtype=torch.long, device=device)
    logps = torch.zeros(B, C, dtype=torch.promote_types(decoder.logits.dtype, torch.float32), device=device)
    entropies = torch.zeros_like(logps)

    row = torch.arange(B, device=device)  # of each completion that is still in the batch, among all B
    ended = torch.zeros(B, dtype=torch.bool, device=device)
    state = torch.full_like(row, ROOT)
    for t in range(C):
        node = torch.arange(len(row), device=device)
        token, logp, entropy = next_token(
            decoder.logits, node, sampling, constraint, state, None if u is None else u[row, t]
        )
        ids[row, t] = token
        logps[row, t] = logp.to(logps.dtype)
        entropies[row, t] = entropy.to(logps.dtype)
        ended = ended | (token[:, None] == ends).any(dim=1)
        if constraint is not None:
            state = constraint.advance(state, token)
        if t + 1 == C:
            break
        if (t + 1) % LOOK_EVERY == 0:
            going_on = len(row) - int(ended.sum())  # the one thing that is asked of the device
            if not going_on:
                break
            kept = power_of_two_from(going_on)
            if kept <= len(row) // 2:
                chosen = ended.long().argsort(stable=True)[:kept]  # those that go on, and ended ones to fill up
                decoder.keep(chosen)
                row, ended, state, token = row[chosen], ended[chosen], state[chosen], token[chosen]
        decoder.step(token)
    return ids, logps, entropies


def power_of_two_from(number: int) -> int:
    """The smallest power of two that is at least this number. 5 gives 8."""
    return 1 << (number - 1).bit_length()
