"""The tree of a group's completions: what they have in common is computed once.

Optional reading. A token's *context* (see CONTRIBUTING: house words) is its prompt and the tokens before it, and nothing
else decides what the token is drawn from. Completions of one prompt begin alike, more of them as training goes on, and
equal contexts have equal logits. Prompts `a b c` and `d`, two completions each; the dot is EOS. A number in brackets is
a context: all that stands to the left of it, and the tokens to the right of it are drawn from it.

    a b c [0] --- x [1] -+- y [2] --- .        completion 0
                         +- z [3] --- .        completion 1
    d     [4] --- u [5] ----- .                completions 2 and 3

    completion    tokens    their contexts
    0             x y .     0 1 2
    1             x z .     0 1 3
    2             u .       4 5
    3             u .       4 5

Ten tokens have six contexts. So six rows of logits are computed: the prompts pass through the model once, and so do the
four tokens x, y, z and u. Completion 3 adds nothing. A *path* is a way from a prompt to a leaf; the paths of
completions 0, 1 and 2 hold all contexts between them.

What it buys: of sampling, two scorings and a backward pass with a policy that was trained for 12 steps, 127 ms are
left of 178 on dots, 188 of 382 on poker, 145 of 280 on analogies and 1,445 of 2,102 on countdown; nothing is lost
where all completions differ (benchmarks/README.md).

`number_contexts` is the plain loop that gives the numbers, while sampling has the tokens on the host anyway.
`shared.engine.scoring` computes each context once, and so does sampling: the nodes of a decoder
(`shared.engine.decoding`) are contexts. Everything in this file is on the host. That scoring with contexts equals
scoring without is tested in `tests/test_logps.py`, `test_scoring_equals_the_plain_lines_in_value_and_gradient`.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from shared.engine.llama import first_of_each, first_places


def number_contexts(prompts: Sequence[int], completions: Sequence[Sequence[int]]) -> list[list[int]]:
    """The number of the context that each token was drawn from. Contexts are numbered as they are first met.

    Args:
        prompts: a number for each completion's prompt; equal prompts have equal numbers.
        completions: their token ids, at least one each.
    """
    # A context is a prompt, or the context and the token that lead to it.
    number: dict[tuple[int | None, int], int] = {}
    contexts = []
    for prompt, tokens in zip(prompts, completions):
        context = number.setdefault((None, prompt), len(number))
        row = [context]
        for token in tokens[:-1]:
            context = number.setdefault((context, token), len(number))
            row.append(context)
        contexts.append(row)
    return contexts


def number_beginnings(prompts: Sequence[Sequence[int]]) -> list[list[int]]:
    """A number for each token of each prompt, equal where two prompts are equal up to that token.

    `a b c` and `a d`: 1 2 3 and 1 4. The number of a token is that of the context that the next token would have, so
    one more token, whichever, is put behind each prompt.
    """
    whatever = 0
    contexts = number_contexts([0] * len(prompts), [[*ids, whatever] for ids in prompts])
    return [row[1:] for row in contexts]


def prompt_beginnings(prompt_ids: Int[Tensor, "N P"], prompt_mask: Int[Tensor, "N P"]) -> Int[Tensor, "N P"]:
    """The numbers of `number_beginnings` for prompts that are padded on the left; 0 in the padding."""
    real = prompt_mask == 1
    numbers = number_beginnings([ids[is_real].tolist() for ids, is_real in zip(prompt_ids, real)])
    beginnings = torch.zeros_like(prompt_ids)
    beginnings[real] = torch.tensor([number for row in numbers for number in row])
    return beginnings


def numbers_within(groups: Sequence[int]) -> list[int]:
    """The number of entries of its group that stand before each entry. Groups 0 0 1 0: 0 1 0 2."""
    met: Counter[int] = Counter()
    numbers = []
    for group in groups:
        numbers.append(met[group])
        met[group] += 1
    return numbers


def groups_of(prompt_of: Sequence[int], limit: int) -> tuple[list[int], list[int]]:
    """Cut the completions of each prompt into groups of at most `limit`, as even as can be.

    Five completions of prompt 0 with limit 3 make groups of 3 and 2: [0, 0] and [0, 0, 0, 1, 1].

    Returns:
        the prompt of each group, and the group of each completion.
    """
    count = Counter(prompt_of)
    group: dict[tuple[int, int], int] = {}
    group_of = []
    for prompt, number in zip(prompt_of, numbers_within(prompt_of)):
        parts = math.ceil(count[prompt] / limit)
        part = number * parts // count[prompt]
        group_of.append(group.setdefault((prompt, part), len(group)))
    return [prompt for prompt, _ in group], group_of


def separate_contexts(num_prompts: int, num_generations: int, length: int) -> Int[Tensor, "B C"]:
    """Numbers of contexts for completions of which nothing is known: they share their prompt, and no token."""
    B = num_prompts * num_generations
    first = torch.arange(num_prompts).repeat_interleave(num_generations)[:, None]
    return torch.cat([first, num_prompts + torch.arange(B * (length - 1)).view(B, length - 1)], dim=1)


@dataclass(frozen=True)
class Contexts:
    """The K contexts of L tokens, numbered without gaps, and S paths that hold them all. In brackets: the drawing's.

    of_token: (L,), the context of each token, one completion after another, without padding. [0 1 2 0 1 3 4 5 4 5]
    paths: (S,), the completions whose paths hold all contexts; as few as will do. [0 1 2]
    path_lengths: (S,), how many contexts are on each path. [3 3 2]
    path: (K,), a path on which each context stands. [0 0 0 1 2 2]
    depth: (K,), how many tokens of the completion come before it. [0 1 2 2 0 1]
    on_path: (S, C), the context at each depth of each path; in the padding any. [0 1 2 | 0 1 3 | 4 5 _]
    """

    of_token: Int[Tensor, "L"]
    paths: Int[Tensor, "S"]
    path_lengths: Int[Tensor, "S"]
    path: Int[Tensor, "K"]
    depth: Int[Tensor, "K"]
    on_path: Int[Tensor, "S C"]

    @classmethod
    def of(cls, numbers: Int[Tensor, "B C"], lengths: Int[Tensor, "B"]) -> "Contexts":
        """Make them of the numbers of `number_contexts`, which have gaps where some completions were left out."""
        B, C = numbers.shape
        real = first_places(lengths, C)  # (B, C)
        present, of_token = torch.unique(numbers[real], return_inverse=True)  # (K,), (L,)
        without_gaps = torch.zeros(B, C, dtype=torch.long)
        without_gaps[real] = of_token

        # Each context is assigned to the longest completion through it. Then a completion is needed only if no longer
        # one goes through its last context: one path for each leaf of the tree.
        longest_first = lengths.argsort(descending=True, stable=True)
        places = torch.arange(B * C).view(B, C)[longest_first][real[longest_first]]  # (L,), of the tokens in (B, C)
        contexts = without_gaps.flatten()[places]  # (L,), from which they were drawn
        place = places[first_of_each(contexts, len(present))]  # (K,), of each context in its longest completion
        paths, path = torch.unique(place // C, return_inverse=True)
        return cls(of_token, paths, lengths[paths], path, place % C, without_gaps[paths])

    def __len__(self) -> int:
        return len(self.depth)

    @property
    def completion(self) -> Int[Tensor, "K"]:
        """A completion that goes through each context."""
        return self.paths[self.path]
