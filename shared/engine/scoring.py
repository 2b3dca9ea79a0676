"""The hidden state of every context of a rollout, each computed once: prompts, shared beginnings, no padding.

Optional reading. `llama.lm_head(context_states(...))`, looked up for each token, equals the logits that
`shared.logps.plain_logps` cuts out of a padded batch (`tests/test_logps.py`,
`test_scoring_equals_the_plain_lines_in_value_and_gradient`).

The plain way repeats a prompt for each of its completions, and computes padding and equal beginnings again and again.
Here the tokens that differ are the rows of one matrix (`shared.engine.llama`): first the prompts, each beginning of
theirs once, then the nodes, one for each context with tokens after the prompt. The rollout drawn in
`shared.engine.contexts`, with P = 3, C = 3 and two completions of each prompt, `x y .` and `x z .` after `a b c`,
twice `u .` after `d`:

    row          0 1 2   3   4 5 6   7
    token        a b c   d   x y z   u
    position     0 1 2   0   3 4 4   1
    context          0   4   1 2 3   5           of the next token; 0 to 5 are what is wanted

Attention wants sequences of one length, so for it the rows are placed in two padded batches (`Places`), in which
`_` is padding. The nodes of a prompt stand side by side in a group, k at most (here 3), and a mask hides from each
what does not lead to it, as in sampling:

    prompts      0 1 2 | 3 _ _                   each query sees its prompt so far
    groups       4 5 6 | 7 _ _                   each query sees its prompt, and of its group:
                                                 4 sees 4; 5 sees 4 and 5; 6 sees 4 and 6; 7 sees 7

A completion's last token predicts nothing, so it has no row. Each token was drawn from a context, and so from a row:

    token        x y .   x z .   u .   u .
    context      0 1 2   0 1 3   4 5   4 5
    row          2 4 5   2 4 6   3 7   3 7

Nothing is read back from the device: lengths and contexts are on the host, and indices made of them go to the device,
never the other way.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from transformers import PreTrainedModel

from shared.engine.contexts import Contexts, groups_of, numbers_within
from shared.engine.llama import PackedPrompts, Places, attention, first_places, hidden_states


def context_states(
    llama: PreTrainedModel,
    prompt_ids: Int[Tensor, "N P"],
    completion_ids: Int[Tensor, "B C"],
    prompt_lengths: Int[Tensor, "N"],
    contexts: Contexts,
    beginnings: Int[Tensor, "N P"] | None = None,
) -> Float[Tensor, "K d"]:
    """The hidden state that stands for each context, from which its next token is drawn.

    Args:
        llama: see `shared.engine.llama.llama_in`.
        prompt_ids: padded on the left.    completion_ids: padded on the right, B / N completions of each prompt.
        prompt_lengths: on the host.    beginnings: of the prompts, see `shared.engine.llama.PackedPrompts`.
    """
    device = prompt_ids.device
    G = len(completion_ids) // len(prompt_ids)
    C = completion_ids.size(1)
    is_node = contexts.depth > 0  # (K,), the others are the distinct prompts
    prompt = contexts.completion // G  # (K,)

    prompts = prompt[~is_node]  # where each distinct prompt stands among the N
    lengths = prompt_lengths[prompts]
    packed = PackedPrompts.of(
        prompt_ids.index_select(0, prompts.to(device)), lengths, None if beginnings is None else beginnings[prompts]
    )

    last_token = contexts.completion * C + contexts.depth - 1  # (K,), of a node, among B x C
    node_ids = completion_ids.flatten().index_select(0, last_token[is_node].to(device))
    node_positions = (prompt_lengths[prompt] + contexts.depth - 1)[is_node].to(device)

    return hidden_states(
        llama,
        torch.cat([packed.ids, node_ids]),
        torch.cat([packed.positions, node_positions]),
        PromptsAndGroups(packed, lengths, contexts, device),
        rows_of_contexts(packed, contexts).to(device),
    )


def rows_of_contexts(prompts: PackedPrompts, contexts: Contexts) -> Int[Tensor, "K"]:
    """The row of the matrix that ends each context: of a distinct prompt its last token, else the context's node."""
    is_node = contexts.depth > 0
    rows = torch.empty(len(contexts), dtype=torch.long)
    rows[~is_node] = prompts.last
    rows[is_node] = len(prompts.ids) + torch.arange(int(is_node.sum()))
    return rows


# Nodes that may stand side by side. With fewer, what paths share is read again and again; with more, each node reads
# too many keys that do not lead to it. A path that is longer has a group of its own.
NODES_IN_GROUP = 48


