"""The hidden states that completion tokens were drawn from: each prompt once, padding not at all.

Optional reading. `llama.lm_head(completion_states(...))` equals the logits that `shared.logps.plain_logps` cuts out
of a padded batch, at the real tokens (`tests/test_rollout.py`,
`test_scoring_equals_the_plain_padded_forward_in_value_and_gradient`).

The plain way repeats a prompt for each of its completions, and computes the padding of both. Here the real tokens
are the rows of one matrix (`shared.engine.llama`): first the prompts, then the completions. Two prompts of 3 and 1
tokens (so P = 3), `a b c` and `d`, with k = 2 completions each, `x y .` and `u .`, `v w .` and `.` (so C = 3; the
dot is EOS):

    row          0 1 2   3   4 5   6   7 8
    token        a b c   d   x y   u   v w       a completion's last token predicts nothing, so it has no row
    position     0 1 2   0   3 4   3   1 2

Attention wants sequences of one length, so for it the rows are placed in two padded batches (`Places`), in which
`_` is padding:

    prompts      0 1 2 | 3 _ _                   2 sequences of P places, each query sees its prompt so far
    completions  4 5 | 6 _ | 7 8 | _ _           4 sequences of C - 1 places, each query sees the whole prompt
                                                 and its own completion so far

Each token of a completion was drawn from the row before it:

    token        x y .   u .   v w .   .
    row          2 4 5   2 6   3 7 8   3

What it buys, with the pass itself: a step of the embedded model 100 ms instead of 122 (analogies, G = 4, one
thread; benchmarks/README.md). Nothing is read back from the device: lengths come on the host, and indices made of
them go to the device, never the other way.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedModel

from shared.engine.llama import Places, attention, first_places, hidden_states, packed_prompts


def completion_states(
    llama: PreTrainedModel,
    prompt_ids: Int[Tensor, "N P"],
    completion_ids: Int[Tensor, "B C"],
    prompt_lengths: Int[Tensor, "N"],
    lengths: Int[Tensor, "B"],
) -> Float[Tensor, "L d"]:
    """The hidden state from which each completion token was drawn, one completion after another, without padding.

    Args:
        llama: see `shared.engine.llama.llama_in`.
        prompt_ids: padded on the left.    completion_ids: padded on the right, B / N completions of each prompt.
        prompt_lengths, lengths: of prompts and completions, on the host.
    """
    P = prompt_ids.size(1)
    C = completion_ids.size(1)
    attend = PromptsAndCompletions(prompt_lengths, lengths, P, C, prompt_ids.device)
    of_prompts, prompt_positions = packed_prompts(prompt_ids, prompt_lengths)
    of_completions = attend.completions.rows(completion_ids[:, :-1])
    positions = torch.cat([prompt_positions, completion_positions(prompt_lengths, lengths).to(prompt_ids.device)])
    hidden = hidden_states(llama, torch.cat([of_prompts, of_completions]), positions, attend)
    return hidden.index_select(0, rows_before(prompt_lengths, lengths).to(hidden.device))


class PromptsAndCompletions:
    """Attention for a matrix of prompts and then completions: the two padded batches of this module's drawing."""

    def __init__(self, prompt_lengths: Tensor, lengths: Tensor, P: int, C: int, device: torch.device):
        self.G = len(lengths) // len(prompt_lengths)
        self.prompt_tokens = int(prompt_lengths.sum())
        self.prompts = Places(prompt_lengths, P, device)
        self.completions = Places(lengths - 1, C - 1, device)
        self.visible = self._visible(prompt_lengths.to(device), P, C - 1)  # (B, 1, C - 1, P + C - 1)

    def _visible(self, prompt_lengths: Int[Tensor, "N"], P: int, queries: int) -> Tensor:
        """Which keys a completion's query sees: those of its prompt, then those of the completion up to itself."""
        B = len(prompt_lengths) * self.G
        prompt = first_places(prompt_lengths, P).repeat_interleave(self.G, dim=0)  # (B, P)
        so_far = torch.ones(queries, queries, dtype=torch.bool, device=prompt.device).tril()
        return torch.cat([prompt[:, None].expand(B, queries, P), so_far.expand(B, queries, queries)], dim=2)[:, None]

    def __call__(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Float[Tensor, "T heads size"]:
        split = [self.prompt_tokens, len(q) - self.prompt_tokens]
        prompt_q, completion_q = q.split(split)
        prompt_k, completion_k = k.split(split)
        prompt_v, completion_v = v.split(split)

        prompt_keys = self.prompts.padded(prompt_k)  # (N, P, key heads, size)
        prompt_values = self.prompts.padded(prompt_v)
        read_by_prompts = attention(self.prompts.padded(prompt_q), prompt_keys, prompt_values, causal=True)

        keys = self._after_prompts(prompt_keys, completion_k)  # (B, P + C - 1, key heads, size)
        values = self._after_prompts(prompt_values, completion_v)
        read_by_completions = attention(self.completions.padded(completion_q), keys, values, self.visible)
        return torch.cat([self.prompts.rows(read_by_prompts), self.completions.rows(read_by_completions)])

    def _after_prompts(self, of_prompts: Float[Tensor, "N P heads size"], of_completions: Tensor) -> Tensor:
        """Each prompt's keys or values, then those of its completions, (B, P + C - 1, heads, size)."""
        repeated = of_prompts.repeat_interleave(self.G, dim=0)  # (B, P, heads, size)
        return torch.cat([repeated, self.completions.padded(of_completions)], dim=1)


def completion_positions(prompt_lengths: Int[Tensor, "N"], lengths: Int[Tensor, "B"]) -> Int[Tensor, "T"]:
    """The position of each completion token but the last: a completion goes on where its prompt ends. On the host."""
    G = len(lengths) // len(prompt_lengths)
    width = int(lengths.max()) - 1
    positions = prompt_lengths.repeat_interleave(G)[:, None] + torch.arange(width)  # (B, C - 1)
    return positions[first_places(lengths - 1, width)]


def rows_before(prompt_lengths: Int[Tensor, "N"], lengths: Int[Tensor, "B"]) -> Int[Tensor, "L"]:
    """The row that each completion token was drawn from: the prompt's last, then those of the completion itself."""
    G = len(lengths) // len(prompt_lengths)
    width = int(lengths.max())
    last_of_prompt = (prompt_lengths.cumsum(dim=0) - 1).repeat_interleave(G)[:, None]  # (B, 1)
    own = prompt_lengths.sum() + (lengths - 1).cumsum(dim=0) - (lengths - 1)  # (B,), the first row of each completion
    rows = torch.cat([last_of_prompt, own[:, None] + torch.arange(width - 1)], dim=1)  # (B, C)
    return rows[first_places(lengths, width)]


def real_tokens(lengths: Int[Tensor, "B"], width: int) -> Int[Tensor, "L"]:
    """Where the real tokens stand in a flattened (B, width) tensor padded on the right; where the lengths are."""
    return first_places(lengths, width).flatten().nonzero().flatten()
