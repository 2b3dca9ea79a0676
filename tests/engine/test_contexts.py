"""The numbers of contexts against whole beginnings, compared tuple by tuple."""

import math
from collections import Counter

import torch
from hypothesis import given
from hypothesis import strategies as st

from shared.engine.contexts import Contexts, groups_of, number_contexts, separate_contexts

# Few tokens, so that completions begin alike.
COMPLETION = st.lists(st.integers(2, 4), min_size=1, max_size=5)
GROUPS = st.lists(st.tuples(st.integers(0, 2), COMPLETION), min_size=1, max_size=8)


def padded(rows: list[list[int]]) -> torch.Tensor:
    width = max(map(len, rows))
    return torch.tensor([row + [0] * (width - len(row)) for row in rows])


def beginnings(prompts: list[int], completions: list[list[int]]) -> list[tuple]:
    """The prompt and the tokens before each token, in order."""
    return [(p, *ids[:t]) for p, ids in zip(prompts, completions) for t in range(len(ids))]


def test_the_drawing():
    x, y, z, u, eos = range(5)
    completions = [[x, y, eos], [x, z, eos], [u, eos], [u, eos]]
    numbers = number_contexts([0, 0, 1, 1], completions)
    assert numbers == [[0, 1, 2], [0, 1, 3], [4, 5], [4, 5]]
    contexts = Contexts.of(padded(numbers), torch.tensor([3, 3, 2, 2]))
    assert contexts.paths.tolist() == [0, 1, 2] and contexts.completion.tolist() == [0, 0, 0, 1, 2, 2]
    assert contexts.depth.tolist() == [0, 1, 2, 2, 0, 1]


@given(GROUPS)
def test_equal_numbers_mean_equal_beginnings(group):
    """Catches contexts of two prompts taken for one, and a token that counts as part of its own context."""
    prompts = [prompt for prompt, _ in group]
    completions = [ids for _, ids in group]
    numbers = [n for row in number_contexts(prompts, completions) for n in row]
    assert len(set(zip(numbers, beginnings(prompts, completions)))) == len(set(numbers))
    assert len(set(numbers)) == len(set(beginnings(prompts, completions)))


@given(GROUPS, st.data())
def test_every_context_stands_where_it_is_said_to(group, data):
    """Also when completions were left out, so that numbers have gaps. The paths are as few as the tree has leaves."""
    numbers = number_contexts([prompt for prompt, _ in group], [ids for _, ids in group])
    kept = data.draw(st.lists(st.sampled_from(range(len(group))), min_size=1, unique=True))
    group = [group[i] for i in kept]
    lengths = torch.tensor([len(ids) for _, ids in group])
    contexts = Contexts.of(padded([numbers[i] for i in kept]), lengths)

    wanted = beginnings([prompt for prompt, _ in group], [ids for _, ids in group])
    said = [(group[i][0], *group[i][1][:t]) for i, t in zip(contexts.completion.tolist(), contexts.depth.tolist())]
    assert [said[c] for c in contexts.of_token.tolist()] == wanted
    assert len(contexts) == len(set(wanted)) == len(said)
    assert torch.equal(contexts.on_path[contexts.path, contexts.depth], torch.arange(len(contexts)))
    leaves = [b for b in set(wanted) if not any(other[:-1] == b for other in set(wanted))]
    assert len(contexts.paths) == len(leaves)


def test_completions_of_which_nothing_is_known_share_the_prompt():
    assert separate_contexts(2, 2, 3).tolist() == [[0, 2, 3], [0, 4, 5], [1, 6, 7], [1, 8, 9]]
    assert separate_contexts(2, 1, 1).tolist() == [[0], [1]]


@given(st.lists(st.integers(0, 2), min_size=1, max_size=20), st.integers(1, 6))
def test_groups_are_within_the_limit_and_even(prompt_of, limit):
    """Catches a prompt whose completions all stay in one group, more groups than are needed, and one small one left."""
    prompts, group_of = groups_of(prompt_of, limit)
    assert [prompts[group] for group in group_of] == prompt_of
    sizes = Counter(group_of)
    for prompt, completions in Counter(prompt_of).items():
        of_prompt = [sizes[group] for group, owner in enumerate(prompts) if owner == prompt]
        assert len(of_prompt) == math.ceil(completions / limit)
        assert max(of_prompt) <= limit and max(of_prompt) - min(of_prompt) <= 1
