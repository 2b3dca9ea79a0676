"""A group is a tree: what the completions of a prompt have in common is computed once.

Optional reading. What a token is drawn from depends on the prompt and on the tokens before it, its *context*, and on
nothing else. Completions of one prompt begin alike, more and more of them as training goes on, and contexts that are
alike have the same logits. Two prompts, `a b c` and `d`, with two completions each; the dot is EOS:

    completion         drawn from context        context   prompt   tokens so far
    0: a b c | x y .   0 1 2                     0         a b c
    1: a b c | x z .   0 1 3                     1         a b c    x
    2: d     | u .     4 5                       2         a b c    x y
    3: d     | u .     4 5                       3         a b c    x z
                                                 4         d
                                                 5         d        u

Ten tokens, six contexts: six rows of logits, one pass over each prompt, and one over each of the four tokens after it.
Completion 3 adds nothing. The *paths*, completions 0, 1 and 2, hold all contexts between them.

What it buys: of sampling, two scorings and a backward pass with a policy that was trained for 12 steps, 127 ms are
left of 178 on dots, 188 of 382 on poker, 145 of 280 on analogies and 1,445 of 2,102 on countdown; nothing is lost
where all completions differ (benchmarks/README.md).

`number_contexts` is the plain loop that gives the numbers, while sampling has the tokens on the host anyway.
`shared.engine.scoring` computes each context once, and so do the decoders, whose nodes are contexts. Everything in
this file is on the host. That scoring with contexts equals scoring without is tested in `tests/test_logps.py`,
`test_scoring_equals_the_plain_lines_in_value_and_gradient`.
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
    """The number of the context that each token was drawn from, in the order in which they are first met.

    Args:
        prompts: a number for each completion's prompt; equal prompts have equal numbers.
        completions: their token ids, at least one each.
    """
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
    """A number for each token and those before it, the same wherever two prompts begin alike: `a b c`, `a d`: 1 2 3, 1 4.

    A token and those before it are the context of whatever follows.
    """
    whatever = 0
    contexts = number_contexts([0] * len(prompts), [[*ids, whatever] for ids in prompts])
    return [row[1:] for row in contexts]


def prompt_beginnings(prompt_ids: Int[Tensor, "N P"], prompt_mask: Int[Tensor, "N P"]) -> Int[Tensor, "N P"]:
    """`number_beginnings` of prompts that are padded on the left; 0 in the padding."""
    real = prompt_mask == 1
    numbers = number_beginnings([ids[is_real].tolist() for ids, is_real in zip(prompt_ids, real)])
    beginnings = torch.zeros_like(prompt_ids)
    beginnings[real] = torch.tensor([number for row in numbers for number in row])
    return beginnings


def numbers_within(groups: Sequence[int]) -> list[int]:
    """The how-manieth of its group each one is. Groups 0 0 1 0: numbers 0 1 0 2."""
    met: Counter[int] = Counter()
    numbers = []
    for group in groups:
        numbers.append(met[group])
        met[group] += 1
    return numbers


def groups_of(prompt_of: Sequence[int], limit: int) -> tuple[list[int], list[int]]:
    """Cut the completions of each prompt into groups of at most `limit`, as even as can be.

    Returns the prompt of each group, and the group of each completion. Five completions of prompt 0, limit 3:
    groups of 3 and 2, so [0, 0] and [0, 0, 0, 1, 1].
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
    """Numbers for completions of which nothing is known: they share the prompt, and no token."""
    B = num_prompts * num_generations
    first = torch.arange(num_prompts).repeat_interleave(num_generations)[:, None]
    return torch.cat([first, num_prompts + torch.arange(B * (length - 1)).view(B, length - 1)], dim=1)


@dataclass(frozen=True)
class Contexts:
    """The K contexts of L tokens, numbered without gaps, and S paths that hold them all.

    of_token: (L,), the context of each token, one completion after another, without padding.
    paths: (S,), the completions that are needed; as few as will do.    path_lengths: (S,), how many contexts each holds.
    path, depth: (K,), on which of the paths each context stands, and how many tokens of it come before.
    on_path: (S, C), the context at each depth of each path; in the padding any.
    """

    of_token: Int[Tensor, "L"]
    paths: Int[Tensor, "S"]
    path_lengths: Int[Tensor, "S"]
    path: Int[Tensor, "K"]
    depth: Int[Tensor, "K"]
    on_path: Int[Tensor, "S C"]

    @classmethod
    def of(cls, numbers: Int[Tensor, "B C"], lengths: Int[Tensor, "B"]) -> "Contexts":
        """From the numbers of `number_contexts`, which may have gaps here, where some completions were left out."""
        B, C = numbers.shape
        real = first_places(lengths, C)  # (B, C)
        present, of_token = torch.unique(numbers[real], return_inverse=True)  # (K,), (L,)
        without_gaps = torch.zeros(B, C, dtype=torch.long)
        without_gaps[real] = of_token

        # A context stands on the longest completion through it. So a completion is needed only if its last context is
        # in none that is longer: one path for each leaf of the tree.
        longest_first = lengths.argsort(descending=True, stable=True)
        places = torch.arange(B * C).view(B, C)[longest_first][real[longest_first]]  # (L,), among B x C
        met = without_gaps.flatten()[places]  # (L,), the contexts in this order
        place = places[first_of_each(met, len(present))]  # (K,)
        paths, path = torch.unique(place // C, return_inverse=True)
        return cls(of_token, paths, lengths[paths], path, place % C, without_gaps[paths])

    def __len__(self) -> int:
        return len(self.depth)

    @property
    def completion(self) -> Int[Tensor, "K"]:
        """A completion on which each context stands."""
        return self.paths[self.path]