class PromptsAndGroups:
    """Attention for a matrix of prompts and then nodes: the two padded batches of this module's drawing.

    prompts, lengths: of the D distinct prompts; the lengths are on the host.
    """

    def __init__(self, prompts: PackedPrompts, lengths: Int[Tensor, "D"], contexts: Contexts, device: torch.device):
        is_node = contexts.depth > 0
        among_nodes = is_node.cumsum(dim=0) - 1  # (K,)
        among_prompts = (~is_node).cumsum(dim=0) - 1
        groups = Groups.of(contexts)
        row_at = among_nodes[groups.context_at].clamp(min=0)  # (groups, k)
        prompt_of_group = among_prompts[groups.prompt]  # (groups,)

        self.prompt_tokens = len(prompts.ids)
        self.prompts = prompts.places
        self.groups = Places(row_at, groups.place_of[is_node], device)
        self.prompt_of_group = prompt_of_group.to(device)
        lengths_of_groups = lengths[prompt_of_group].to(device)
        self.visible = visible_keys(lengths_of_groups, self.prompts.shape[1], groups.leads.to(device))

    def __call__(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Float[Tensor, "T heads size"]:
        split = [self.prompt_tokens, len(q) - self.prompt_tokens]
        prompt_q, node_q = q.split(split)
        prompt_k, node_k = k.split(split)
        prompt_v, node_v = v.split(split)

        prompt_keys = self.prompts.padded(prompt_k)  # (D, P, key heads, size)
        prompt_values = self.prompts.padded(prompt_v)
        read_by_prompts = attention(self.prompts.padded(prompt_q), prompt_keys, prompt_values, causal=True)

        keys = self._after_prompts(prompt_keys, node_k)  # (groups, P + k, key heads, size)
        values = self._after_prompts(prompt_values, node_v)
        read_by_groups = attention(self.groups.padded(node_q), keys, values, self.visible)
        return torch.cat([self.prompts.rows(read_by_prompts), self.groups.rows(read_by_groups)])

    def _after_prompts(self, of_prompts: Float[Tensor, "D P heads size"], of_nodes: Tensor) -> Tensor:
        """Keys or values that a group reads: its prompt's, then its nodes', (groups, P + k, heads, size)."""
        return torch.cat([of_prompts.index_select(0, self.prompt_of_group), self.groups.padded(of_nodes)], dim=1)


@dataclass(frozen=True)
class Groups:
    """The places of nodes side by side, at most k of one prompt. A node stands in every group that has a path through it.

    prompt: (groups,), the context that is their prompt.
    context_at: (groups, k), the node at each place; in the padding 0.    place_of: (K,), of each node one such place.
    leads: (groups, k, k), [g, i, j] is whether the node at place j leads to the one at place i, or is it.
    """

    prompt: Int[Tensor, "groups"]
    context_at: Int[Tensor, "groups k"]
    place_of: Int[Tensor, "K"]
    leads: Bool[Tensor, "groups k k"]

    @classmethod
    def of(cls, contexts: Contexts) -> "Groups":
        """The nodes of as many paths in a group as `NODES_IN_GROUP` has room for, at least one."""
        S, C = contexts.on_path.shape
        K = len(contexts)
        at_once = max(1, NODES_IN_GROUP // max(1, C - 1))
        prompt, group_of_path = groups_of(contexts.on_path[:, 0].tolist(), at_once)
        group = torch.tensor(group_of_path)  # (S,)

        on_path = contexts.on_path[:, 1:]  # (S, C - 1)
        real = first_places(contexts.path_lengths, C)[:, 1:]
        of_group = (group[:, None] * K + on_path)[real]
        standing, which = torch.unique(of_group, return_inverse=True)  # by group and then by context, each once
        number = torch.tensor(numbers_within((standing // K).tolist()), dtype=torch.long)  # of each, in its group
        number_on_path = torch.zeros_like(on_path)
        number_on_path[real] = number[which]

        k = int(number.max()) + 1 if len(number) else 0
        place = standing // K * k + number
        context_at = torch.zeros(len(prompt), k, dtype=torch.long)
        context_at.view(-1)[place] = standing % K
        place_of = torch.zeros(K, dtype=torch.long)
        place_of = place_of.scatter_reduce(0, standing % K, place, "amin", include_self=False)
        return cls(torch.tensor(prompt), context_at, place_of, leading(number_on_path, real, group, len(prompt), k))


def leading(
    number_on_path: Int[Tensor, "S depths"],
    real: Bool[Tensor, "S depths"],
    group: Int[Tensor, "S"],
    groups: int,
    k: int,
) -> Bool[Tensor, "groups k k"]:
    """The nodes of a group that lead to each of its nodes: all that a path has passed on its way there."""
    leads = torch.zeros(groups, k, k, dtype=torch.bool)
    passed = torch.zeros(len(group), k, dtype=torch.bool)  # by each path so far
    for depth in range(real.size(1)):
        paths = real[:, depth].nonzero().flatten()
        here = number_on_path[paths, depth]
        passed[paths, here] = True
        leads[group[paths], here] = passed[paths]
    return leads


def visible_keys(
    prompt_lengths: Int[Tensor, "groups"], P: int, leads: Bool[Tensor, "groups k k"]
) -> Bool[Tensor, "groups 1 k keys"]:
    """The keys, of P + k, that each query of a group sees: those of its prompt, then the nodes that lead to it."""
    groups, k, _ = leads.shape
    prompt = first_places(prompt_lengths, P)[:, None].expand(groups, k, P)
    return torch.cat([prompt, leads], dim=2)[:, None]


def padded(values: Float[Tensor, "L *rest"], real: Int[Tensor, "L"], B: int, C: int) -> Float[Tensor, "B C *rest"]:
    """The values of the real tokens at their places in (B, C), zeros in the padding; `real` as `real_tokens` gives."""
    return values.new_zeros(B * C, *values.shape[1:]).index_copy(0, real, values).unflatten(0, (B, C))


def real_tokens(lengths: Int[Tensor, "B"], width: int) -> Int[Tensor, "L"]:
    """The places of the real tokens in a flattened (B, width) tensor padded on the right; where the lengths are."""
    return first_places(lengths, width).flatten().nonzero().flatten()
